package permission

import (
	"strings"

	"github.com/meshproof/meshproof/policy"
)

// Item is one item of rules, or of the legacy from, as it was written.
type Item struct {
	Conf Conf
	// Conditions are those of an item of Option 3; nil where it has none.
	Conditions []Match
	// From names the clients of an item of from; nil for an item of rules.
	From *Clients
}

// Conf is the default of an item: lists, or an action.
type Conf struct {
	// Action belongs to conditions and to from; empty where the conf has lists.
	Action string
	// A nil list is absent from the policy; an empty one stands there.
	Deny                []Match
	AllowWithShadowDeny []Match
	Allow               []Match
}

// Match is one matcher. A field that is nil or empty asks nothing.
type Match struct {
	Identity *policy.Match
	// IdentityField is the spelling of the field that holds Identity, spiffeId or
	// spiffeID; empty where Identity is nil.
	IdentityField string
	Path          *policy.Match
	Method        string
}

// Clients is the targetRef of an item of from.
type Clients struct {
	Kind string
	Name string
	Mesh string
	Tags map[string]string
}

// Items returns the items of rules or of from, in the order of the policy.
func (p Policy) Items() []Item {
	items := make([]Item, 0, len(p.Rules)+len(p.From))
	for _, r := range p.Rules {
		items = append(items, p.item(r))
	}
	for _, f := range p.From {
		items = append(items, p.fromItem(f))
	}
	return items
}

// Confs returns the matchers of each item of rules as lists. The conditions of
// Option 3 are the list that their action names; one empty match there stands for
// conditions that are absent, and thus for everybody.
func (p Policy) Confs() []Conf {
	confs := make([]Conf, len(p.Rules))
	for i, r := range p.Rules {
		confs[i] = p.conf(r)
	}
	return confs
}

func (p Policy) conf(r Rule) Conf {
	return Conf{Deny: p.matches(r, Deny), AllowWithShadowDeny: p.matches(r, AllowWithShadowDeny), Allow: p.matches(r, Allow)}
}

func (p Policy) item(r Rule) Item {
	if r.Form != FormConditions {
		return Item{Conf: p.conf(r)}
	}
	item := Item{Conf: Conf{Action: p.textAt(r.Field + ".default.action")}}
	if _, written := p.Doc.At(r.Field + ".conditions"); written {
		for l, written := range r.Written {
			if written {
				item.Conditions = p.matches(r, List(l))
			}
		}
	}
	return item
}

func (p Policy) fromItem(f FromItem) Item {
	at, _ := p.Doc.At(f.Field)
	var ref fromTargetSchema
	if err := at.Decode(&ref); err != nil {
		panic(err) // it was decoded when the policy was parsed
	}
	return Item{
		Conf: Conf{Action: p.textAt(strings.TrimSuffix(f.Field, ".targetRef") + ".default.action")},
		From: &Clients{Kind: ref.Kind, Name: ref.Name, Mesh: ref.Mesh, Tags: ref.Tags},
	}
}

// textAt returns a text of the policy in its own spelling.
func (p Policy) textAt(field string) string {
	at, _ := p.Doc.At(field)
	var text string
	if err := at.Decode(&text); err != nil {
		panic(err) // it was read as text when the policy was parsed
	}
	return text
}

func (p Policy) matches(r Rule, l List) []Match {
	if !r.Written[l] {
		return nil
	}
	out := make([]Match, len(r.Lists[l]))
	for i, m := range r.Lists[l] {
		out[i] = Match{Identity: copied(m.Identity), Path: copied(m.Path), Method: m.Method}
		if m.Identity == nil {
			continue
		}
		out[i].IdentityField = "spiffeId"
		if _, upper := p.Doc.At(m.Field + ".spiffeID"); upper {
			out[i].IdentityField = "spiffeID"
		}
	}
	return out
}

// copied keeps a policy immutable where its parts are handed out.
func copied(m *policy.Match) *policy.Match {
	if m == nil {
		return nil
	}
	c := *m
	return &c
}
