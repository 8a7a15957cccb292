package cases

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/certs"
)

// callerNames says what a case file calls each caller of a case.
type callerNames struct {
	workloads map[string]Caller
	// byKey finds the name of an entry by what the caller is.
	byKey map[string]string
	// entries are the callers to be written, by name.
	entries map[string]Caller
}

func newCallerNames(c Case) *callerNames {
	n := &callerNames{workloads: map[string]Caller{}, byKey: map[string]string{}, entries: map[string]Caller{}}
	for _, g := range groups(c.Inbounds) {
		w := sound(g.name, g.inbounds[0].Identity)
		w.SourceIP = g.inbounds[0].IP
		n.workloads[g.name] = w
	}
	for _, q := range c.Requests {
		if n.of(q.From) == "" {
			n.enter(q.From)
		}
	}
	return n
}

// of returns what stands behind from, "" for a caller who has no name yet.
func (n *callerNames) of(c Caller) string {
	switch {
	case c.Plaintext:
		return plaintext
	case c.Anonymous:
		return anonymous
	}
	if w, ok := n.workloads[c.Name]; ok && key(w) == key(c) {
		return c.Name
	}
	if id, err := spiffeid.FromString(c.Name); err == nil && key(sound(c.Name, id)) == key(c) {
		return c.Name
	}
	return n.byKey[key(c)]
}

// key tells apart callers who are not the same, whatever they are called.
func key(c Caller) string {
	return fmt.Sprintf("%#v %s %s", c.Template, c.SignedBy, c.SourceIP)
}

// enter gives a caller an entry.
func (n *callerNames) enter(c Caller) {
	base := c.Name
	if base == "" || reserved(base) {
		base = nameOf(c.Template)
	}
	name := base
	for i := 2; n.taken(name); i++ {
		name = fmt.Sprintf("%s-%d", base, i)
	}
	n.byKey[key(c)], n.entries[name] = name, c
}

func (n *callerNames) taken(name string) bool {
	_, entry := n.entries[name]
	_, workload := n.workloads[name]
	return entry || workload
}

var noWord = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// nameOf calls a caller by the last segments of the names in its certificate.
func nameOf(t certs.Template) string {
	var words []string
	for _, san := range slices.Concat(t.URIs, t.DNS) {
		segments := strings.FieldsFunc(san, func(r rune) bool { return r == '/' })
		if len(segments) == 0 {
			continue
		}
		if word := strings.Trim(noWord.ReplaceAllString(segments[len(segments)-1], "-"), "-."); word != "" {
			words = append(words, word)
		}
	}
	if name := strings.Join(words, "-and-"); name != "" && len(name) <= 60 && !reserved(name) {
		return name
	}
	return "caller"
}

func (p *printer) callerEntries() {
	for i, name := range sortedKeys(p.callers.entries) {
		if i == 0 {
			p.line(0, "callers:")
		}
		p.line(2, quote(name)+": "+p.callerEntry(p.callers.entries[name]))
	}
}

func (p *printer) callerEntry(c Caller) string {
	var f fields
	t := c.Template
	f.add("uris", texts(t.URIs))
	f.add("dns", texts(t.DNS))
	if !p.signs(c) {
		f.add("signedBy", text(c.SignedBy.Name()))
	}
	switch t.Validity {
	case certs.Expired:
		f.add("expired", "true")
	case certs.NotYetValid:
		f.add("notYetValid", "true")
	}
	if len(t.Usages) > 0 {
		f.add("wrongExtKeyUsage", "true")
	}
	if t.CA {
		f.add("caCertificate", "true")
	}
	if c.SourceIP.IsValid() {
		f.add("sourceIP", quote(c.SourceIP.String()))
	}
	return f.flow()
}

// signs reports whether the caller's CA is the one that an entry without signedBy has.
func (p *printer) signs(c Caller) bool {
	if len(c.Template.URIs) > 0 {
		if id, err := spiffeid.FromString(c.Template.URIs[0]); err == nil {
			return id.TrustDomain() == c.SignedBy
		}
	}
	return len(p.c.TrustDomains) > 0 && p.c.TrustDomains[0] == c.SignedBy
}
