package explanation

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/verdict"
)

// Caller is the caller of the explained request: the URI SANs of its certificate, or the
// name that a case gives it. The zero value shows a certificate without a URI SAN.
type Caller struct {
	Name string
	URIs []string
}

// ParseCaller reads the texts that describe one caller. Each is a SPIFFE ID, or a tag of a
// legacy certificate such as kuma://env/dev. A single one may be a name.
func ParseCaller(texts []string) (Caller, error) {
	var c Caller
	for _, text := range texts {
		uri, err := url.Parse(text)
		switch {
		case err == nil && uri.Scheme == "":
			c.Name = text
		case err == nil && uri.Scheme == "kuma" && uri.Host != "" && len(uri.Path) > 1:
			c.URIs = append(c.URIs, text)
		default:
			if _, err := spiffeid.FromString(text); err != nil {
				return Caller{}, fmt.Errorf("%q is not a SPIFFE ID: %w", text, err)
			}
			c.URIs = append(c.URIs, text)
		}
	}
	if c.Name != "" && len(texts) > 1 {
		return Caller{}, fmt.Errorf("%q is the name of a caller, which has a whole certificate: leave the others out", c.Name)
	}
	return c, nil
}

// in returns the caller of a request to the subject.
func (c Caller) in(s lab.Subject) (cases.Caller, error) {
	if c.Name == "" {
		return cases.Caller{Template: certs.Template{URIs: c.URIs}}, nil
	}
	var known []string
	for _, caller := range s.Callers {
		if caller.Name == c.Name {
			return caller, nil
		}
		known = append(known, caller.Name)
	}
	return cases.Caller{}, fmt.Errorf("%s has no caller %q: use a SPIFFE ID or one of %s", s.Title(), c.Name, strings.Join(known, ", "))
}

// keepOut says what becomes of a caller that no policy judges: mTLS keeps it out, or lets it
// in without a certificate.
func (e *Explanation) keepOut(s lab.Subject, from cases.Caller) {
	e.Caller = from.Name
	for _, uri := range from.Template.URIs {
		e.Caller += " " + uri
	}
	unjudged := from.Plaintext && !s.Set.Program(s.Inbound.Inbound).JudgesPlaintext
	switch why := verdict.KeepsOut(s.Inbound, s.TrustDomains, from); {
	case why != "":
		e.Decision, e.Shadow, e.Gates = "handshake-failure: "+why, "none", []Gate{}
	case unjudged:
		e.Decision, e.Shadow, e.Gates = "allow: no policy judges plaintext", "none", []Gate{}
	}
}
