// Package plainheader is a second reading of the headers of requests: which texts Envoy compares
// with a value.
//
// It guarantees that all plain evaluators read the lines of a header alike; no compiler calls it. It
// compares nothing itself.
package plainheader

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/policy"
)

// Lines returns the texts of a header that are compared, none for an absent header. The name is in
// lower case. Joins is true where the Envoy compares all lines as one text.
func Lines(r policy.Request, name string, joins bool) []string {
	switch name {
	case ":path":
		return []string{r.Path}
	case ":method":
		return []string{r.Method}
	case ":authority", "host":
		return []string{r.Host}
	}
	var lines []string
	for _, line := range r.Headers {
		if line.Name == name {
			lines = append(lines, line.Value)
		}
	}
	oneLine := requestline.IsOneLine(name)
	if len(lines) < 2 || !oneLine && !joins {
		return lines
	}
	if oneLine {
		lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
	}
	return []string{strings.Join(lines, ",")}
}
