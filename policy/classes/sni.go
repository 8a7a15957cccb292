package classes

import (
	"fmt"
	"strings"

	"github.com/meshproof/meshproof/internal/servername"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

var _ = add(row{
	attribute: attribute.SNI,
	rank:      4,
	space:     func(Surface) space { return sniSpace{plainSpace: plainSpace{attribute.SNI}} },
	pattern:   func(m policy.Match) pattern { return pattern{text: nameMark + m.Value, kind: m.Kind} },
})

// sniSpace is the space of server names. The empty value is a handshake without one. The
// mark in front of the others keeps it out of every pattern.
type sniSpace struct {
	plainSpace
	// wide is true where any text in lower case is a name: an Envoy takes more than the client of the lab sends.
	wide bool
}

func (sniSpace) read(r *policy.Request) string       { return r.SNI }
func (sniSpace) put(r *policy.Request, value string) { r.SNI = value }
func (sniSpace) clear(r *policy.Request)             { r.SNI = "" }
func (sniSpace) value(key string) string             { return strings.TrimPrefix(key, nameMark) }

func (sniSpace) key(value string) string {
	if value == "" {
		return ""
	}
	return nameMark + value
}

func (s sniSpace) sound(name string) error {
	if name != servername.Kept(name) {
		return fmt.Errorf("no caller has the server name %q: Envoy keeps it in lower case", name)
	}
	if s.wide {
		return nil
	}
	return servername.Check(name)
}

func (s sniSpace) complete(prefix string, n int) []string {
	prefix = s.value(prefix)
	return []string{prefix + filler(n) + ".example", prefix + filler(n), prefix}
}

// neighbours has no server name too: a caller chooses what it sends.
func (s sniSpace) neighbours(p pattern, witness string) []variant {
	name := s.value(p.text)
	_, parent, _ := strings.Cut(witness, ".")
	return []variant{
		{"", "no server name"},
		{witness + ".evil.example", "a longer name"},
		{"sub." + witness, "a name below it"},
		{"x" + witness, "another name with the same end"},
		{parent, "the name above it"},
		{name[:max(0, len(name)-1)], "a shorter name"},
	}
}

func (s sniSpace) describe(p pattern) string {
	if p.kind == policy.Exact {
		return s.name() + " " + s.value(p.text)
	}
	return s.name() + " " + s.value(p.text) + "…"
}

// naturalName is a server name as most are.
const naturalName = `[a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*)*`

// sendable implements [sender]. A search that comes upon another spelling of an address is
// no proof.
func (s sniSpace) sendable() (natural, all string, without []string) {
	const octet = `(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])`
	if s.wide {
		return naturalName, `[^A-Z\r\n\x00]+`, nil
	}
	return naturalName, `[!-@\[-~]+`, []string{`.*\.`, `(` + octet + `\.){3}` + octet}
}
