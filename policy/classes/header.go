package classes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/automaton"
	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/policy"
)

var (
	_ = addFamily("header", headerRow)
	_ = addFamily("joined-header", headerRow)
)

// headerRow is the row of a header, for its lines and for their text alike: both cut the lines
// of one header.
func headerRow(a *policy.Attribute) row {
	within := func(line *automaton.Language) *automaton.Language {
		lines := language(`([^\n]*\n)*`)
		return automaton.Following(lines, automaton.Parted(line, lineEnd[0], lines, false))
	}
	if a.Each == nil {
		within = func(text *automaton.Language) *automaton.Language { return automaton.Lines(text, ',', lineEnd[0]) }
	}
	return row{rank: 21, space: func(Surface) space { return headerSpace{header: a.Key} }, pattern: bytesPattern, mixes: true, embed: within}
}

// headerSpace is the space of the lines of one header. A value has each line with a line
// break behind it, so that no line and an empty line are two values.
type headerSpace struct {
	header string
	// wide is true where a line may begin and end with spaces, as over HTTP/2.
	wide bool
}

const lineEnd = "\n"

func (s headerSpace) name() string { return "header " + s.header }

func (s headerSpace) read(r *policy.Request) string {
	var out strings.Builder
	for _, line := range r.Headers {
		if line.Name == s.header {
			out.WriteString(line.Value + lineEnd)
		}
	}
	return out.String()
}

func (s headerSpace) put(r *policy.Request, value string) {
	s.clear(r)
	for line := range strings.Lines(value) {
		r.Headers = append(r.Headers, policy.Header{Name: s.header, Value: strings.TrimSuffix(line, lineEnd)})
	}
}

func (s headerSpace) clear(r *policy.Request) {
	var others []policy.Header
	for _, h := range r.Headers {
		if h.Name != s.header {
			others = append(others, h)
		}
	}
	r.Headers = others
}

func (headerSpace) key(value string) string       { return value }
func (headerSpace) value(key string) string       { return key }
func (headerSpace) alphabet() string              { return nameChars }
func (headerSpace) complete(string, int) []string { return nil }

// sendableLine are the lines that a caller can send: a codec takes spaces at the ends away,
// and refuses control characters (RFC 9110, section 5.5).
const sendableLine = `([!-~\x80-\xff]([\t -~\x80-\xff]*[!-~\x80-\xff])?)?`

func (s headerSpace) sound(value string) error {
	if s.wide {
		return nil
	}
	for line := range strings.Lines(value) {
		if line = strings.TrimSuffix(line, lineEnd); !language(sendableLine).Matches(line) {
			return fmt.Errorf("%q cannot stand in a line of a header", line)
		}
	}
	return nil
}

// sendable implements [sender]. One line is more natural than several.
func (s headerSpace) sendable() (natural, all string, without []string) {
	if requestline.IsOneLine(s.header) {
		// The codec leaves empty lines out: a request has the same text without them.
		without = []string{`(.*\n)*\n(.*\n)+`, `(.*\n)+\n`}
	}
	line := sendableLine
	if s.wide {
		line = `[\t -~\x80-\xff]*`
	}
	return `([a-z][a-z0-9-]*(,[a-z][a-z0-9-]*)*\n)?`, `(` + line + `\n)*`, without
}

func (s headerSpace) describe(p pattern) string { return s.name() + " " + p.text }

// neighbours has what a caller can do with the lines of its request.
func (headerSpace) neighbours(_ pattern, value string) []variant {
	lines := strings.Split(strings.TrimSuffix(value, lineEnd), lineEnd)
	out := []variant{{"", "without the header"}, {lineEnd, "an empty header"}}
	if value == "" {
		return append(out, variant{"any" + lineEnd, "with the header"})
	}
	if len(lines) > 1 {
		slices.Reverse(lines)
		out = append(out, variant{strings.Join(lines, lineEnd) + lineEnd, "the lines in another order"},
			variant{strings.Join(lines, ",") + lineEnd, "all lines in one"}, variant{strings.Join(lines[1:], lineEnd) + lineEnd, "a line less"})
	}
	line := lines[0]
	for _, v := range []variant{
		{"any" + lineEnd + line, "a line more in front"},
		{line + lineEnd + "any", "a line more behind it"},
		{line + lineEnd + line, "the line twice"},
		{"any," + line, "a list with it in one line"},
		{line + ",any", "a list with it in one line"},
		{strings.ToUpper(line), "another case"},
		{strings.ToLower(line), "another case"},
		{line + "x", "a longer value"},
		{"x" + line, "another value with the same end"},
		{strings.TrimSpace(line[:max(0, len(line)-1)]), "a shorter value"},
		{line + "\xff", "with a byte that is no UTF-8"},
		{"\xff" + line, "with a byte that is no UTF-8"},
	} {
		out = append(out, variant{v.value + lineEnd, v.why})
	}
	return out
}
