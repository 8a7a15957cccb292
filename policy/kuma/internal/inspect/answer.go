package inspect

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/dataplane"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/lint"
	"github.com/meshproof/meshproof/policy/kuma/internal/lowering"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
	"github.com/meshproof/meshproof/policy/manifest"
)

const policyKind = "MeshTrafficPermission"

// InboundPolicies is the answer about one inbound.
type InboundPolicies struct {
	// Policies has an entry for each kind of policy with a rule that applies. There is
	// one kind, so that it has one entry at most.
	Policies []InboundPolicy `json:"policies"`
	// Warnings are here where Policies has no entry for them.
	Warnings []Warning `json:"warnings,omitempty"`
}

// InboundPolicy is what the policies of one kind say about one inbound.
type InboundPolicy struct {
	Kind string `json:"kind"`
	// Rules are in the order of concatenation, the weakest policy first.
	Rules []Rule `json:"rules"`
	// Origins has the origin of each rule once, in the order of the rules.
	Origins  []Origin  `json:"origins"`
	Warnings []Warning `json:"warnings"`
}

// Rule is one item of rules of one policy, or of its legacy from.
type Rule struct {
	// Conditions belong to Option 3. From names the clients of a legacy item.
	Conditions []Match  `json:"conditions,omitzero"`
	From       *Clients `json:"from,omitempty"`
	Conf       Conf     `json:"conf"`
	// Origin is the KRI of the rule's policy, under the key that the design names. KRI is
	// the same under the key that Kuma released.
	Origin string `json:"origin"`
	KRI    string `json:"kri"`
}

// Origin names a policy.
type Origin struct {
	KRI string `json:"kri"`
}

// ProxyPolicies is the answer about a whole dataplane, where each kind of policy
// has one merged conf.
type ProxyPolicies struct {
	Policies []ProxyPolicy `json:"policies"`
	// Warnings are here where Policies has no entry for them.
	Warnings []Warning `json:"warnings,omitempty"`
}

// ProxyPolicy is what the policies of one kind say about every inbound.
type ProxyPolicy struct {
	Kind string `json:"kind"`
	// Conf has each list concatenated over all rules.
	Conf     Conf      `json:"conf"`
	Origins  []Origin  `json:"origins"`
	Warnings []Warning `json:"warnings"`
}

func (r *Resources) inboundPolicies(m *mesh, in policy.Inbound) InboundPolicies {
	sel := m.selectFor(in, r.opts)
	warnings := r.inboundWarnings(m, sel, in)
	rules, origins := m.rulesOf(sel.Policies)
	if len(rules) == 0 {
		return InboundPolicies{Policies: []InboundPolicy{}, Warnings: warnings}
	}
	return InboundPolicies{Policies: []InboundPolicy{{Kind: policyKind, Rules: rules, Origins: origins, Warnings: warnings}}}
}

func (r *Resources) proxyPolicies(m *mesh, d *dataplane.Dataplane) ProxyPolicies {
	sel := r.selectProxy(m, d)
	warnings := append(m.selectedWarnings(sel), m.ignoredWarnings(sel)...)
	rules, origins := m.rulesOf(sel.Policies)
	if len(rules) == 0 {
		return ProxyPolicies{Policies: []ProxyPolicy{}, Warnings: warnings}
	}
	var merged Conf
	for _, rule := range rules {
		merged = merged.concat(rule.Conf)
	}
	return ProxyPolicies{Policies: []ProxyPolicy{{Kind: policyKind, Conf: merged, Origins: origins, Warnings: warnings}}}
}

// selectProxy selects the policies that an answer about a whole dataplane can show. It
// ignores, with a reason, policies that apply to some inbounds only, and policies whose
// conf is an action.
func (r *Resources) selectProxy(m *mesh, d *dataplane.Dataplane) selection.Selection {
	sel := m.selectAlike(d, r.opts)
	for i, ignored := range sel.Ignored {
		section := ignored.Policy.Target.Section
		if section == "" {
			continue
		}
		alone := selection.Select([]permission.Policy{ignored.Policy}, policy.Inbound{Workload: d.Workload, Name: section}, r.opts)
		if len(alone.Policies) > 0 {
			sel.Ignored[i].Reason = fmt.Sprintf("targetRef.sectionName is %q, this is about all inbounds alike: ask for the policies of that inbound", section)
		}
	}
	sel.Policies = slices.DeleteFunc(sel.Policies, func(p permission.Policy) bool {
		merges := !slices.ContainsFunc(m.rules[p.String()], func(rule Rule) bool { return rule.Conf.Action != "" })
		if !merges {
			sel.Ignored = append(sel.Ignored, selection.Ignored{Policy: p, Reason: "it has actions, which do not merge into one conf: ask for the policies of an inbound"})
		}
		return !merges
	})
	return sel
}

// rulesOf returns the rules of the policies in their order, and their origins.
func (m *mesh) rulesOf(ps []permission.Policy) ([]Rule, []Origin) {
	rules, origins := make([]Rule, 0, len(ps)), make([]Origin, 0, len(ps))
	for _, p := range ps {
		own := m.rules[p.String()]
		rules = append(rules, own...)
		if len(own) > 0 {
			origins = append(origins, Origin{KRI: p.String()})
		}
	}
	return rules, origins
}

// problem is the body of a refusal, in the form of Kuma's API and of RFC 9457.
type problem struct {
	Type   string `json:"type"`
	Status int    `json:"status"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
}

func newProblem(status int, format string, a ...any) *problem {
	return &problem{Type: "/std-errors", Status: status, Title: http.StatusText(status), Detail: fmt.Sprintf(format, a...)}
}

func badRequest(format string, a ...any) *problem {
	return newProblem(http.StatusBadRequest, format, a...)
}

func notFound(format string, a ...any) *problem {
	return newProblem(http.StatusNotFound, format, a...)
}

func (p *problem) write(w http.ResponseWriter) {
	writeJSON(w, "application/problem+json", p.Status, p)
}

// Conf is the default of a rule as it is written. A field that is absent in the policy
// is absent here.
type Conf struct {
	// Action belongs to a rule with conditions or from, the lists to any other.
	Action              string  `json:"action,omitempty"`
	Deny                []Match `json:"deny,omitzero"`
	AllowWithShadowDeny []Match `json:"allowWithShadowDeny,omitzero"`
	Allow               []Match `json:"allow,omitzero"`
}

// Match is one matcher. A request has to meet all of its fields. One spelling of the
// identity is set at most.
type Match struct {
	SPIFFEID      *Value `json:"spiffeId,omitempty"`
	SPIFFEIDUpper *Value `json:"spiffeID,omitempty"`
	SNI           *Value `json:"sni,omitempty"`
	Path          *Value `json:"path,omitempty"`
	Method        string `json:"method,omitempty"`
}

// Value is what a text is compared with.
type Value struct {
	// Type is Exact or Prefix.
	Type  string `json:"type"`
	Value string `json:"value"`
}

// Clients is the targetRef of an item of the legacy from.
type Clients struct {
	Kind string            `json:"kind" yaml:"kind"`
	Name string            `json:"name,omitempty" yaml:"name"`
	Mesh string            `json:"mesh,omitempty" yaml:"mesh"`
	Tags map[string]string `json:"tags,omitempty" yaml:"tags"`
}

// newRules returns the items of rules or of from, in the order of the policy. A
// field that is absent in the policy is absent in them.
func newRules(p permission.Policy) []Rule {
	rules := make([]Rule, 0, len(p.Rules)+len(p.From))
	for _, r := range p.Rules {
		rule := Rule{Origin: p.Origin, KRI: p.Origin}
		if r.Form == permission.FormConditions {
			rule.Conf.Action = readAs[string](p.Doc, r.Field+".default.action")
			rule.Conditions = newConditions(p, r)
		} else {
			rule.Conf = Conf{
				Deny: newMatches(p, r, permission.Deny), AllowWithShadowDeny: newMatches(p, r, permission.AllowWithShadowDeny), Allow: newMatches(p, r, permission.Allow),
			}
		}
		rules = append(rules, rule)
	}
	for _, item := range p.From {
		clients := readAs[Clients](p.Doc, item.Field)
		action := readAs[string](p.Doc, strings.TrimSuffix(item.Field, ".targetRef")+".default.action")
		rules = append(rules, Rule{From: &clients, Conf: Conf{Action: action}, Origin: p.Origin, KRI: p.Origin})
	}
	return rules
}

// readAs reads a part of a policy in its own spelling.
func readAs[T any](doc manifest.Document, field string) (out T) {
	at, _ := doc.Lookup(field)
	if err := at.Decode(&out); err != nil {
		panic(err) // it was decoded when the policy was parsed
	}
	return out
}

// newConditions are those of a rule of Option 3, nil where it has none. They are the
// list that its action names.
func newConditions(p permission.Policy, r permission.Rule) []Match {
	if _, written := p.Doc.Lookup(r.Field + ".conditions"); !written {
		return nil
	}
	return newMatches(p, r, permission.List(slices.Index(r.Written[:], true)))
}

func newMatches(p permission.Policy, r permission.Rule, l permission.List) []Match {
	if !r.Written[l] {
		return nil
	}
	out := make([]Match, len(r.Lists[l]))
	for i, m := range r.Lists[l] {
		out[i] = Match{Path: newValue(m.Path), Method: m.Method}
		if m.SNI != "" {
			out[i].SNI = &Value{Type: policy.Exact.String(), Value: m.SNI}
		}
		if _, upper := p.Doc.Lookup(m.Field + ".spiffeID"); upper {
			out[i].SPIFFEIDUpper = newValue(m.Identity)
		} else {
			out[i].SPIFFEID = newValue(m.Identity)
		}
	}
	return out
}

func newValue(m *policy.Match) *Value {
	if m == nil {
		return nil
	}
	return &Value{Type: m.Kind.String(), Value: m.Value}
}

// concat appends each list of next; a list is absent only where both lack it.
func (c Conf) concat(next Conf) Conf {
	return Conf{
		Deny:                join(c.Deny, next.Deny),
		AllowWithShadowDeny: join(c.AllowWithShadowDeny, next.AllowWithShadowDeny),
		Allow:               join(c.Allow, next.Allow),
	}
}

func join(a, b []Match) []Match {
	if a == nil {
		return slices.Clone(b)
	}
	return append(a, b...)
}

// Reason says what kind of finding a [Warning] is.
type Reason string

const (
	// Ignored: the policy does not apply here. The message says why.
	Ignored Reason = "ignored"
	// Idle: the policy applies to no inbound of the mesh.
	Idle Reason = "idle"
	// Hidden: denies take every request of an allow of the policy.
	Hidden Reason = "hidden"
	// Lint: the policy may not do what its author means.
	Lint Reason = "lint"
)

// Warning is a finding about one policy.
type Warning struct {
	Reason Reason `json:"reason"`
	// KRI names the policy.
	KRI string `json:"kri"`
	// Place is file, line and field.
	Place   string `json:"place"`
	Message string `json:"message"`
}

func newWarning(reason Reason, w policy.Warning) Warning {
	return Warning{Reason: reason, KRI: w.Policy, Place: w.Place, Message: w.Message}
}

// inboundWarnings returns the warnings of the policies that apply, then one for each
// policy that does not. The list is never nil.
func (r *Resources) inboundWarnings(m *mesh, sel selection.Selection, in policy.Inbound) []Warning {
	out := m.selectedWarnings(sel)
	if in.Protocol.Layer() == policy.L4 {
		for _, w := range lint.BlindSpots(sel.Policies, in) {
			out = append(out, newWarning(Lint, w))
		}
	}
	for _, w := range lowering.Warn(sel, in, r.opts) {
		out = append(out, newWarning(Lint, w))
	}
	return append(out, m.ignoredWarnings(sel)...)
}

func (m *mesh) selectedWarnings(sel selection.Selection) []Warning {
	out := []Warning{}
	for _, p := range sel.Policies {
		out = append(out, m.warnings[p.String()]...)
	}
	return out
}

func (m *mesh) ignoredWarnings(sel selection.Selection) []Warning {
	out := make([]Warning, 0, len(sel.Ignored))
	for _, ignored := range sel.Ignored {
		w, idle := m.idle[ignored.Policy.String()]
		if !idle {
			w = Warning{Reason: Ignored, KRI: ignored.Policy.String(), Place: ignored.Policy.Place(), Message: ignored.Reason}
		}
		out = append(out, w)
	}
	return out
}
