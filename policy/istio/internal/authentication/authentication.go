// Package authentication reads the RequestAuthentication of Istio: whose tokens (JWT) an
// inbound takes, before an AuthorizationPolicy asks for their claims.
//
// It guarantees that a field that it cannot judge is refused. Keys are not read: the lab
// signs the tokens of each issuer by keys of its own.
package authentication

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/policylist"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/istio/internal/object"
	"github.com/meshproof/meshproof/policy/manifest"
)

const kind = "RequestAuthentication"

// Kinds is the one kind.
var Kinds = []manifest.Head{{APIVersion: object.Group, Kind: kind}}

// Owns reports whether the document is a RequestAuthentication of Istio, in any version.
func Owns(doc manifest.Document) bool { return object.Owns(doc, kind) }

// resource is the resource as security.istio.io declares it, as far as it can be judged.
type resource struct {
	object.Object
	Spec struct {
		Selector   *object.Selector  `yaml:"selector"`
		TargetRef  manifest.Document `yaml:"targetRef"`
		TargetRefs manifest.Document `yaml:"targetRefs"`
		Rules      []jwtRule         `yaml:"jwtRules"`
	} `yaml:"spec"`
}

type jwtRule struct {
	Issuer      string   `yaml:"issuer"`
	Audiences   []string `yaml:"audiences"`
	JwksURI     string   `yaml:"jwksUri"`
	Jwks        string   `yaml:"jwks"`
	Timeout     string   `yaml:"timeout"`
	Forward     bool     `yaml:"forwardOriginalToken"`
	FromHeaders []struct {
		Name   string `yaml:"name"`
		Prefix string `yaml:"prefix"`
	} `yaml:"fromHeaders"`
	FromParams            []string `yaml:"fromParams"`
	FromCookies           []string `yaml:"fromCookies"`
	OutputPayloadToHeader string   `yaml:"outputPayloadToHeader"`
	OutputClaimToHeaders  []struct {
		Header string `yaml:"header"`
		Claim  string `yaml:"claim"`
	} `yaml:"outputClaimToHeaders"`
	SpaceDelimitedClaims []string `yaml:"spaceDelimitedClaims"`
}

// places returns where Istio lets Envoy look for the token; none for the usual places.
func (r jwtRule) places() (out []token.Place) {
	for _, h := range r.FromHeaders {
		out = append(out, token.Place{Name: strings.ToLower(h.Name), Prefix: h.Prefix})
	}
	for _, name := range r.FromCookies {
		out = append(out, token.Place{Kind: token.InCookie, Name: name})
	}
	for _, name := range r.FromParams {
		out = append(out, token.Place{Kind: token.InParameter, Name: name})
	}
	return out
}

// writes returns the headers in which the rule passes claims on.
func (r jwtRule) writes() (out []token.Written) {
	if r.OutputPayloadToHeader != "" {
		out = append(out, token.Written{Header: strings.ToLower(r.OutputPayloadToHeader)})
	}
	for _, to := range r.OutputClaimToHeaders {
		out = append(out, token.Written{Header: strings.ToLower(to.Header), Claim: to.Claim})
	}
	return out
}

// keys names the keys of the issuer.
func (r jwtRule) keys() string {
	if keys, err := token.KeysOf(r.Jwks); err == nil {
		return keys
	}
	if r.JwksURI != "" {
		return token.KeysAt(r.JwksURI)
	}
	return ""
}

// spaced are the claims that Istio lets Envoy part at the spaces for every issuer.
var spaced = []string{"scope", "permission"}

// Policy is a valid RequestAuthentication.
type Policy struct {
	resource resource
	place    string
}

// String returns "namespace/name".
func (p Policy) String() string { return p.resource.String() }

// ParseAll parses each document. Where there is an error it returns no policies, and all
// errors joined, one line each.
func ParseAll(docs []manifest.Document) ([]Policy, error) { return policylist.Parse(docs, parse) }

func parse(doc manifest.Document) (Policy, error) {
	var p Policy
	if err := doc.Decode(&p.resource); err != nil {
		return Policy{}, err
	}
	p.place = doc.Place("")
	r := &p.resource
	var errs []error
	refuse := func(field, format string, args ...any) { errs = append(errs, doc.Errorf(field, format, args...)) }
	r.Complete(refuse)
	r.RefuseDryRun(refuse)
	r.Spec.Selector.Check(refuse)
	object.RefuseTargets(doc, refuse)
	for i, rule := range r.Spec.Rules {
		at := fmt.Sprintf("spec.jwtRules[%d]", i)
		switch {
		case rule.Issuer == "":
			refuse(at+".issuer", "an issuer is required")
		case rule.Jwks != "" && rule.JwksURI != "":
			refuse(at+".jwks", "the keys stand in jwksUri too: leave one of the two out")
		case slices.Contains(rule.Audiences, ""):
			refuse(at+".audiences", "an audience is empty")
		case object.IsSet(doc, at+".jwksUri") && !isURL(rule.JwksURI):
			refuse(at+".jwksUri", "%q is no URL: write one with http:// or https://", rule.JwksURI)
		case object.IsSet(doc, at+".timeout") && !isTimeout(rule.Timeout):
			refuse(at+".timeout", "%q is no time that Istio takes: write milliseconds, as in 500ms, and at least one", rule.Timeout)
		}
		if err := checkKeys(rule.Jwks); rule.Jwks != "" && err != nil {
			refuse(at+".jwks", "%v", err)
		}
		rule.checkPlaces(func(field, what string) { refuse(at+"."+field, "%s", what) })
	}
	return p, errors.Join(errs...)
}

// checkPlaces refuses what names no place of a token, and no header.
func (r jwtRule) checkPlaces(refuse func(field, what string)) {
	for i, h := range r.FromHeaders {
		if !isName(h.Name) {
			refuse(fmt.Sprintf("fromHeaders[%d].name", i), fmt.Sprintf("%q is no name of a header", h.Name))
		}
	}
	for field, names := range map[string][]string{"fromParams": r.FromParams, "fromCookies": r.FromCookies, "spaceDelimitedClaims": r.SpaceDelimitedClaims} {
		if slices.Contains(names, "") {
			refuse(field, "a name is empty")
		}
	}
	if n := len(r.SpaceDelimitedClaims); n > maxSpaced {
		refuse("spaceDelimitedClaims", fmt.Sprintf("the list has %d items, at most %d are allowed", n, maxSpaced))
	}
	if r.OutputPayloadToHeader != "" && !isName(r.OutputPayloadToHeader) {
		refuse("outputPayloadToHeader", fmt.Sprintf("%q is no name of a header", r.OutputPayloadToHeader))
	}
	for i, to := range r.OutputClaimToHeaders {
		at := fmt.Sprintf("outputClaimToHeaders[%d]", i)
		if !written.MatchString(to.Header) {
			refuse(at+".header", fmt.Sprintf("%q is no name of a header: use letters, digits, hyphens and underscores", to.Header))
		}
		if to.Claim == "" {
			refuse(at+".claim", "a claim is required")
		}
	}
}

// maxSpaced is the largest number of spaceDelimitedClaims in the CRD, and written its pattern for the header of a claim.
const maxSpaced = 64

var written = regexp.MustCompile(`^[-_A-Za-z0-9]+$`)

// isName reports whether a text is the name of a header (RFC 9110, section 5.1).
func isName(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

// isURL reports whether the CRD and the webhook take a text as the place of keys.
func isURL(text string) bool {
	const longest = 2048
	_, err := url.Parse(text)
	u, wrong := url.ParseRequestURI(text)
	return err == nil && wrong == nil && len(text) <= longest && (u.Scheme == "http" || u.Scheme == "https")
}

func isTimeout(text string) bool {
	d, err := time.ParseDuration(text)
	return err == nil && d >= time.Millisecond && d%time.Millisecond == 0
}

// missReason says why the policy does not apply to the workload, nil where it does.
func (p Policy) missReason(w policy.Workload, rootNamespace string) capability.Reason {
	return capability.FirstMiss(p.reach(rootNamespace).Misses(w))
}

// reach is which workloads the policy is about.
func (p Policy) reach(rootNamespace string) object.Reach {
	return object.Reach{Namespace: p.resource.Metadata.Namespace, Root: rootNamespace, Labels: p.resource.Spec.Selector.Labels()}
}

// Demand returns what all policies together demand of tokens on an inbound, and a line for
// each policy that does not apply. A request without a token passes to the policies: Istio
// requires none. Of several rules for one issuer, one is enough.
func Demand(ps []Policy, in policy.Inbound, rootNamespace string) (d token.Demand, ignored []string) {
	for _, p := range ps {
		if reason := p.missReason(in.Workload, rootNamespace); reason != nil {
			ignored = append(ignored, policylist.Ignored(p, reason.String()))
			continue
		}
		// Istio states bypass_cors_preflight for every filter.
		d.Preflight = d.Preflight || len(p.resource.Spec.Rules) > 0
		for _, rule := range p.resource.Spec.Rules {
			filled, unfilled := placesOver(in.Protocol, rule.places())
			d.Add(token.Issuer{
				Name: rule.Issuer, Audiences: rule.Audiences, Places: filled, Unfilled: unfilled, Forward: rule.Forward, Writes: rule.writes(),
				Spaced: slices.Concat(spaced, rule.SpaceDelimitedClaims), Keys: rule.keys(),
			})
		}
	}
	return d, ignored
}

// placesOver returns the places that a caller can fill, and the others: a call of gRPC has no query.
func placesOver(protocol policy.Protocol, places []token.Place) (filled, unfilled []token.Place) {
	inQuery := func(p token.Place) bool { return p.Kind == token.InParameter }
	if protocol != policy.GRPC || !slices.ContainsFunc(places, func(p token.Place) bool { return !inQuery(p) }) {
		return places, nil
	}
	for _, p := range places {
		if inQuery(p) {
			unfilled = append(unfilled, p)
		} else {
			filled = append(filled, p)
		}
	}
	return filled, unfilled
}

// Targets returns the workloads that the policies select, in order.
func Targets(ps []Policy, rootNamespace string) []capability.Target {
	var out []capability.Target
	for _, p := range ps {
		miss := func(in policy.Inbound) capability.Reason { return p.missReason(in.Workload, rootNamespace) }
		t := p.reach(rootNamespace).Target(p.resource.Object, p.place, miss)
		t.Conditions = true
		out = append(out, t)
	}
	return out
}

// SpecFields returns the fields that its documents may have in their spec.
func SpecFields() []string { return manifest.Fields(resource{}, "spec") }
