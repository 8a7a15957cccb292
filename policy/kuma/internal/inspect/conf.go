package inspect

import (
	"slices"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
)

// Conf is the default of a rule in its own spelling: what is absent there is
// absent here.
type Conf struct {
	// Action belongs to a rule with conditions or from, the lists to any other.
	Action              string  `json:"action,omitempty"`
	Deny                []Match `json:"deny,omitzero"`
	AllowWithShadowDeny []Match `json:"allowWithShadowDeny,omitzero"`
	Allow               []Match `json:"allow,omitzero"`
}

// Match is one matcher; what is set has to be met together. Of the two spellings
// of the identity, one at most is set.
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
	Kind string            `json:"kind"`
	Name string            `json:"name,omitempty"`
	Mesh string            `json:"mesh,omitempty"`
	Tags map[string]string `json:"tags,omitempty"`
}

func newRule(origin string, item permission.Item) Rule {
	rule := Rule{Conditions: newMatches(item.Conditions), Conf: newConf(item.Conf), Origin: origin, KRI: origin}
	if item.From != nil {
		rule.From = (*Clients)(item.From)
	}
	return rule
}

func newConf(c permission.Conf) Conf {
	return Conf{
		Action: c.Action, Deny: newMatches(c.Deny), AllowWithShadowDeny: newMatches(c.AllowWithShadowDeny), Allow: newMatches(c.Allow),
	}
}

func newMatches(ms []permission.Match) []Match {
	if ms == nil {
		return nil
	}
	out := make([]Match, len(ms))
	for i, m := range ms {
		out[i] = Match{Path: newValue(m.Path), Method: m.Method}
		if m.IdentityField == "spiffeID" {
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
