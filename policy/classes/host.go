package classes

import (
	"fmt"
	"net"
	"regexp"
	"strings"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

var _ = add(row{
	attribute: attribute.Host,
	rank:      20,
	space:     func(Surface) space { return hostSpace{plainSpace{attribute.Host}} },
	pattern:   func(m policy.Match) pattern { return pattern{text: m.Value, kind: m.Kind} },
	usual:     func(Surface) string { return "any.example" },
	quiet:     true,
})

// hostSpace is the space of authorities.
type hostSpace struct{ plainSpace }

func (hostSpace) read(r *policy.Request) string       { return r.Host }
func (hostSpace) put(r *policy.Request, value string) { r.Host = value }
func (hostSpace) clear(r *policy.Request)             { r.Host = "" }
func (hostSpace) alphabet() string                    { return unreservedChars + ":" }

// The authorities that are natural, and those that a caller can send: a name or an address,
// with or without a port. Envoy takes more.
const (
	naturalHost  = `[a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*)*(:[1-9][0-9]{1,3})?`
	sendableHost = `[a-zA-Z0-9._~!$&'()*+,;=%-]+(:[0-9]*)?`
)

var isHost = regexp.MustCompile(`^` + sendableHost + `$`)

func (hostSpace) sound(host string) error {
	if !isHost.MatchString(host) {
		return fmt.Errorf("%q is not a host, with or without a port", host)
	}
	return nil
}

// sendable implements [sender].
func (hostSpace) sendable() (natural, all string, without []string) {
	return naturalHost, sendableHost, nil
}

func (hostSpace) complete(prefix string, n int) []string {
	return []string{prefix + filler(n) + ".example", prefix + filler(n), prefix, prefix + fmt.Sprint(8000+n)}
}

func (hostSpace) neighbours(p pattern, witness string) []variant {
	name, port, err := net.SplitHostPort(witness)
	other := variant{name, "without the port"}
	if err != nil {
		name, other = witness, variant{witness + ":8080", "with a port"}
	}
	if port != "" {
		port = ":" + port
	}
	_, parent, _ := strings.Cut(name, ".")
	return []variant{
		other,
		{strings.ToUpper(name) + port, "another case"},
		{strings.ToLower(name) + port, "another case"},
		{name + ".evil" + port, "a longer name"},
		{name + "." + port, "a dot at the end"},
		{"sub." + witness, "a name below it"},
		{"x" + witness, "another name with the same end"},
		{parent + port, "the name above it"},
		{p.text[:max(0, len(p.text)-1)], "a shorter name"},
	}
}
