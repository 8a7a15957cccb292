package manifestdiff

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

// placeholders are what template tools replace in a value: Helm and Jinja, Kustomize, Flux and envsubst, Terraform,
// ERB, Octopus, and behind them the Vault plugin of Argo CD, Harness, gomplate, Spruce, tasks that replace tokens,
// Maven, jsonnet, vals. An expression may have a group with a name, (?P<name>…).
var placeholders = regexp.MustCompile(`(?s)\{\{.*?(\}\}|$)|\{%[-+\s].*?(%\}|$)|<%.*?(%>|$)|\$\{.*?(\}|$)|\$\([A-Za-z_][\w.-]*\)|\$[A-Z_][A-Z0-9_]+|%\{[~\s]*[A-Za-z].*?(\}|$)|#\{[A-Za-z].*?(\}|$)|` +
	`<path:.*?(>|$)|<\+.*?(>|$)|\[\[-?\s.*?(\]\]|$)|\(\(\s.*?(\)\)|$)|__[A-Z][A-Z0-9_]*__|@[A-Za-z_][\w.-]*@|%\([A-Za-z_]\w*\)[a-z]|ref\+[a-z0-9]+://|\(\([A-Za-z_][\w.-]*\)\)`)

// variable is one of a shell in small letters. In a path such a text may be a name: OData has /$metadata. In
// prose it stands for itself, and so does what stands between angle brackets, which may be the name of a group too:
// (?P<name>…).
var (
	variable = regexp.MustCompile(`\$[a-z_]\w*`)
	bracket  = regexp.MustCompile(`^[^\s?]*?(<[A-Za-z_][\w.-]*>)\S*$`)
)

// repetition begins with two braces too: in an expression, a brace that is there several times.
var repetition = regexp.MustCompile(`^\{\{\d+(,\d*)?\}($|[^}])`)

// instructions are what template tools read in a comment: Helm and Jinja, ytt, Terraform, ERB, Octopus, kpt, Velocity
// and the C preprocessor. A placeholder for a value alone changes nothing there.
var instructions = regexp.MustCompile(`^@|\{\{|\{%|<%|%\{|#\{|\[\[-?\s|kpt-set:|\$openapi|\$kpt-set|^\s*(endif|endfor|end if)\s*$|^(end|else)\s*$`)

// placeholderIn returns the first placeholder in a text, "" where there is none.
func placeholderIn(text string) string {
	whole := text
	for strings.ContainsAny(text, "${<%#[(@_+") { // an expression costs more
		at := placeholders.FindStringIndex(text)
		if at == nil {
			break
		}
		if !repetition.MatchString(text[at[0]:]) {
			return text[at[0]:at[1]]
		}
		text = text[at[0]+2:]
	}
	if strings.Contains(whole, "$") && !strings.ContainsAny(whole[:1], "/*^(") && !strings.ContainsAny(whole, " \n") {
		return variable.FindString(whole)
	}
	if !strings.Contains(whole, "<") {
		return ""
	}
	if found := bracket.FindStringSubmatch(whole); found != nil {
		return found[1]
	}
	return ""
}

// placeholder is the first one of a document, with the path of its field.
type placeholder struct{ text, field string }

// placeholderOf returns the first placeholder in the keys and values of a document. It reports false where
// there is none.
func placeholderOf(doc manifest.Document) (found placeholder, has bool) {
	var value map[string]any
	if doc.Decode(&value) != nil {
		return placeholder{}, false
	}
	var walk func(path string, value any) bool
	walk = func(path string, value any) bool {
		switch value := value.(type) {
		case string:
			if text := placeholderIn(value); text != "" {
				found = placeholder{text, path}
				return true
			}
		case []any:
			for i, one := range value {
				if walk(item(path, i), one) {
					return true
				}
			}
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(value)) {
				if walk(child(path, key), key) || walk(child(path, key), value[key]) {
					return true
				}
			}
		}
		return false
	}
	has = walk("", value)
	return found, has
}

// instructionsOf returns the first comment of each file of documents that a template tool reads: the document
// that names the file first, with the place and the text of the comment.
func instructionsOf(docs []manifest.Document) (out []Change) {
	seen := map[string]bool{}
	for _, doc := range docs {
		file := fileOf(doc)
		if seen[file] {
			continue
		}
		seen[file] = true
		comments, has := doc.Lookup("#")
		var all []manifest.Document
		if !has || comments.Decode(&all) != nil {
			continue
		}
		for _, one := range all {
			var text string
			if one.Decode(&text) == nil && instructions.MatchString(text) {
				out = append(out, Change{fmt.Sprintf("%s:%d", file, one.Line()), objectOf(doc).String(), "#" + text})
				break
			}
		}
	}
	return out
}

// rendered says what to do about a file of a template tool.
const rendered = "what is applied is unknown: write it out with the tool"

// Unrendered warns of each policy that a template tool may change or leave out before it is applied.
func Unrendered(policies []manifest.Document) (out []policy.Warning) {
	for _, doc := range policies {
		if found, has := placeholderOf(doc); has {
			out = append(out, policy.Warning{
				Kind: warning.NotRendered, Place: doc.Place(found.field), Policy: objectOf(doc).String(),
				Message: fmt.Sprintf("a template tool may replace %q, and what is applied is unknown: write it out with the tool", found.text),
			})
		}
	}
	for _, found := range instructionsOf(policies) {
		out = append(out, policy.Warning{
			Kind: warning.NotRendered, Place: found.Place, Policy: found.Object,
			Message: fmt.Sprintf("a template tool reads the comment %q, and what is applied is unknown: write it out with the tool", found.Effect),
		})
	}
	return out
}

// compareTemplates names the policies with placeholders, and the files with instructions of template tools, of
// either side: such a text says neither what was applied nor what is.
func (c *comparison) compareTemplates() (out []Change) {
	seen := map[string]bool{}
	for _, doc := range slices.Concat(c.recent.Policies, c.old.Policies) {
		if found, has := placeholderOf(doc); has {
			o := objectOf(doc)
			if !seen[o.key] {
				seen[o.key] = true
				out = append(out, Change{doc.Place(found.field), o.String(), fmt.Sprintf("has %q, which a template tool may replace, and %s", found.text, rendered)})
			}
		}
	}
	for _, side := range []Side{c.recent, c.old} {
		for _, found := range instructionsOf(slices.Concat(side.Policies, side.Dataplanes, side.Others)) {
			found.Effect = fmt.Sprintf("stands in a file with the comment %q, which a template tool reads, and %s", found.Effect, rendered)
			out = append(out, found)
		}
	}
	return out
}
