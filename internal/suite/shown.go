package suite

import (
	"slices"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// headersOf returns the names of the headers that a program asks for, and "host" for the
// authority: the access log shows them, and no others.
func headersOf(p policy.Program) []string {
	var out []string
	header := attribute.Header("x-role")
	for c := range p.Conditions() {
		is, ok := c.(policy.Is)
		name := ""
		switch {
		case !ok || is.Attribute == nil:
		case is.Attribute == attribute.Host:
			name = "host"
		case is.Attribute.Family == header.Family, is.Attribute.Family == header.Joined.Family:
			name = is.Attribute.Key
		}
		if name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
