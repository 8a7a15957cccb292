package verdict

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/internal/plainpath"
	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
)

// Expectation is what must become of a request. It is one of [HandshakeFails], [Rejected],
// [Unjudged], [Judged], [Disputed] and [Unknown].
type Expectation interface{ expectation() }

// HandshakeFails says that mTLS keeps the caller out, and why.
type HandshakeFails struct{ Why string }

// Rejected says that the listener answers with a status before the policies on L7 are asked,
// and why: 400 because of the path, or what it answers to a token that it does not take.
type Rejected struct {
	Status int
	Why    error
}

// Unjudged says that the request passes: it comes in plaintext, to a permissive inbound of
// a dialect that judges no plaintext.
type Unjudged struct{}

// Judged says that the policies decide, also where they let no route take the request.
type Judged struct {
	// Seen is the request as the policies see it.
	Seen     policy.Request
	Decision policy.Decision
	// Second is the decision of the dialect's plain evaluator. It must be the same.
	Second policy.Decision
	// Rule is the text of the rule that decides, see [Reasons].
	Rule string
	// Ungated says that the program has no gate that decides. Then Envoy has no filter that
	// does, and says nothing of a policy.
	Ungated bool
	// Asked says that a gate asks an authorizer about the request.
	Asked bool
	// Gates are the gates and shadows that are asked, with their verdicts, where the
	// program has several of them: then Envoy has a filter for each. It is nil for a
	// program of one gate, with or without a shadow.
	Gates []policy.Trace
}

// Disputed says that the two readings of the request's path differ: meshproof contradicts
// itself, and nothing can be expected.
type Disputed struct{ Oracle, Reading string }

// Unknown says that only the case knows: no dialect owns the policies.
type Unknown struct{}

func (Unknown) expectation()        {}
func (HandshakeFails) expectation() {}
func (Rejected) expectation()       {}
func (Unjudged) expectation()       {}
func (Judged) expectation()         {}
func (Disputed) expectation()       {}

// Expect says what must become of a request to the inbound.
func (in Inbound) Expect(q cases.Request) Expectation {
	if why := in.keepsOut(q.From); why != "" {
		return HandshakeFails{why}
	}
	seen, err := See(in.Inbound, in.normalization(), in.Program.Tokens, q)
	rejected := RejectedBy(q, in.Protocol, err)
	if in.passesUnjudged(q.From) {
		if rejected != nil {
			return *rejected
		}
		return Unjudged{}
	}
	if in.reading.wantsOnly != "" {
		return Unknown{}
	}
	seen.UTF8 = !in.reading.envoy.Fixed(behavior.RegexBytes)
	seen.JoinsLines = !in.reading.envoy.Fixed(behavior.HeaderLines)
	seen.RoutesJoinLines = !in.reading.envoy.Fixed(behavior.RouteLines)
	plain, disputed := in.plainlySeen(q, seen, err)
	if disputed != nil {
		return *disputed
	}
	d, traces := in.Explain(seen)
	beforePath, beforeToken := Precedes(d, traces)
	if rejected != nil && !beforePath {
		return *rejected
	}
	if refusal := in.refusal(q); refusal.Status != 0 && !beforeToken {
		return Rejected{refusal.Status, errors.New(refusal.Why)}
	}
	rule, _ := Reasons(traces, seen)
	judged := Judged{
		Seen: seen, Decision: d, Rule: rule,
		Second: in.second(plain), Ungated: !slices.ContainsFunc(traces, decides),
	}
	if in.HasSeveralGates() {
		judged.Gates = traces
	}
	judged.Asked = in.asks(seen)
	return judged
}

// RejectedBy says how Envoy answers a request before the policies on L7 are asked, because of its method or its target, or of its
// path, which the listener may not take: the error of [See] says so. It is nil where Envoy does not answer.
func RejectedBy(q cases.Request, over policy.Protocol, path error) *Rejected {
	method, target := requestline.MethodAndTarget(q.Method, q.Path, q.GRPC)
	switch refusal := requestline.Refuse(method, target, over); {
	case path != nil:
		return &Rejected{400, path}
	case refusal.Status != 0:
		return &Rejected{refusal.Status, refusal.Why}
	default:
		return nil
	}
}

// Precedes reports whether a decision comes before the listener reads the path, and whether it comes
// before the filter for tokens. A network filter refuses the connection before both, and Envoy asks an
// authorizer before it verifies a token.
func Precedes(d policy.Decision, traces []policy.Trace) (path, token bool) {
	early := d.Effect == policy.Deny && d.Layer == policy.L4
	byAuthorizer := d.Effect == policy.Deny && slices.ContainsFunc(traces, func(t policy.Trace) bool { return t.Decides && t.Gate.Asks != nil })
	return early, early || byAuthorizer
}

// plainlySeen returns the request as the plain evaluator sees it, whose path package plainpath
// has read. It is disputed where the two readings of the path differ.
func (in Inbound) plainlySeen(q cases.Request, seen policy.Request, rejected error) (policy.Request, *Disputed) {
	if in.Protocol.Layer() == policy.L4 {
		return seen, nil
	}
	plain := seen
	path, _ := in.Program.Tokens.ForRequest(q.Method, q.Headers).Leaves(q.Token, q.Path, nil)
	_, path = requestline.MethodAndTarget(q.Method, path, q.GRPC)
	path, ok := plainpath.Normalize(in.normalization(), path)
	if ok == (rejected == nil) && path == seen.Path {
		plain.Path = path
		return plain, nil
	}
	text := func(path string, taken bool) string {
		if !taken {
			return "the listener answers 400"
		}
		return fmt.Sprintf("the path is %q", path)
	}
	return plain, &Disputed{text(seen.Path, rejected == nil), text(path, ok)}
}

// asks reports whether a gate asks an authorizer about a request. Such gates stand first.
func (in Inbound) asks(seen policy.Request) bool {
	seen = placed(seen, in.Inbound)
	return slices.ContainsFunc(in.Program.Gates, func(g policy.Gate) bool {
		return g.Asks != nil && slices.ContainsFunc(g.Rules, func(r policy.Rule) bool {
			both, ok := r.When.(policy.And)
			return ok && both[0].Holds(&seen)
		})
	})
}

func decides(t policy.Trace) bool { return !t.Shadow && !t.Gate.Logs() }

// HasSeveralGates reports whether several filters judge a request to the inbound, each of
// which has a verdict and counters of its own.
func (in Inbound) HasSeveralGates() bool {
	if in.reading.wantsOnly != "" {
		return true // the compiler may make any number of filters
	}
	several := func(gates, shadows []policy.Gate) bool {
		asks := slices.ContainsFunc(gates, func(g policy.Gate) bool { return g.Asks != nil })
		return asks || len(gates) > 1 || len(shadows) > 1 || len(gates) < len(shadows) || !slices.ContainsFunc(gates, func(g policy.Gate) bool { return !g.Logs() }) && len(gates) > 0
	}
	p := in.Program.Program
	return several(p.Gates, p.Shadows) || slices.ContainsFunc(p.Routes, func(r policy.Route) bool { return several(r.Gates, r.Shadows) })
}

// Judges reports whether the policies are asked about a request that the listener takes.
func (in Inbound) Judges(q cases.Request) bool {
	return in.keepsOut(q.From) == "" && !in.passesUnjudged(q.From)
}

// CanJudge reports whether the policies are asked about a witness, where the inbound trusts the
// trust domain of its caller.
func (in Inbound) CanJudge(r policy.Request) bool {
	if Nameless(r) {
		return in.MTLS.TakesPlaintext() && in.Program.JudgesPlaintext
	}
	return in.MTLS.TakesTLS()
}

// passesUnjudged tells of plaintext that a permissive inbound lets in and no policy
// judges.
func (in Inbound) passesUnjudged(from cases.Caller) bool {
	return from.Plaintext && !in.Program.JudgesPlaintext
}

func (in Inbound) keepsOut(from cases.Caller) string {
	return KeepsOut(in.Inbound, in.reading.Case.TrustDomains, from)
}

// KeepsOut returns why the mTLS of an inbound, which trusts the given trust domains, keeps a
// caller out. It returns "" where the inbound lets the caller in. TLS callers of a permissive inbound are verified as on a strict one. The rules for
// certificates are the rules of Envoy's SPIFFE validator
// (envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig): it looks up the
// bundle by the trust domain of the first URI SAN, and it does not ask for a usage.
func KeepsOut(in cases.Inbound, trusted []spiffeid.TrustDomain, from cases.Caller) string {
	switch {
	case from.Plaintext && in.MTLS.TakesPlaintext():
		return ""
	case from.Plaintext:
		return "a strict inbound takes no plaintext"
	case !in.MTLS.TakesTLS():
		return "the inbound takes plaintext only"
	case from.Anonymous:
		return "the caller shows no certificate"
	case from.Template.Validity != certs.Sound:
		return "the certificate is not valid now"
	case from.Template.CA:
		return "the certificate is a CA's"
	}
	td := trustDomainOf(from.Template.URIs)
	trusts := func(known spiffeid.TrustDomain) bool { return known.Name() == td }
	switch {
	case td == "":
		return "the caller has no identity: the first URI of its certificate is no SPIFFE ID"
	case !slices.ContainsFunc(trusted, trusts):
		return fmt.Sprintf("the inbound does not trust the trust domain %q", td)
	case from.SignedBy.Name() != td:
		return fmt.Sprintf("the CA of %q signs a certificate of %q", from.SignedBy.Name(), td)
	}
	return ""
}

// trustDomainOf returns the trust domain of a certificate as Envoy reads it, "" for none:
// what stands between "spiffe://" and the next slash in the first URI SAN.
func trustDomainOf(uris []string) string {
	if len(uris) == 0 {
		return ""
	}
	id, ok := strings.CutPrefix(uris[0], "spiffe://")
	td, _, hasPath := strings.Cut(id, "/")
	if !ok || !hasPath {
		return ""
	}
	return td
}

// refusal says what the filter for tokens makes of a request.
func (in Inbound) refusal(q cases.Request) token.Refusal {
	if in.Protocol.Layer() == policy.L4 {
		return token.Refusal{}
	}
	return in.Program.Tokens.ForRequest(q.Method, q.Headers).RefusesWith(q.Token, q.Path, q.Headers)
}

// Want returns what a case has to want of a request that must become what is expected.
func Want(e Expectation) cases.Want {
	switch e := e.(type) {
	case HandshakeFails:
		return cases.HandshakeFailure
	case Rejected:
		if e.Status == 403 {
			return cases.Refused // as a status, 403 is the word for a deny
		}
		return cases.Status(e.Status)
	case Judged:
		return wantOf(e.Decision)
	default:
		return cases.Allow
	}
}

func wantOf(d policy.Decision) cases.Want {
	switch d.Effect {
	case policy.Allow:
		return cases.Allow
	case policy.NoRoute:
		return cases.Status(404)
	default:
		return cases.Deny
	}
}
