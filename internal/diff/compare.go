// Package diff finds the effects of a change of policies: it cuts the requests to each
// inbound into classes that both sets of policies decide alike, and finds every class that
// they decide otherwise.
//
// It guarantees that no change is passed over: a case without a counterpart is named, an
// inbound that changed is named, and callers in plaintext are compared too. Changes that
// widen access are told from other changes. The package reads no flags; only
// [Difference.Confirm] needs an Envoy.
package diff

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/knowncaller"
	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/internal/unsendable"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
)

// Comparison has the differences between two sets of policies on one inbound.
type Comparison struct {
	// Inbound is the new inbound.
	Inbound cases.Inbound
	// Cover is the common refinement: each set decides all requests of a class alike.
	Cover *classes.Cover
	// Changes has the classes that are decided otherwise, in the cover's order, and
	// then the changes for callers in plaintext.
	Changes []Change
	// Unsendable says which requests that the lab cannot send are let in now.
	Unsendable []string
	// classes counts what was compared: the classes of the cover, but those of callers without a name
	// where they come in plaintext, and then the pairs of opinions about callers in plaintext.
	classes int
	// old is the inbound under the old policies, recent under the new ones.
	old, recent verdict.Inbound
}

// Change is a class of requests that two sets of policies decide otherwise.
type Change struct {
	// Text says which requests are of the class.
	Text string
	// Witness is one of them.
	Witness  policy.Request
	Old, New Opinion
	// Request is the witness as a request of a case, as the new policies want it.
	Request cases.Request
	// oldRequest is the same request, as the old policies want it.
	oldRequest cases.Request
}

// Opinion is what one set of policies says of a class.
type Opinion struct {
	Decision policy.Decision
	// Reason is the rule that decides, ShadowReason the rule that decides in the shadow.
	Reason, ShadowReason string
	// Place is "file:line" of what decides, ShadowPlace of what decides in the shadow. They
	// are empty where no line does.
	Place, ShadowPlace string
	// form says how a request is refused, where both sides refuse it by the same words.
	form string
	// isOfMTLS is true where the mode of the inbound decides, so that no policy is asked.
	isOfMTLS bool
}

// Kind is the effect of a change.
type Kind uint8

const (
	// Widened access was denied and is allowed; Narrowed is the opposite.
	Widened Kind = iota
	Narrowed
	// ShadowChanged access stays, and the shadow changes.
	ShadowChanged
	// OriginChanged access stays, and another policy decides.
	OriginChanged
)

var kindNames = [...]string{Widened: "widened", Narrowed: "narrowed", ShadowChanged: "shadow", OriginChanged: "origin"}

// String returns one word.
func (k Kind) String() string { return kindNames[k] }

// words says to a reader what the kind is; String has the names of programs.
func (k Kind) words() string {
	if k == OriginChanged {
		return "same decision"
	}
	return k.String()
}

// Kind returns the most serious effect of the change.
func (c Change) Kind() Kind {
	was, is := c.Old.Decision, c.New.Decision
	// Two refusals are alike: behind a 404, where no route takes the request, no caller gets in either.
	switch allowed, allows := was.Effect == policy.Allow, is.Effect == policy.Allow; {
	case allows && !allowed:
		return Widened
	case allowed && !allows:
		return Narrowed
	case was.Shadowed != is.Shadowed || was.Shadow.Effect != is.Shadow.Effect:
		return ShadowChanged
	default:
		return OriginChanged
	}
}

// Compare cuts the requests to each inbound of the new case into classes that the policies
// of both cases decide alike. It returns the differences, an entry for each inbound. If
// the old case has an inbound of the same name, the old policies are read for the old inbound,
// with its labels, tags and port. The requests use the new protocol. The policies may be
// of different dialects. Compare fails where either set is refused.
func Compare(before, after cases.Case) ([]Comparison, error) {
	return compareBy(counterpart, before, after, false)
}

// compareBy is [Compare] for inbounds that are found in OLD in another way. With all, the classes that
// both decide alike are among the changes.
func compareBy(find finder, before, after cases.Case, all bool) ([]Comparison, error) {
	inbounds := make([]cases.Inbound, len(after.Inbounds))
	for i, in := range after.Inbounds {
		inbounds[i] = formerly(find, before, after, in)
	}
	before.Inbounds = inbounds
	// The policies are compared, whatever the cases ask.
	before.Requests, after.Requests = nil, nil
	old, errOld := verdict.Read(before)
	recent, errNew := verdict.Read(after)
	if err := errors.Join(errOld, errNew); err != nil {
		return nil, err
	}
	old, errOld = withDefault(old, recent)
	recent, errNew = withDefault(recent, old)
	if err := errors.Join(errOld, errNew); err != nil {
		return nil, err
	}
	olds, recents := old.Inbounds(), recent.Inbounds()
	out := make([]Comparison, len(recents))
	for i := range recents {
		out[i] = compare(olds[i], recents[i], all)
	}
	return out, nil
}

// withDefault reads the policies of one side again where those of the other side state the mTLS of
// an inbound and they do not: its mesh has the default of its dialect then.
func withDefault(side, other *verdict.Reading) (*verdict.Reading, error) {
	c, others := side.Case, other.Inbounds()
	c.Inbounds = slices.Clone(c.Inbounds)
	for i, in := range side.Inbounds() {
		if in.MTLS == mtls.Unset && others[i].Program.MTLS != mtls.Unset {
			c.Inbounds[i].MTLS = in.Program.DefaultMTLS
		}
	}
	return side.ForInbounds(c)
}

// compare compares one inbound under both sets of policies.
func compare(was, is verdict.Inbound, all bool) Comparison {
	old, recent := was.Program.Program, is.Program.Program
	if was.Port != is.Port {
		old, recent = was.OnItsPort(), is.OnItsPort()
	}
	c := Comparison{Inbound: is.Inbound, old: was, recent: is, Cover: classes.Cut(is.Surface(), old, recent)}
	for n, class := range c.Cover.Classes {
		// A permissive inbound takes callers without a name in plaintext, see plaintext.
		if verdict.Nameless(class.Witness) && (was.MTLS.TakesPlaintext() || is.MTLS.TakesPlaintext()) {
			continue
		}
		c.classes++
		old, recent := decide(was, class.Witness), decide(is, class.Witness)
		if was.Protocol.Layer() != is.Protocol.Layer() {
			old.Layer = recent.Layer
		}
		// The reasons cost several times as much as the decisions.
		if old == recent && !all {
			continue
		}
		change := Change{Text: class.String(), Witness: class.Witness, Old: opinion(was, class.Witness), New: opinion(is, class.Witness)}
		change.locate(was, is)
		place := fmt.Sprintf("class %d", n+1)
		change.oldRequest, change.Request = was.Request(class.Witness), is.Request(class.Witness)
		change.oldRequest.Place, change.Request.Place = place, place
		c.Changes = append(c.Changes, change)
	}
	if why := otherTokens(was, is); why != "" {
		c.Cover.Sampled = append(c.Cover.Sampled, "the two sides demand different tokens (JWT), and who is let in or kept out by that is not compared: "+why)
	}
	c.Cover.Sampled = append(c.Cover.Sampled, seenOtherwise(was, is)...)
	changes, pairs := plaintextChanges(old, recent, was, is, all)
	c.Changes, c.classes = append(c.Changes, changes...), c.classes+pairs
	// Side by side, callers with several names may be left out.
	onlyNames := all && len(c.Cover.Sampled) == 1 && c.Cover.SampledNames != ""
	if (c.Cover.Complete() || onlyNames) && !was.Program.Equal(is.Program.Program) {
		c.Unsendable = unsendable.Widened(c.Cover, is.Surface(), old, recent, hasURIs)
		if all {
			c.Unsendable = append(c.Unsendable, unsendable.Widened(c.Cover, was.Surface(), recent, old, hasURIs)...)
		}
	}
	return c
}

// hasURIs reports whether the names of a caller are URIs as far as their characters go: no URI has a control character (RFC 3986,
// section 2), so that no CA signs one, and an expression such as .+ leaves out a line break alone.
func hasURIs(r policy.Request) bool {
	return !slices.ContainsFunc(r.URIs, func(name string) bool { return strings.ContainsFunc(name, unicode.IsControl) })
}

// locate finds the lines that decide the witness, and tells two refusals apart that are of different layers.
func (c *Change) locate(was, is verdict.Inbound) {
	if o, n := c.Old.Decision, c.New.Decision; o.Effect == policy.Deny && n.Effect == policy.Deny && o.Layer != n.Layer && c.Old.rule() == c.New.rule() {
		c.Old.form, c.New.form = forms[o.Layer], forms[n.Layer]
	}
	if !c.Old.isOfMTLS {
		c.Old.Place, c.Old.ShadowPlace = was.Locate(c.Witness)
	}
	if !c.New.isOfMTLS {
		c.New.Place, c.New.ShadowPlace = is.Locate(c.Witness)
	}
}

// forms say what a caller gets that is refused on each layer.
var forms = [...]string{policy.L4: "a closed connection", policy.L7: "a 403, or PERMISSION_DENIED of gRPC"}

// decide returns the decision on a request, which is a deny where mTLS keeps its caller out.
func decide(in verdict.Inbound, r policy.Request) policy.Decision {
	if isKeptOut(in, r) {
		return policy.Decision{}
	}
	return in.Decide(r)
}

// isKeptOut reports whether the inbound takes plaintext only, and the caller shows a name.
func isKeptOut(in verdict.Inbound, r policy.Request) bool {
	return !in.MTLS.TakesTLS() && !verdict.Nameless(r)
}

func opinion(in verdict.Inbound, r policy.Request) Opinion {
	if isKeptOut(in, r) {
		return Opinion{Reason: "the inbound takes plaintext only", isOfMTLS: true}
	}
	decision, traces := in.Explain(r)
	o := Opinion{Decision: decision}
	o.Reason, o.ShadowReason = verdict.Reasons(traces, r)
	return o
}

// formerly returns what the inbound was in the old case, and the new inbound where it was not
// there. It has the new protocol, unless it took connections and takes requests now:
// then the policies of connections are held against those of requests.
func formerly(find finder, before, after cases.Case, in cases.Inbound) cases.Inbound {
	i := find(before.Inbounds, after.Inbounds, in)
	if i < 0 {
		return in
	}
	was := before.Inbounds[i]
	if was.Protocol.Layer() != policy.L4 {
		was.Protocol = in.Protocol
	}
	if was.Protocol.Layer() == policy.L4 {
		was.Routes = nil
	}
	return was
}

// plaintext returns the opinion on a request in plaintext, and the want of a case.
func plaintext(in verdict.Inbound, q cases.Request, r policy.Request) (Opinion, cases.Want) {
	switch e := in.Expect(q).(type) {
	case verdict.HandshakeFails:
		return Opinion{Reason: e.Why, isOfMTLS: true}, cases.HandshakeFailure
	case verdict.Unjudged:
		return Opinion{Decision: policy.Decision{Verdict: policy.Verdict{Effect: policy.Allow}}, Reason: "plaintext passes a permissive inbound unjudged", isOfMTLS: true}, cases.Allow
	default:
		o := opinion(in, r)
		return o, verdict.Want(verdict.Judged{Decision: o.Decision})
	}
}

// plaintextChanges returns the changes for callers in plaintext, if either inbound lets them
// in, and how many pairs of opinions there are. Requests with the same two opinions are one change. The old and the recent
// program are those that the inbounds are compared by.
func plaintextChanges(old, recent policy.Program, was, is verdict.Inbound, all bool) (out []Change, pairs int) {
	if !was.MTLS.TakesPlaintext() && !is.MTLS.TakesPlaintext() {
		return nil, 0
	}
	type opinions struct{ old, recent Opinion }
	seen := map[opinions]bool{}
	for _, class := range classes.Cut(is.Surface(), knowncaller.InPlaintext(old), knowncaller.InPlaintext(recent)).Classes {
		r := class.Witness
		r.URIs, r.DNS, r.SNI = nil, nil, ""
		q := cases.Request{To: is.String(), SourceIP: r.Source, Method: r.Method, Path: r.Path, Authority: r.Host, Headers: r.Headers, Token: token.FromClaims(r.Others), From: verdict.Plaintext, Place: "plaintext"}
		change := Change{Text: "callers in plaintext", Witness: r, Request: q, oldRequest: q}
		change.Old, change.oldRequest.Want = plaintext(was, q, r)
		change.New, change.Request.Want = plaintext(is, q, r)
		both := opinions{change.Old, change.New}
		if seen[both] {
			continue
		}
		seen[both] = true
		if change.Old.Decision == change.New.Decision && !all {
			continue
		}
		change.locate(was, is)
		out = append(out, change)
	}
	return out, len(seen)
}

// Confirm shows all changes on a version of Envoy, under the old policies and under
// the new policies. The function run runs cases and returns a result for each. Confirm
// returns all results in order. Its error is the cause of the end of ctx.
func (d *Difference) Confirm(ctx context.Context, envoy string, run func(context.Context, ...*verdict.Reading) []result.Case) ([]result.Case, error) {
	var out []result.Case
	for i := range d.Cases {
		c := &d.Cases[i]
		if c.changes() == 0 {
			continue
		}
		old, recent := Shown(c.Old, c.New, c.Comparisons)
		old.Name, recent.Name = old.Name+" (old)", recent.Name+" (new)"
		first := c.Comparisons[0]
		results := run(ctx, first.old.Reading().ForRequests(old), first.recent.Reading().ForRequests(recent))
		c.OldResult, c.NewResult = &results[0], &results[1]
		out = append(out, results...)
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	d.Envoy = envoy
	if d.Routes == nil {
		return out, nil
	}
	routed, err := d.Routes.Confirm(ctx, envoy, run)
	return append(out, routed...), err
}

// Shown returns two cases that show the changes of all inbounds on an Envoy: the same
// requests, under the policies before and after. Each wants the decisions of its own policies.
// Each has its own inbounds, because only one of them may let plaintext in.
func Shown(before, after cases.Case, found []Comparison) (old, recent cases.Case) {
	old, recent = withoutClaims(before), withoutClaims(after)
	old.Inbounds = nil
	for _, c := range found {
		old.Inbounds = append(old.Inbounds, c.old.Inbound)
		for _, change := range c.Changes {
			old.Requests, recent.Requests = append(old.Requests, change.oldRequest), append(recent.Requests, change.Request)
			if td := change.Request.From.SignedBy; !td.IsZero() && !slices.Contains(recent.TrustDomains, td) {
				recent.TrustDomains = append(recent.TrustDomains, td)
			}
		}
	}
	for _, td := range recent.TrustDomains {
		if !slices.Contains(old.TrustDomains, td) {
			old.TrustDomains = append(old.TrustDomains, td)
		}
	}
	return old, recent
}

// withoutClaims returns the case without its own requests and expectations.
func withoutClaims(c cases.Case) cases.Case {
	c.Requests, c.RoutedRequests, c.Counters, c.ExpectError, c.ExpectWarnings, c.Gate = nil, nil, nil, "", nil, cases.Gate{}
	c.TrustDomains = slices.Clone(c.TrustDomains)
	return c
}
