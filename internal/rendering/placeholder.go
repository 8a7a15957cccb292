// Package rendering finds what a tool may make of a policy before it is applied: it may leave the policy out, or write
// another text in its place.
//
// It guarantees that each sign of such a tool which it knows is told, wherever it stands in a policy: a label or an annotation,
// a placeholder in a value, an instruction in a comment. The signs are tables. It knows no dialect, and it does not know
// which tool is used.
package rendering

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/policy/manifest"
)

// placeholders are what template tools replace in a value: Helm and Jinja, Kustomize, Flux and envsubst, Terraform,
// ERB, Octopus, and behind them the Vault plugin of Argo CD, Harness, gomplate, Spruce, tasks that replace tokens,
// Maven, jsonnet, vals. An expression may have a group with a name, (?P<name>…).
var placeholders = regexp.MustCompile(`(?s)\{\{.*?(\}\}|$)|\{%[-+\s].*?(%\}|$)|<%.*?(%>|$)|\$\{.*?(\}|$)|\$\([A-Za-z_][\w.-]*\)|\$[A-Z_][A-Z0-9_]+|%\{[~\s]*[A-Za-z].*?(\}|$)|#\{[A-Za-z].*?(\}|$)|` +
	`<path:.*?(>|$)|<\+.*?(>|$)|\[\[-?\s.*?(\]\]|$)|\(\(\s.*?(\)\)|$)|__[A-Z][A-Z0-9_]*__|@[A-Za-z_][\w.-]*@|\+argocd:skip-file-rendering|%\([A-Za-z_]\w*\)[a-z]|ref\+[a-z0-9]+://|\(\([A-Za-z_][\w.-]*\)\)`)

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
// and the C preprocessor. A placeholder for a value alone changes nothing there. The sign that begins a comment belongs to the text, for
// Octopus says #{if}. Argo CD leaves out a file that has its marker in any place.
var instructions = regexp.MustCompile(`^#@|\{#|^#\s*<?#(if|list|else)\b|\+argocd:skip-file-rendering|\{\{|\{%|<%|%\{|#\{|\[\[-?\s|kpt-set:|\$openapi|\$kpt-set|^#\s*(endif|endfor|end if)\s*$|^#(end|else)\s*$`)

// PlaceholderIn returns the first placeholder in a text, "" where there is none.
func PlaceholderIn(text string) string {
	whole := text
	for {
		// An expression costs more, and begins anew at each byte.
		begin := mayBegin(text)
		if begin < 0 {
			break
		}
		text = text[begin:]
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

// mayBegin returns where the first placeholder of the expression may begin, -1 where none does: at one of its first two bytes.
func mayBegin(text string) int {
	for i := 0; i+1 < len(text); i++ {
		next := text[i+1]
		begins := false
		switch text[i] {
		case '{':
			begins = next == '{' || next == '%'
		case '<':
			begins = next == '%' || next == 'p' || next == '+'
		case '$':
			begins = next == '{' || next == '(' || next == '_' || next >= 'A' && next <= 'Z'
		case '%':
			begins = next == '{' || next == '('
		case '#':
			begins = next == '{'
		case '[', '(', '_':
			begins = next == text[i]
		case '@':
			begins = true
		case '+':
			begins = next == 'a'
		case 'r':
			begins = strings.HasPrefix(text[i:], "ref+")
		}
		if begins {
			return i
		}
	}
	return -1
}

// Placeholder is the first one of a document, with the path of its field.
type Placeholder struct{ Text, Field string }

// PlaceholderOf returns the first placeholder in the keys and values of a document. It reports false where
// there is none.
func PlaceholderOf(doc manifest.Document) (found Placeholder, has bool) {
	return firstText(doc, func(_, text string) string { return PlaceholderIn(text) })
}

// firstText returns the first text that a function finds in the keys and values of a document, of which it gets the path too.
func firstText(doc manifest.Document, find func(path, text string) string) (found Placeholder, has bool) {
	var value map[string]any
	if doc.Decode(&value) != nil {
		return Placeholder{}, false
	}
	var walk func(path string, value any) bool
	walk = func(path string, value any) bool {
		switch value := value.(type) {
		case string:
			if text := find(path, value); text != "" {
				found = Placeholder{text, path}
				return true
			}
		case []any:
			for i, one := range value {
				if walk(fieldpath.Item(path, i), one) {
					return true
				}
			}
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(value)) {
				if walk(fieldpath.Child(path, key), key) || walk(fieldpath.Child(path, key), value[key]) {
					return true
				}
			}
		}
		return false
	}
	has = walk("", value)
	return found, has
}

// Instruction is a comment that a template tool reads: its "file:line" and its text, and the first document of the file.
type Instruction struct {
	Place, Text string
	Document    metadata.Identity
}

// IsOverlay reports whether ytt changes other files by the instruction: a comment such as #@overlay/match, or one that loads its module.
func (i Instruction) IsOverlay() bool {
	return strings.HasPrefix(i.Text, "#@") && strings.Contains(i.Text, "overlay")
}

// InstructionsOf returns the first instruction of each file of documents.
func InstructionsOf(docs []manifest.Document) (out []Instruction) {
	seen := map[string]bool{}
	for _, doc := range docs {
		file := metadata.FileOf(doc)
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
			if one.Decode(&text) == nil && instructions.MatchString("#"+text) {
				out = append(out, Instruction{fmt.Sprintf("%s:%d", file, one.Line()), "#" + text, metadata.IdentityOf(doc)})
				break
			}
		}
	}
	return out
}
