// Package verdict says what must become of a request, and whether it did.
//
// [Read] reads the policies of a case, once. [Inbound.Expect] says what must become of a
// request to one of its inbounds: the TLS handshake fails, the listener answers 400, the
// request passes unjudged, or the policies decide it. [Judge] holds the evidence of the
// request against that, and against what the case states. The two are a [Property].
//
// The package guarantees that all commands judge alike: run, prove, verify, fuzz and mutate
// ask here. Only this package knows the mTLS mode of an inbound and what it means for
// plaintext, how a listener normalizes a path, and which requests reach an inbound.
//
// It sends nothing and knows no harness.
package verdict

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/internal/candidates"
	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/rendering"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/language"
)

// Reading is a case and what its policies come to on each inbound. [Read] makes it. It
// does not change, apart from its Case.
type Reading struct {
	// Case has the policies that were read. Its requests and trust domains may change;
	// its policies, options and inbounds must not.
	Case cases.Case

	set language.Policies
	// stated is the normalization of paths that the case states itself.
	stated   policy.PathNormalization
	programs []language.Program
	// second has the second opinion of each inbound, and indexes the rules of its program.
	second  []func() func(policy.Request) policy.Decision
	indexes []func() *candidates.Index
	// places has what says which line decides on each inbound.
	places []func() locate
	// wantsOnly is as [Reading.WantsOnly] says.
	wantsOnly string
	// lintScope are the inbounds that lint is about; nil for those of the case.
	lintScope []policy.Inbound
	// envoy is what the Envoy does that judges.
	envoy behavior.Set
	// setsWithout has those that lack a document.
	setsWithout *setsWithout
	// asked is true where the policies say what is wanted of the requests, and no case does.
	asked bool
}

// Read reads the policies of a case. The error is the dialect's, and says why the policies
// are refused. It is an [*InboundError] where they are refused on one of the inbounds only.
func Read(c cases.Case) (*Reading, error) {
	set, err := dialect.Parse(c.Policies, c.Options)
	if err != nil {
		return nil, err
	}
	return read(c, set, (*Reading).settleListeners)
}

// ForInbounds reads the same policies on other inbounds: those of the case, which has the same
// policies and options.
func (r *Reading) ForInbounds(c cases.Case) (*Reading, error) {
	return read(c, r.set, (*Reading).settleListeners)
}

// ForSidecar reads the same policies on the inbounds of a sidecar, which keep the mTLS and the
// normalization of paths that it has, whatever the policies say of them.
func (r *Reading) ForSidecar(c cases.Case) (*Reading, error) {
	return read(c, r.set, func(*Reading) error { return nil })
}

func read(c cases.Case, set language.Policies, settle func(*Reading) error) (*Reading, error) {
	if err := fullNames(&c, set); err != nil {
		return nil, err
	}
	for _, in := range c.Inbounds {
		if err := set.Check(in.Inbound); err != nil {
			return nil, &InboundError{err}
		}
	}
	r := &Reading{Case: c, set: set, setsWithout: &setsWithout{sets: map[int]language.Policies{}}}
	r.readPrograms()
	if err := settle(r); err != nil {
		return nil, err
	}
	return r, nil
}

// settleListeners gives the inbounds the mTLS and the normalization of paths that the policies
// ask for. It fails where the case states another one.
func (r *Reading) settleListeners() (err error) {
	r.stated = r.Case.Normalization
	if r.Case.Normalization, err = NormalizationOf(r.set, r.Case.Normalization); err != nil {
		return fmt.Errorf("%s: %w", r.Case.Place, err)
	}
	return r.settleMTLS()
}

// Lint warns of the policies of a set. Listeners normalize paths as a case states, or as the mesh of the
// policies does where it states nothing.
func Lint(set language.Policies, stated policy.PathNormalization, inbounds []policy.Inbound) []policy.Warning {
	if linter, ok := set.(capability.NormalizedLinter); ok {
		return linter.LintFor(stated, inbounds)
	}
	return set.Lint(inbounds)
}

// NormalizationOf returns how listeners normalize paths: as a case says, or else as the mesh of
// the policies does. It fails where both say it, and the two differ. The zero value says nothing.
func NormalizationOf(set language.Policies, stated policy.PathNormalization) (policy.PathNormalization, error) {
	normalizer, ok := set.(capability.Normalizer)
	if !ok {
		return stated, nil
	}
	switch own, says := normalizer.Normalization(); {
	case stated == (policy.PathNormalization{}):
		return own, nil
	case says && stated != own:
		return stated, errors.New("options: pathNormalization says otherwise than normalization of the mesh: leave one of the two out")
	default:
		return stated, nil
	}
}

// readPrograms reads what the policies come to on each inbound.
func (r *Reading) readPrograms() {
	for _, in := range r.Case.Inbounds {
		program := r.set.Program(in.Inbound)
		r.programs = append(r.programs, program)
		r.places = append(r.places, sync.OnceValue(func() locate { return r.locateOn(in.Inbound) }))
		r.indexes = append(r.indexes, sync.OnceValue(func() *candidates.Index { return candidates.NewIndex(program.Program) }))
		r.second = append(r.second, sync.OnceValue(func() func(policy.Request) policy.Decision { return r.set.Evaluate(in.Inbound) }))
	}
}

// InboundError says that policies are refused on one inbound.
type InboundError struct{ error }

// Unwrap returns the dialect's error.
func (e *InboundError) Unwrap() error { return e.error }

// OnEnvoy returns the reading for an Envoy that behaves in this way. Without it, the Envoy has
// all fixes.
func (r *Reading) OnEnvoy(envoy behavior.Set) *Reading {
	on := *r
	on.envoy = envoy
	if on.asked && envoy != r.envoy {
		on.follow()
	}
	return &on
}

// follow wants of requests what the policies decide on the Envoy of the reading. What mTLS
// keeps out is refused on every Envoy.
func (r *Reading) follow() {
	inbounds := map[string]Inbound{}
	for _, in := range r.Inbounds() {
		inbounds[in.String()] = in
	}
	r.Case.Requests = slices.Clone(r.Case.Requests)
	for i := range r.Case.Requests {
		q := &r.Case.Requests[i]
		if judged, ok := inbounds[q.To].Expect(*q).(Judged); ok && (q.Want == cases.Allow || q.Want == cases.Deny) {
			q.Want = wantOf(judged.Decision)
		}
	}
}

// Envoy returns how the Envoy of [Reading.OnEnvoy] behaves.
func (r *Reading) Envoy() behavior.Set { return r.envoy }

// ForRequests returns the reading of a case that has the same policies, options and inbounds, and
// other requests or trust domains.
func (r *Reading) ForRequests(c cases.Case) *Reading {
	as := *r
	as.Case = c
	return &as
}

// WithoutRequests returns the reading of a case without requests, and without what the case
// says of its own requests. [Reading.Ask] adds others.
func (r *Reading) WithoutRequests() *Reading {
	c := r.Case
	c.Requests, c.RoutedRequests, c.Counters, c.ExpectError, c.ExpectWarnings, c.Gate = nil, nil, nil, "", nil, cases.Gate{}
	c.TrustDomains = slices.Clone(c.TrustDomains)
	return r.ForRequests(c)
}

// Ask adds a request to the case. The inbounds trust the trust domain of every such caller:
// whether a trust domain is trusted is a question of mTLS, and the policies decide for all.
func (r *Reading) Ask(q cases.Request) {
	r.asked = true
	q.Place = cmp.Or(q.Place, fmt.Sprintf("request %d", len(r.Case.Requests)+1))
	if td := q.From.SignedBy; !td.IsZero() && !slices.Contains(r.Case.TrustDomains, td) {
		r.Case.TrustDomains = append(r.Case.TrustDomains, td)
	}
	r.Case.Requests = append(r.Case.Requests, q)
}

// Set returns the policies.
func (r *Reading) Set() language.Policies { return r.set }

// LintAmong says which inbounds there are for the warnings of lint. Without it there are
// those of the case. Where there are none, lint gives no warnings.
func (r *Reading) LintAmong(inbounds []policy.Inbound) { r.lintScope = inbounds }

// Warnings returns what lowering and lint warn about, and which policies a tool may not apply, or not as they are written, in order of
// their place, each warning once.
func (r *Reading) Warnings() []policy.Warning {
	var out []policy.Warning
	inbounds := make([]policy.Inbound, len(r.programs))
	for i, p := range r.programs {
		inbounds[i] = r.Case.Inbounds[i].Inbound
		out = append(out, p.Warnings...)
	}
	if r.lintScope != nil {
		inbounds = r.lintScope
	}
	if r.lintScope == nil || len(r.lintScope) > 0 {
		out = append(out, Lint(r.set, r.stated, inbounds)...)
	}
	out = append(out, rendering.Idle(r.Case.Policies)...)
	out = append(out, rendering.Unrendered(r.Case.Policies)...)
	slices.SortFunc(out, func(a, b policy.Warning) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(out)
}

// Inbounds returns the inbounds of the case, in order.
func (r *Reading) Inbounds() []Inbound {
	out := make([]Inbound, len(r.programs))
	for i := range out {
		out[i] = r.inbound(i)
	}
	return out
}

// Inbound returns the inbound of that name. The case must have it: package cases lets no
// request to an unknown inbound pass.
func (r *Reading) Inbound(name string) Inbound {
	for i, in := range r.Case.Inbounds {
		if in.String() == name {
			return r.inbound(i)
		}
	}
	panic("verdict: case " + r.Case.Name + " has no inbound " + name)
}

func (r *Reading) inbound(i int) Inbound {
	second := func(q policy.Request) policy.Decision { return r.second[i]()(q) }
	return Inbound{Inbound: r.Case.Inbounds[i], Program: r.programs[i], reading: r, second: second, index: r.indexes[i], locate: r.places[i]}
}

// Memo reads the policies of each case once, however often it is asked. It knows a case by
// name and place, so a case must not change in between. The zero value is ready, and safe
// for concurrent use.
type Memo struct {
	// Foreign reads as [ReadForeign] does.
	Foreign bool

	// known has functions that return what [Read] returned.
	known sync.Map
}

type memoKey struct{ name, place string }

// Read is [Read], or [ReadForeign].
func (m *Memo) Read(c cases.Case) (*Reading, error) {
	read := Read
	if m.Foreign {
		read = ReadForeign
	}
	once, _ := m.known.LoadOrStore(memoKey{c.Name, c.Place}, sync.OnceValues(func() (*Reading, error) { return read(c) }))
	return once.(func() (*Reading, error))()
}
