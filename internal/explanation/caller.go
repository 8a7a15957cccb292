package explanation

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy/language"
)

// Caller is the caller of the explained request: the URI SANs and DNS SANs of its
// certificate, or the name that a case gives it. The zero value shows a certificate without
// a SAN.
type Caller struct {
	Name      string
	URIs, DNS []string
}

// dnsPrefix stands before a DNS SAN.
const dnsPrefix = "dns:"

// ParseCaller reads the texts that describe one caller. Each is a SPIFFE ID, a tag of a
// legacy certificate such as kuma://env/dev, or a DNS name such as dns:web.example. A single
// one may be a name.
func ParseCaller(texts []string) (Caller, error) {
	var c Caller
	for _, text := range texts {
		uri, err := url.Parse(text)
		name, isDNS := strings.CutPrefix(text, dnsPrefix)
		switch {
		case isDNS && name != "":
			c.DNS = append(c.DNS, name)
		case err == nil && uri.Scheme == "":
			c.Name = text
		case err == nil && uri.Scheme == "kuma" && uri.Host != "" && len(uri.Path) > 1:
			c.URIs = append(c.URIs, text)
		default:
			if _, err := spiffeid.FromString(text); err != nil {
				return Caller{}, fmt.Errorf("%q is not a SPIFFE ID: %w: write one as spiffe://trust-domain.mesh/ns/shop/sa/cart", text, err)
			}
			c.URIs = append(c.URIs, text)
		}
	}
	if c.Name != "" && len(texts) > 1 {
		return Caller{}, fmt.Errorf("%q is the name of a caller, which has a whole certificate: leave the others out", c.Name)
	}
	return c, nil
}

// linkerdName and kubernetesName are the names of an account in Linkerd, and as a user of Kubernetes.
var (
	linkerdName    = regexp.MustCompile(`^(?P<account>[^.*]+)\.(?P<namespace>[^.*]+)\.serviceaccount\.identity\.`)
	kubernetesName = regexp.MustCompile(`^system:serviceaccount:(?P<namespace>[^:]+):(?P<account>[^:]+)$`)
)

// callerOf returns the caller of a request to the subject. It has a name where the case, the
// Dataplanes or the format of cases name it.
func (c Caller) callerOf(s lab.Subject) (cases.Caller, error) {
	name := c.Name
	switch {
	case name == casefile.Plaintext:
		return cases.Caller{Name: name, Plaintext: true}, nil
	case name == casefile.Anonymous:
		return cases.Caller{Name: name, Anonymous: true}, nil
	case len(c.URIs) == 1 && len(c.DNS) == 0:
		// A case may name its callers by their SPIFFE IDs.
		name = c.URIs[0]
	}
	var known []string
	for _, caller := range s.Callers {
		if caller.Name == name {
			return caller, nil
		}
		known = append(known, caller.Name)
	}
	if c.Name == "" {
		return cases.Caller{Template: certs.Template{URIs: c.URIs, DNS: c.DNS}}, nil
	}
	use := "use a SPIFFE ID, or the name of a caller: " + strings.Join(known, ", ")
	if id := scheme + c.Name; strings.Contains(c.Name, "/ns/") {
		if _, err := spiffeid.FromString(id); err == nil {
			use = "a principal of Istio has no scheme, and the caller's identity has one: write " + id
		}
	}
	for _, named := range []*regexp.Regexp{linkerdName, kubernetesName} {
		if found := named.FindStringSubmatch(c.Name); found != nil && len(s.TrustDomains) > 0 {
			use = fmt.Sprintf("a caller is named by its SPIFFE ID: write %s%s/ns/%s/sa/%s", scheme, s.TrustDomains[0].Name(), found[named.SubexpIndex("namespace")], found[named.SubexpIndex("account")])
		}
	}
	return cases.Caller{}, fmt.Errorf("%s has no caller %q: %s", s.Title(), c.Name, use)
}

// keepOut says what becomes of a caller that no policy judges: mTLS keeps it out, or lets it
// in without a certificate, unless the listener refuses the request.
func (e *Explanation) keepOut(s lab.Subject, program language.Program, from cases.Caller, q cases.Request) {
	if !slices.Contains(from.Template.URIs, from.Name) {
		e.Caller = strings.Join(append([]string{from.Name}, from.Template.URIs...), " ")
	}
	unjudged := from.Plaintext && !program.JudgesPlaintext
	_, answer := see(s, program, q)
	unstated := verdict.Unstated(s.Inbound, program)
	switch why := verdict.KeepsOut(s.Inbound, s.TrustDomains, from); {
	case from.Plaintext && unstated != "":
		e.Decision, e.Shadow, e.Gates = "unknown: "+unstated, "none", []Gate{}
	case why != "":
		e.Decision, e.Shadow, e.Gates = "handshake-failure: "+why, "none", []Gate{}
	case unjudged && answer != "":
		e.Decision, e.Shadow, e.Gates = answer, "none", []Gate{}
	case unjudged:
		e.Decision, e.Shadow, e.Gates = "allow: no policy judges plaintext", "none", []Gate{}
	case s.Case == "" && len(from.Template.URIs) == 1:
		e.Hint = hintOfName(program, from)
	}
}
