// Package lift turns RBAC filters back into a program: the inverse of [xds.Compile].
//
// It guarantees that the program decides as the filters do, from any compiler; where it
// could not say a part of them, it names the part. It reads no dump of a sidecar and judges no request. Its
// programs are there to cut requests into classes; some of them are not what
// [xds.Compile] accepts.
package lift

import (
	"fmt"
	"slices"
	"strings"

	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/authorizer"
	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// Program turns filters back into a program. The port is the port that callers connect
// to, or 0 where it is not known.
//
// Each sentence of lost names the place of something that package policy cannot say.
// Where there is none, [policy.Decide] judges every request as an Envoy of version 1.35
// or later does, except for the target "*" and for callers that are known by the subject
// of their certificate. Where there are some, only Envoy knows the verdict: a rule that
// asks for more than can be said decides nothing in the program. A gate in front asks
// what can be said of it and lets everybody pass, so that classes are cut by it all the
// same. An operand that cannot be said is missing there.
//
// Several filters of one layer become several gates. A filter that only logs becomes a
// gate that logs. A shadow has the name of its shadow_rules_stat_prefix, or where another
// shadow has that name, the name of its place.
func Program(f xds.Filters, port uint16) (p policy.Program, lost []string) {
	t := translator{port: port}
	root := (*messages.Path)(nil)
	read := func(layer policy.Layer, at *messages.Path, i int, filter rbacFilter, asked map[int]authorizer.Authorizer) {
		if a, asks := asked[i]; asks {
			t.asking(layer, at.Index(i), filter, a, &p.Gates)
		} else {
			t.filter(layer, at.Index(i), filter, &p.Gates, &p.Shadows)
		}
	}
	for i, filter := range f.Network {
		read(policy.L4, root.Field("network"), i, filter, f.NetworkAsks)
	}
	for i, filter := range f.HTTP {
		read(policy.L7, root.Field("http"), i, filter, f.HTTPAsks)
	}
	t.routes(f.Routes, &p)
	p.RoutesOnly = f.RoutesOnly
	return p, t.lost.sentences()
}

// translator turns filters into gates.
type translator struct {
	// port is the port that callers connect to; 0 where it is not known.
	port uint16
	// layer is the layer of the filter that is read.
	layer policy.Layer
	lost  losses
	// extensions has the messages that were unpacked.
	extensions map[content]*extension
}

// rbacFilter is an RBAC filter of either layer.
type rbacFilter interface {
	proto.Message
	GetMatcher() *matcherv3.Matcher
	GetShadowMatcher() *matcherv3.Matcher
	GetRules() *rbacv3.RBAC
	GetShadowRules() *rbacv3.RBAC
	GetShadowRulesStatPrefix() string
}

// filter adds the gates of a filter. Envoy judges by the matcher where there are rules
// beside it.
func (t *translator) filter(layer policy.Layer, at *messages.Path, f rbacFilter, gates, shadows *[]policy.Gate) {
	t.layer, t.lost.filter = layer, at.String()
	var enforced, observed []policy.Gate
	t.check(f, at)
	switch {
	case f.GetMatcher() != nil:
		enforced = t.matcherGates(f.GetMatcher(), at.Field("matcher"))
	case f.GetRules() != nil:
		enforced = t.rulesGates(f.GetRules(), false, at.Field("rules"))
	}
	switch {
	case f.GetShadowMatcher() != nil:
		observed = t.matcherGates(f.GetShadowMatcher(), at.Field("shadow_matcher"))
	case f.GetShadowRules() != nil:
		observed = t.rulesGates(f.GetShadowRules(), true, at.Field("shadow_rules"))
	}
	for i, shadow := range observed {
		// A gate that only asks stands in front of the shadow itself.
		if shadow.Name = f.GetShadowRulesStatPrefix(); i < len(observed)-1 || hasName(*shadows, shadow.Name) {
			shadow.Name = fmt.Sprintf("%s %d", at, i)
		}
		shadow.Preceding = gatesBefore(*gates, layer)
		*shadows = append(*shadows, shadow)
	}
	*gates = append(*gates, enforced...)
}

// check names what a message has that the program could say nothing of.
func (t *translator) check(m proto.Message, at *messages.Path) {
	checkKnown(m.ProtoReflect(), at, t.lost.add)
}

func hasName(shadows []policy.Gate, name string) bool {
	return slices.ContainsFunc(shadows, func(g policy.Gate) bool { return g.Name == name })
}

// gatesBefore returns the number of gates in front of a shadow, and 0 where all of them
// are of lower layers.
func gatesBefore(gates []policy.Gate, layer policy.Layer) int {
	for i := len(gates); i > 0; i-- {
		if gates[i-1].Layer == layer {
			return len(gates)
		}
	}
	return 0
}

func (t *translator) matcherGates(m *matcherv3.Matcher, at *messages.Path) []policy.Gate {
	t.check(m, at)
	o := t.matcher(m, at)
	gate := policy.Gate{Layer: t.layer, Rules: o.rules}
	if o.verdict != nil {
		gate.Default = *o.verdict
	}
	return o.gates(gate)
}

// draft gathers the rules of a gate.
type draft struct {
	rules []policy.Rule
	// asks is what can be said of rules that cannot be said as a whole.
	asks []policy.Rule
}

// outcome is the result of a match: the rules of a nested matcher, and the verdict where
// none of them matches.
type outcome struct {
	draft
	// verdict is nil where there is none: then the rules behind the match are asked.
	verdict *policy.Verdict
	// unread is set where there is a verdict that cannot be read.
	unread bool
}

// add adds a rule behind the others.
func (d *draft) add(when reading, o outcome) {
	switch {
	case when.is(policy.Never):
	case !when.complete || o.unread:
		d.ask(when.when, append(allowing(o.rules), o.asks...))
	default:
		if len(o.asks) > 0 {
			d.ask(when.when, o.asks)
		}
		if o.verdict != nil {
			d.rules = append(d.rules, policy.Rule{Verdict: *o.verdict, When: when.when, Then: o.rules})
			break
		}
		// Behind a nested matcher without a verdict of its own the evaluation goes on.
		// Behind a rule with others in it, it does not.
		for _, rule := range o.rules {
			rule.When = allOf([]reading{when, exactly(rule.When)}).when
			d.rules = append(d.rules, rule)
		}
	}
}

func (d *draft) ask(when policy.Condition, then []policy.Rule) {
	if when == nil || when == policy.Always {
		d.asks = append(d.asks, then...)
		return
	}
	d.asks = append(d.asks, policy.Rule{Verdict: policy.Verdict{Effect: policy.Allow}, When: when, Then: then})
}

// allowing returns the rules with verdicts that let everybody pass.
func allowing(rules []policy.Rule) []policy.Rule {
	out := make([]policy.Rule, len(rules))
	for i, rule := range rules {
		out[i] = policy.Rule{Verdict: policy.Verdict{Effect: policy.Allow}, When: rule.When, Then: allowing(rule.Then)}
	}
	return out
}

// gates returns the gate, behind a gate that asks if there is anything to ask.
func (d draft) gates(gate policy.Gate) []policy.Gate {
	if len(d.asks) == 0 {
		return []policy.Gate{gate}
	}
	asks := askingGate(gate.Layer, d.asks)
	if gate.Logs() {
		// A filter that only logs decides nothing. Its questions do not either.
		asks.Default.Effect = policy.Log
	}
	return []policy.Gate{asks, gate}
}

func askingGate(layer policy.Layer, rules []policy.Rule) policy.Gate {
	return policy.Gate{Layer: layer, Rules: rules, Default: policy.Verdict{Effect: policy.Allow}}
}

// losses are what a program cannot say of its filters. It has each reason once for each
// filter.
type losses struct {
	// filter is the place of the filter that is read.
	filter string
	list   []loss
	// harmless is set where nothing decides: what is lost there is no loss.
	harmless bool
	// seen has the index of each reason in the list.
	seen map[lossKey]int
}

type loss struct {
	// path is the first place.
	path   *messages.Path
	reason string
	more   int
}

type lossKey struct{ filter, reason string }

func (l *losses) add(at *messages.Path, reason string) {
	if l.harmless {
		return
	}
	k := lossKey{l.filter, reason}
	if i, ok := l.seen[k]; ok {
		l.list[i].more++
		return
	}
	if l.seen == nil {
		l.seen = map[lossKey]int{}
	}
	l.seen[k] = len(l.list)
	l.list = append(l.list, loss{path: at, reason: reason})
}

func (l *losses) sentences() []string {
	var out []string
	for _, of := range l.list {
		text := of.path.String() + ": " + of.reason
		if of.more > 0 {
			text += fmt.Sprintf(" (and %d more)", of.more)
		}
		out = append(out, strings.Map(messages.Printable, text))
	}
	return out
}
