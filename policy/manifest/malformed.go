package manifest

import (
	"bytes"
	"errors"
	"regexp"

	"github.com/goccy/go-yaml"
)

// malformed is the error of a text that the parser does not take: where it is, and what to look at.
func malformed(file string, data []byte, err error) error {
	e := &Error{File: file, Reason: "malformed YAML: " + err.Error()}
	if at := yaml.Error(nil); errors.As(err, &at) {
		e.Reason = "malformed YAML: " + at.GetMessage()
		if t := at.GetToken(); t != nil && t.Position != nil {
			e.Line = t.Position.Line
		}
	}
	switch line := lineOf(data, e.Line); {
	case isTemplate(data):
	case bytes.ContainsRune(line[:len(line)-len(bytes.TrimLeft(line, " \t"))], '\t'):
		e.Reason += ": indent with spaces"
	default:
		e.Reason += ": compare the indentation, the brackets and the quotation marks with the lines around"
	}
	return e
}

// lineOf returns a line of a text, counted from 1; nil where there is none.
func lineOf(data []byte, n int) []byte {
	if lines := bytes.Split(data, []byte("\n")); n > 0 && n <= len(lines) {
		return lines[n-1]
	}
	return nil
}

// action begins an action of a Go template, as Helm has it. In YAML two braces begin a mapping whose first key
// is a mapping, which no policy has.
var action = regexp.MustCompile(`\{\{-?\s*[.$A-Za-z/]`)

func isTemplate(data []byte) bool { return action.Match(data) }

// unwritten adds to an error that the text is a template, which is no YAML until its tool has written it out.
func unwritten(data []byte, err error) error {
	if e := (*Error)(nil); isTemplate(data) && errors.As(err, &e) {
		told := *e
		told.Reason += ": the file is a template: write out what is applied, such as by helm template"
		return &told
	}
	return err
}
