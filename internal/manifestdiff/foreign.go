package manifestdiff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/delivery"
	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/policy/manifest"
)

// refused returns the doubts about policies that a tool may refuse. Some tools delete nothing where something that they apply is
// refused, and others delete before they apply: what NEW has no more may stay, or not.
func (d doubter) refused(doubt Doubt) []Doubt {
	if len(d.gone) == 0 {
		return []Doubt{doubt}
	}
	staying := doubt
	staying.left = documentsOf(d.gone)
	doubt.Why += ", and a tool may delete first what NEW has no more"
	return []Doubt{staying, doubt}
}

// otherList says that a policy stands in a list that kubectl may refuse, where no policy of OLD stands in such a one; "" where it does not.
func (c *comparison) otherList(o clusterobject.Object) string {
	list := o.Doc.DoubtfulList()
	if list == "" || slices.ContainsFunc(c.oldPolicies.All, func(of clusterobject.Object) bool { return of.Doc.DoubtfulList() == list }) {
		return ""
	}
	return "it stands in " + list + ", and kubectl may refuse that"
}

// byForm doubts the policies in a form that OLD does not have, in their folder or at all: kubectl refuses the universal form
// of Kuma's resources, and kumactl takes no other one. Where OLD has neither, and NEW both, either may be refused. All of one form come,
// or none. A Dataplane says nothing: it may describe a workload to meshproof alone.
func (c *comparison) byForm(d doubter) (out []Doubt) {
	forms := func(docs []manifest.Document, in func(clusterobject.Object) bool) map[bool]bool {
		found := map[bool]bool{}
		for _, doc := range docs {
			if o := clusterobject.Read(doc); (o.Universal || o.Group == "kuma.io") && o.Kind != "Dataplane" && in(o) {
				found[o.Universal] = true
			}
		}
		return found
	}
	anywhere := func(clusterobject.Object) bool { return true }
	olds := forms(slices.Concat(c.old.Policies, c.old.Others), anywhere)
	if len(olds) == 0 {
		if olds = forms(c.recent.Policies, anywhere); len(olds) == 2 {
			olds = map[bool]bool{}
		}
	}
	names, groups := d.groups(func(p placedPolicy) string {
		known := olds
		if c.old.Root != "" && c.recent.Root != "" {
			name := delivery.DirOf(c.recent.Root, p.Doc)
			if inside := forms(c.old.Placed, func(o clusterobject.Object) bool { return delivery.DirOf(c.old.Root, o.Doc) == name }); len(inside) > 0 {
				known = inside
			}
		}
		switch {
		case !p.Universal && p.Group != "kuma.io" || known[p.Universal] || isOfCase(c.recent, p.Object):
			return ""
		case p.Universal:
			return "kubectl refuses the universal form, and what stands beside has another one"
		default:
			return "kumactl refuses the form of Kubernetes, and what stands beside has another one"
		}
	})
	for _, name := range names {
		out = append(out, d.refused(doubtOf(groups[name], name))...)
	}
	return out
}

// byDeletion doubts the end of policies where others change: kubectl deletes what a folder has no more only where it is told to. One that NEW has
// under another name adds nothing to that, and an export says what is there.
func (c *comparison) byDeletion(d doubter) []Doubt {
	if len(d.changed) == 0 || isExport(c.oldPolicies) && isExport(c.recentPolicies) {
		return nil
	}
	doubt := Doubt{Why: "it stays where a tool deletes nothing, such as kubectl apply without --prune"}
	for _, o := range d.gone {
		renamed := slices.ContainsFunc(c.recentPolicies.All, func(is clusterobject.Object) bool { return is.Kind == o.Kind && is.DecisiveBy(o.Name) == o.Decisive() })
		if !renamed && !isOfCase(c.old, o) {
			doubt.Policies, doubt.left = append(doubt.Policies, "the end of "+o.String()), append(doubt.left, o.Doc)
		}
	}
	if len(doubt.left) == 0 {
		return nil
	}
	return []Doubt{doubt}
}

// isOfCase reports whether a case of a side states a policy: nobody applies it.
func isOfCase(of Side, o clusterobject.Object) bool {
	return slices.ContainsFunc(of.Cases, func(doc manifest.Document) bool { return metadata.FileOf(doc) == o.File() })
}

// byKind doubts the policies of each kind that no policy of OLD is of: a cluster may not have it. The kinds of Istio come together, and those of
// Linkerd. Without a route its policies let nobody in.
func (c *comparison) byKind(d doubter) (out []Doubt) {
	definition := func(o clusterobject.Object) string {
		switch {
		case o.Universal:
			return "kuma.io/" + o.Kind
		case clusterobject.IsWithin(o.Group, []string{"istio.io", "linkerd.io"}):
			return o.Group
		default:
			return o.Group + "/" + o.Kind
		}
	}
	known := map[string]bool{}
	for _, o := range d.was.All {
		known[definition(o)] = true
	}
	names, groups := d.groups(func(p placedPolicy) string {
		if len(known) == 0 || known[definition(p.Object)] || strings.HasSuffix(p.Kind, "Route") || isOfCase(c.recent, p.Object) {
			return ""
		}
		kind := p.Kind
		if !p.Universal {
			kind += " of " + p.Group
		}
		return "OLD has no " + kind + ", and a cluster may not have the kind"
	})
	for _, name := range names {
		out = append(out, d.refused(doubtOf(groups[name], name))...)
	}
	return out
}

// Released is what a release of a mesh makes of a policy with a part that it does not have: Left, or nothing of it where that is refused. Why names
// the part.
type Released struct {
	Document manifest.Document
	Why      string
	Left     []manifest.Document
	Refused  bool
}

// byRelease doubts all policies with parts that no release of their mesh has, and that no policy of OLD has: a release loses the parts, or refuses
// the policies.
func (c *comparison) byRelease(d doubter) []Doubt {
	doubt := Doubt{stays: map[string][]manifest.Document{}}
	refuses := false
	for _, r := range c.recent.Released {
		o := clusterobject.Read(r.Document)
		if isOfCase(c.recent, o) {
			continue
		}
		doubt.Policies = append(doubt.Policies, o.String())
		doubt.Why = cmp.Or(doubt.Why, r.Why)
		if refuses = refuses || r.Refused; r.Refused {
			r.Left = documentsOf(c.oldPolicies.ByKey[o.Key])
		}
		doubt.stays[o.Doc.Place("")] = r.Left
	}
	switch {
	case len(doubt.Policies) == 0:
		return nil
	case refuses:
		return d.refused(doubt)
	default:
		return []Doubt{doubt}
	}
}
