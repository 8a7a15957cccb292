package explanation

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/policy"
)

// Command is an explain command without what a request says: its words, each one a word for
// a shell. A command without words explains nothing.
type Command []string

// NewCommand returns the command with these arguments. It has no words where it would read
// standard input, which can be read once.
func NewCommand(arguments ...string) Command {
	words := Command{"meshproof", "explain"}
	for _, word := range arguments {
		if word == "-" {
			return nil
		}
		words = append(words, terminal.Quote(word))
	}
	return words
}

// Line returns the command line that explains a request to an inbound of the case. The files
// name the caller where named is true. The line is "" where none can be written: for a
// certificate that is more than names, unless the files name the caller, and for bytes that
// no terminal prints.
func (c Command) Line(of cases.Case, q cases.Request, named bool) string {
	from, ok := callerWords(q.From, named)
	if len(c) == 0 || !ok {
		return ""
	}
	words := append([]string{"--to", q.To}, from...)
	if q.SNI != "" && !q.From.Plaintext {
		words = append(words, "--sni", q.SNI)
	}
	if source := endpoint.Played(q.SourceIP, q.From.SourceIP); source != "" {
		words = append(words, "--source", source)
	}
	claims, ok := claimWords(q.Token)
	if !ok || q.Token != nil && q.Token.Values()["claim iss"] == nil {
		// Explain adds the issuer that the inbound demands.
		return ""
	}
	words = append(words, claims...)
	isL7 := func(in cases.Inbound) bool { return in.String() == q.To && in.Protocol.Layer() == policy.L7 }
	if slices.ContainsFunc(of.Inbounds, isL7) {
		method, path := requestline.MethodAndTarget(q.Method, q.Path, q.GRPC)
		if checkRequestLine(method, path) != nil {
			return ""
		}
		if method != "GET" {
			words = append(words, "--method", method)
		}
		if path != "/" {
			words = append(words, "--path", path)
		}
		if q.Authority != "" {
			words = append(words, "--authority", q.Authority)
		}
		for _, h := range q.Headers {
			words = append(words, "--header", h.Name+": "+h.Value)
		}
	}
	line := strings.Join(c, " ")
	for _, word := range words {
		line += " " + terminal.Quote(word)
	}
	if !utf8.ValidString(line) || strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return ""
	}
	return line
}

// callerWords returns the flags of a caller. It reports false where explain cannot be asked
// about the caller.
func callerWords(from cases.Caller, named bool) ([]string, bool) {
	if named || from.Plaintext || from.Anonymous {
		return []string{"--from", from.Name}, true
	}
	if !reflect.DeepEqual(from.Template, certs.Template{URIs: from.Template.URIs, DNS: from.Template.DNS}) {
		return nil, false
	}
	names := from.Template.URIs
	for _, name := range from.Template.DNS {
		names = append(names[:len(names):len(names)], dnsPrefix+name)
	}
	if _, err := ParseCaller(names); err != nil {
		return nil, false
	}
	var words []string
	for _, name := range names {
		words = append(words, "--from", name)
	}
	return words, true
}

// InboundFlags are the names of the flags that describe an inbound.
var InboundFlags = []string{"label", "port", "workload", "namespace", "mesh", "zone", "inbound", "protocol", "origin"}

// Describe returns the arguments that describe an inbound, without those that say what the command takes anyway. It reports false for an inbound
// that no flags describe: with tags or routes.
func Describe(in policy.Inbound) ([]string, bool) {
	w := in.Workload
	words := []string{"--workload", w.Name, "--port", strconv.Itoa(int(in.Port)), "--protocol", in.Protocol.String()}
	for _, flag := range []struct{ name, value, fallback string }{
		{"--namespace", w.Namespace, "default"}, {"--mesh", w.Mesh, "default"}, {"--zone", w.Zone, ""}, {"--origin", w.Origin, ""}, {"--inbound", in.Name, ""},
	} {
		// A zone has an origin by itself.
		if flag.value != flag.fallback || flag.name == "--origin" && w.Zone != "" {
			words = append(words, flag.name+"="+flag.value)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(w.Labels)) {
		words = append(words, "--label", key+"="+w.Labels[key])
	}
	return words, len(in.Tags)+len(in.Routes) == 0
}
