package classes

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

var _ = add(row{
	attribute: attribute.Method,
	rank:      3,
	space:     func(on Surface) space { return methodSpace{tokens: on.Protocol != policy.HTTP} },
	pattern:   bytesPattern,
	usual: func(on Surface) string {
		if on.Protocol == policy.GRPC {
			return "POST"
		}
		return "GET"
	},
})

// methodSpace is the space of HTTP methods.
type methodSpace struct {
	// tokens is true where any token passes for a method, as in HTTP/2.
	tokens bool
}

func (methodSpace) name() string                        { return "method" }
func (methodSpace) read(r *policy.Request) string       { return r.Method }
func (methodSpace) put(r *policy.Request, value string) { r.Method = value }
func (methodSpace) clear(r *policy.Request)             { r.Method = "" }
func (methodSpace) key(value string) string             { return value }
func (methodSpace) value(key string) string             { return key }
func (methodSpace) describe(p pattern) string           { return "method " + p.text }

// alphabet is not needed: no pattern of methods is a prefix, so that completing the
// rest is enough.
func (methodSpace) alphabet() string { return "" }

func (d methodSpace) sound(method string) error {
	switch {
	case method == "CONNECT":
		return errors.New("a CONNECT has no path and opens a tunnel")
	case slices.Contains(requestline.Methods, method):
		return nil
	case !d.tokens:
		return fmt.Errorf("HTTP/1.1 answers 400 to the method %q", method)
	case method == "" || strings.ContainsFunc(method, func(c rune) bool { return !isTokenChar(c) }):
		return fmt.Errorf("%q is no token of RFC 9110, section 5.6.2", method)
	default:
		return nil
	}
}

// sendable implements [sender].
func (d methodSpace) sendable() (natural, all string, without []string) {
	natural = strings.Join(requestline.Methods, "|")
	if !d.tokens {
		return natural, natural, nil
	}
	return natural, "[-a-zA-Z0-9!#$%&'*+.^_`|~]+", []string{"CONNECT"}
}

func isTokenChar(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", c)
}

func (d methodSpace) complete(prefix string, n int) []string {
	if n < len(requestline.Methods) {
		return []string{requestline.Methods[n]}
	}
	return []string{fmt.Sprint("ANY", n)}
}

func (methodSpace) neighbours(p pattern, _ string) []variant {
	related := "GET"
	switch p.text {
	case "GET":
		related = "HEAD"
	case "POST", "PATCH":
		related = "PUT"
	case "PUT":
		related = "POST"
	}
	return []variant{{related, "a related method"}, {strings.ToLower(p.text), "another case"}, {p.text + "S", "a longer method"}}
}
