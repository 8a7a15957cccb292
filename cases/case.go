// Package cases reads case files, and holds the built-in ones.
//
// A case states workloads, policies and requests, and the outcome that each request
// must have. [Parse] reads the cases of one file, [Load] those of files and folders.
// [Stories] returns the built-in cases: the user stories of each dialect, and traps.
// docs/cases.md describes the format.
//
// What the package guarantees:
//   - A case is complete: every caller, inbound and value that a request names exists
//     and is well formed.
//   - Every refusal names the file, the line and the field.
//   - The lists of a request are crossed: a [Request] is one request.
//
// What it does not: it does not read the policies of a case, which are documents for
// their dialect, and it runs nothing. Package conformance runs cases on Envoy.
package cases

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/internal/script"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Case is one case of a case file.
type Case struct {
	Name string
	// Story groups cases in a report; optional.
	Story string
	// Features are what a compiler must support. The case says nothing about a compiler
	// without them. A case of a user may name none.
	Features []feature.Name
	// Gate says on which Envoys the case holds.
	Gate Gate
	// Advisory is the advisory that the case shows; nil for none.
	Advisory *Advisory
	// Source is the case as written, with the comments above it.
	Source string
	// Place is "file:line" of the case.
	Place string
	// TrustDomains have the bundles that the inbounds trust; the first one is the trust
	// domain of the mesh.
	TrustDomains  []spiffeid.TrustDomain
	Options       language.Options
	Normalization policy.PathNormalization
	Inbounds      []Inbound
	Policies      []manifest.Document
	// Deployed is set where the policies are those of files, which a mesh may have, and no part of the case.
	Deployed bool
	// LeftOut are the documents of named files that are neither policies nor Dataplanes. The case
	// does not read them.
	LeftOut []manifest.Document
	// Missed are the files with policies that no pattern under policies takes, in the folders of the files that one takes.
	Missed   []string
	Requests []Request
	// Routing are the services that sidecars reach, and the routes and timeouts among the
	// policies. RoutedRequests are the requests through sidecars.
	Routing        []manifest.Document
	RoutedRequests []casefile.RoutedRequest
	// Counters state by how much the admin counters of inbounds must move.
	Counters []Counters
	// ExpectError is a part of the error with which the policies must be refused. It
	// is empty where they must be accepted.
	ExpectError string
	// ExpectWarnings are parts of the lint warnings, one of each. It is nil where the
	// case states no warnings.
	ExpectWarnings []string
}

// Inbound is one inbound of one workload.
type Inbound struct {
	policy.Inbound
	// Identity is the SPIFFE ID in the certificate of the inbound.
	Identity spiffeid.ID
	IP       netip.Addr
	// MTLS says which callers the inbound takes. The zero value states nothing: then the
	// policies may say it, and otherwise the inbound is strict.
	MTLS mtls.Mode
	// Reach says how far a connection of a sidecar to the inbound comes.
	Reach script.Reach
}

// Address is the destination address in the PROXY header of the callers.
func (i Inbound) Address() netip.AddrPort { return netip.AddrPortFrom(i.IP, i.Port) }

// Request is one request. Where the file has lists, it is one of their combinations.
type Request struct {
	// Place is "file:line: field" of the item in the file.
	Place string
	From  Caller
	// To is the inbound's name, "workload/section".
	To                      string
	Method, Path, Authority string
	Headers                 []policy.Header
	// GRPC is "Service/Method".
	GRPC string
	// SNI is the server name of the handshake, empty for none.
	SNI string
	// Token is the token in the header Authorization; nil for none.
	Token    *token.Token
	SourceIP netip.Addr
	Want     Want
	// By, Shadow and ShadowBy are nil where the request states none.
	By       *string
	Shadow   *Shadow
	ShadowBy *string
}

// Want is the outcome that a request must have. The zero value is [Deny].
type Want struct {
	kind   wantKind
	status int
}

type wantKind uint8

const (
	wantDeny wantKind = iota
	wantAllow
	wantClose
	wantHandshakeFailure
	wantRefused
	wantStatus
)

// The wants that are no HTTP status.
var (
	// Deny wants that a policy denies the request, in the form of its layer: 403, gRPC
	// PERMISSION_DENIED, or a closed connection without an answer.
	Deny = Want{kind: wantDeny}
	// Allow wants that the upstream gets the request.
	Allow = Want{kind: wantAllow}
	// Close wants a closed connection without an answer.
	Close = Want{kind: wantClose}
	// HandshakeFailure wants that the TLS handshake fails.
	HandshakeFailure = Want{kind: wantHandshakeFailure}
	// Refused wants that the upstream does not get the request. It does not matter
	// whether mTLS, the listener or a policy refuses it.
	Refused = Want{kind: wantRefused}
)

var wantNames = [...]string{wantDeny: "deny", wantAllow: "allow", wantClose: "close", wantHandshakeFailure: "handshake-failure", wantRefused: "refused"}

// Status wants an answer with an HTTP status; 403 is the status of a deny.
func Status(code int) Want { return Want{kind: wantStatus, status: code} }

// Status returns the wanted HTTP status, and whether the want is a status.
func (w Want) Status() (code int, ok bool) { return w.status, w.kind == wantStatus }

// String returns the text of the want in a case file.
func (w Want) String() string {
	if w.kind == wantStatus {
		return strconv.Itoa(w.status)
	}
	return wantNames[w.kind]
}

// wantSchema reads a want: a name, or a status as text or number.
type wantSchema struct{ Want }

// UnmarshalManifest lets [manifest.Document.Decode] read the type.
func (w *wantSchema) UnmarshalManifest(d manifest.Document) error {
	text, err := scalar(d)
	if err != nil {
		return err
	}
	for kind, name := range wantNames {
		if name == text {
			w.Want = Want{kind: wantKind(kind)}
			return nil
		}
	}
	switch text {
	case "400", "401", "403", "404", "503", "504":
		code, _ := strconv.Atoi(text)
		w.Want = Status(code)
		return nil
	}
	return fmt.Errorf("%q is not a form that can be wanted: use one of %s, 400, 401, 403, 404, 503, 504", text, strings.Join(wantNames[:], ", "))
}

func scalar(d manifest.Document) (string, error) {
	var text string
	if err := d.Decode(&text); err == nil {
		return text, nil
	}
	var number int
	if err := d.Decode(&number); err != nil {
		return "", d.Errorf("", "text or a number was expected")
	}
	return strconv.Itoa(number), nil
}

// Shadow is the decision that the shadow must have made.
type Shadow uint8

// The values of a request's shadow field.
const (
	// ShadowNone: no shadow engine ran.
	ShadowNone Shadow = iota
	// ShadowAllow: the shadow would allow the request.
	ShadowAllow
	// ShadowDeny: the shadow would deny the request.
	ShadowDeny
)

var shadowNames = [...]string{ShadowNone: "none", ShadowAllow: "allow", ShadowDeny: "deny"}

// String returns the name used in case files.
func (s Shadow) String() string { return shadowNames[s] }

// shadowSchema reads a shadow by its name.
type shadowSchema struct{ Shadow }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *shadowSchema) UnmarshalText(text []byte) error {
	i := slices.Index(shadowNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("shadow %q is unknown: use one of %s", text, strings.Join(shadowNames[:], ", "))
	}
	s.Shadow = Shadow(i)
	return nil
}

// value returns the stated shadow, nil where none is stated.
func (s *shadowSchema) value() *Shadow {
	if s == nil {
		return nil
	}
	return &s.Shadow
}

// Counters states by how much the RBAC counters of one inbound must move, or those of one
// of its rules. A counter that is nil is not stated.
type Counters struct {
	// Inbound is the inbound's name, "workload/section".
	Inbound string
	// Rule is the name of the rule, as `by` of a request has it; empty for the inbound.
	Rule                                         string
	Allowed, Denied, ShadowAllowed, ShadowDenied *uint64
}

// countersSchema are the counters of an inbound in a file.
type countersSchema struct {
	Allowed       *uint64                      `yaml:"allowed"`
	Denied        *uint64                      `yaml:"denied"`
	ShadowAllowed *uint64                      `yaml:"shadow_allowed"`
	ShadowDenied  *uint64                      `yaml:"shadow_denied"`
	Rules         map[string]manifest.Document `yaml:"rules"`
}

func (s countersSchema) counters(inbound, rule string) (c Counters, stated bool) {
	c = Counters{Inbound: inbound, Rule: rule, Allowed: s.Allowed, Denied: s.Denied, ShadowAllowed: s.ShadowAllowed, ShadowDenied: s.ShadowDenied}
	return c, c != (Counters{Inbound: inbound, Rule: rule})
}

func (b *builder) addCounters() error {
	for _, name := range slices.Sorted(maps.Keys(b.schema.Counters)) {
		doc := b.schema.Counters[name]
		var s countersSchema
		if err := doc.Decode(&s); err != nil {
			return err
		}
		in, err := b.inbound(doc, "", name)
		if err != nil {
			return err
		}
		c, stated := s.counters(in.String(), "")
		switch {
		case stated:
			b.built.Counters = append(b.built.Counters, c)
		case len(s.Rules) == 0:
			return doc.Errorf("", "no counter is stated: use allowed, denied, shadow_allowed, shadow_denied, rules")
		}
		if in.Protocol == policy.TCP && s.Rules != nil {
			return doc.Errorf("rules", "inbound %s is tcp: Envoy counts by rule on HTTP alone, use shadowBy of a request", in)
		}
		for _, rule := range slices.Sorted(maps.Keys(s.Rules)) {
			if err := b.addRuleCounters(in, rule, s.Rules[rule]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *builder) addRuleCounters(in Inbound, rule string, doc manifest.Document) error {
	var s countersSchema
	if err := doc.Decode(&s); err != nil {
		return err
	}
	c, stated := s.counters(in.String(), rule)
	switch {
	case rule == "":
		return doc.Errorf("", "a rule without a name has no counter")
	case s.Rules != nil:
		return doc.Errorf("rules", "the counters of a rule have no rules of their own")
	case !stated:
		return doc.Errorf("", "no counter is stated: use allowed, denied, shadow_allowed, shadow_denied")
	}
	b.built.Counters = append(b.built.Counters, c)
	return nil
}
