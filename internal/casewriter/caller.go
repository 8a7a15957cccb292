package casewriter

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/internal/casefile"
)

// callerNames holds the name that the case file gives to each caller of a case.
type callerNames struct {
	workloads map[string]cases.Caller
	// byKey has the name of an entry for the key of its caller.
	byKey map[string]string
	// entries are the callers to be written, by name.
	entries map[string]cases.Caller
}

func newCallerNames(c cases.Case) *callerNames {
	n := &callerNames{workloads: map[string]cases.Caller{}, byKey: map[string]string{}, entries: map[string]cases.Caller{}}
	for _, g := range workloadsOf(c) {
		w := soundCaller(g.Workload.Name, g.Identity)
		w.SourceIP = g.IP
		n.workloads[g.Workload.Name] = w
	}
	for _, q := range c.Requests {
		if n.name(q.From) == "" {
			n.add(q.From)
		}
	}
	return n
}

// name returns the text for "from", "" for a caller without a name so far.
func (n *callerNames) name(c cases.Caller) string {
	switch {
	case c.Plaintext:
		return casefile.Plaintext
	case c.Anonymous:
		return casefile.Anonymous
	}
	if w, ok := n.workloads[c.Name]; ok && key(w) == key(c) {
		return c.Name
	}
	if id, err := spiffeid.FromString(c.Name); err == nil && key(soundCaller(c.Name, id)) == key(c) {
		return c.Name
	}
	return n.byKey[key(c)]
}

// soundCaller is a caller with a sound SVID.
func soundCaller(name string, id spiffeid.ID) cases.Caller {
	return cases.Caller{Name: name, Template: certs.Template{URIs: []string{id.String()}}, SignedBy: id.TrustDomain()}
}

// key is the same for two callers that differ in their name only.
func key(c cases.Caller) string {
	return fmt.Sprintf("%#v %s %s", c.Template, c.SignedBy, c.SourceIP)
}

// add gives a caller an entry.
func (n *callerNames) add(c cases.Caller) {
	base := c.Name
	if base == "" || casefile.Reserved(base) {
		base = certificateName(c.Template)
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

var notInWord = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// certificateName makes a name of the last segments of the names in a certificate.
func certificateName(t certs.Template) string {
	var words []string
	for _, san := range slices.Concat(t.URIs, t.DNS) {
		segments := strings.FieldsFunc(san, func(r rune) bool { return r == '/' })
		if len(segments) == 0 {
			continue
		}
		if word := strings.Trim(notInWord.ReplaceAllString(segments[len(segments)-1], "-"), "-."); word != "" {
			words = append(words, word)
		}
	}
	if name := strings.Join(words, "-and-"); name != "" && len(name) <= 60 && !casefile.Reserved(name) {
		return name
	}
	return "caller"
}

func (p *printer) callerEntries() {
	for i, name := range slices.Sorted(maps.Keys(p.callers.entries)) {
		if i == 0 {
			p.line(0, "callers:")
		}
		p.line(2, quote(name)+": "+p.callerEntry(p.callers.entries[name]))
	}
}

func (p *printer) callerEntry(c cases.Caller) string {
	var f fields
	t := c.Template
	f.add("uris", texts(t.URIs))
	f.add("dns", texts(t.DNS))
	if !p.signedByDefault(c) {
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

// signedByDefault reports whether an entry without signedBy has the CA of the caller.
func (p *printer) signedByDefault(c cases.Caller) bool {
	if len(c.Template.URIs) > 0 {
		if id, err := spiffeid.FromString(c.Template.URIs[0]); err == nil {
			return id.TrustDomain() == c.SignedBy
		}
	}
	return len(p.c.TrustDomains) > 0 && p.c.TrustDomains[0] == c.SignedBy
}
