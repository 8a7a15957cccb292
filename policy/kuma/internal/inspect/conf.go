package inspect

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/manifest"
)

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
	at, _ := doc.At(field)
	if err := at.Decode(&out); err != nil {
		panic(err) // it was decoded when the policy was parsed
	}
	return out
}

// newConditions are those of a rule of Option 3, nil where it has none. They are the
// list that its action names.
func newConditions(p permission.Policy, r permission.Rule) []Match {
	if _, written := p.Doc.At(r.Field + ".conditions"); !written {
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
		if _, upper := p.Doc.At(m.Field + ".spiffeID"); upper {
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
