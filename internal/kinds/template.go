package kinds

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/policy/language"
)

var (
	// literalKind finds the kind of a manifest in a template.
	literalKind = regexp.MustCompile(`(?m)^["']?kind["']?:[ \t]*["']?[A-Z][A-Za-z]*["']?[ \t]*(#.*)?\r?$`)
	// madeKind finds the kind of a manifest that an instruction makes, or a part of it, and a list, whose items it may make. What is indented, such as the type of a
	// Service, is no kind of a manifest, but where an instruction takes the spaces in front of it away.
	madeKind = regexp.MustCompile(`(?m)(?:^|-\}\}\s*)(?:- |\{)?["']?(?:kind|type)["']?[ \t]*:[^\n]*\{\{|^["']?kind["']?:[ \t]*["']?\w*List\b`)
	// marginal finds the lines that begin with an instruction, which may end some lines below and takes the spaces in front of it away by a dash.
	// Each instruction of them writes text, such as a whole manifest, but for silenced ones. Of the others set and indented write none at the margin.
	marginal    = regexp.MustCompile(`(?m)^(\{\{|[ \t]+\{\{-)(?s:.*?)\}\}.*$|^.*indent\s+0.*$`)
	instruction = regexp.MustCompile(`\{\{(?s:.*?)(\}\}|\z)`)
	silenced    = regexp.MustCompile(`^\{\{-?\s*((if|else|end|range|with|define|break|continue|fail)\b|/\*)`)
	set         = regexp.MustCompile(`^\{\{-?\s*\$\w+\s*:?=`)
	manyLines   = regexp.MustCompile(`\b(include|template|toYaml|tpl|indent|nindent|Files)\b`)
	indented    = regexp.MustCompile(`indent\s+[1-9][0-9]*\s*-?\}\}$`)
	// silent finds what is no text of a manifest: instructions, and comments of YAML.
	silent = regexp.MustCompile(`(?s:\{\{.*?\}\})|(?m:^\s*#.*$)`)
	route  = regexp.MustCompile(`\bkind["']?\s*:\s*["']?\w*Route\b`)
	// madeVersion finds a version of an object that an instruction makes: such a route may be of Linkerd. An object with such a version, or of Gateway API, may be a policy where
	// an instruction makes its kind too, however it is indented.
	madeVersion = regexp.MustCompile(`\bapiVersion["']?\s*:\s*[^\n]*\{\{`)
	openVersion = regexp.MustCompile(madeVersion.String() + `|\bgateway\.networking\.`)
	openKind    = regexp.MustCompile(`\bkind["']?\s*:\s*[^\n]*\{\{`)
	// remark finds the comments of YAML: a name in one says nothing, but where an instruction writes more.
	remark    = regexp.MustCompile(`(?m)^[ \t]*#.*$`)
	separator = regexp.MustCompile(`(?m)^---`)
)

// MakesOthersAlone reports whether a text that is no YAML, such as a template of Helm, makes objects of other kinds alone, such as a Deployment: each
// of its manifests states a kind, which no instruction makes, and nothing in it names a kind that is read. Routes of Gateway API are policies where they
// lead to a Server, so that they count with routes alone: a caller that says so knows of no Server.
func MakesOthersAlone(template []byte, routes bool) bool {
	named := remark.ReplaceAllFunc(template, func(comment []byte) []byte {
		if bytes.Contains(comment, []byte("{{")) {
			return comment
		}
		return nil
	})
	if madeKind.Match(template) || openKind.Match(template) && openVersion.Match(template) || writesAtMargin(template) || namesKnown(named) || route.Match(named) && !(routes && !madeVersion.Match(named)) {
		return false
	}
	stated := false
	for _, part := range separator.Split(string(template), -1) {
		if strings.TrimSpace(silent.ReplaceAllString(part, "")) == "" {
			if slices.ContainsFunc(instruction.FindAllString(remark.ReplaceAllString(part, ""), -1), writes) {
				return false // a whole manifest, however it is indented
			}
			continue
		}
		if !literalKind.MatchString(part) {
			return false
		}
		stated = true
	}
	return stated
}

// writesAtMargin reports whether an instruction may write text that begins at the margin of the manifests. In a comment that is one which may write several lines: the
// others are no comment.
func writesAtMargin(template []byte) bool {
	isMarginal := func(one string) bool { return writes(one) && !indented.MatchString(one) }
	for _, line := range marginal.FindAllString(string(template), -1) {
		if slices.ContainsFunc(instruction.FindAllString(line, -1), isMarginal) {
			return true
		}
	}
	for _, line := range remark.FindAllString(string(template), -1) {
		if slices.ContainsFunc(instruction.FindAllString(line, -1), func(one string) bool { return isMarginal(one) && manyLines.MatchString(one) }) {
			return true
		}
	}
	return false
}

// writes reports whether an instruction writes text.
func writes(one string) bool { return !silenced.MatchString(one) && !set.MatchString(one) }

// namesKnown reports whether a text names a kind that is read, or a version of a group that has one: what stands in such a group, such as a Mesh,
// may decide beside the policies. In the group of Gateway API are many objects that decide nothing, so that its kinds alone count.
func namesKnown(text []byte) bool {
	return slices.ContainsFunc(knownNames(), func(name *regexp.Regexp) bool { return name.Match(text) })
}

// knownNames are the names of the kinds that are read, with their groups. A kind of one word, such as Server, counts where it is stated as a kind alone.
var knownNames = sync.OnceValue(func() (names []*regexp.Regexp) {
	known := readKinds(dialects.Having[language.Dialect]())
	for _, of := range dialects.Having[capability.RoutingLister]() {
		known = append(known, of.RoutingKinds()...)
	}
	for _, head := range known {
		kind := cmp.Or(head.Type, head.Kind)
		expression := `(?i)\b(kind|type)["']?\s*:\s*["']?` + kind
		if strings.ToLower(kind[1:]) != kind[1:] {
			expression = "(?i)" + kind
		}
		if of := group(head); of != "" && of != "gateway.networking.k8s.io" {
			expression += `|\b` + regexp.QuoteMeta(of) + `/v`
		}
		names = append(names, regexp.MustCompile(expression))
	}
	return names
})
