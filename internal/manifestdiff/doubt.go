package manifestdiff

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/assumption"
	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/clusterrole"
	"github.com/meshproof/meshproof/internal/delivery"
	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Doubt is a group of policies of the second side that a cluster may not get, all of them for one reason.
type Doubt struct {
	// Policies are the policies, each as in "AuthorizationPolicy shop/p".
	Policies []string
	// Why says what may keep them away.
	Why string
	// stays are the documents that a cluster has then, by the place of each of the policies, and left those that only the first side has
	// and that stay too.
	stays map[string][]manifest.Document
	left  []manifest.Document
}

// LeaveOut returns what a cluster has of the policies of the second side where those of the doubts do not come.
func LeaveOut(policies []manifest.Document, doubts ...Doubt) []manifest.Document {
	var out []manifest.Document
	for _, doc := range policies {
		i := slices.IndexFunc(doubts, func(d Doubt) bool { _, found := d.stays[doc.Place("")]; return found })
		if i < 0 {
			out = append(out, doc)
			continue
		}
		out = append(out, doubts[i].stays[doc.Place("")]...)
	}
	for _, d := range doubts {
		for _, doc := range d.left {
			if !slices.ContainsFunc(out, func(has manifest.Document) bool { return has.Place("") == doc.Place("") }) {
				out = append(out, doc)
			}
		}
	}
	return out
}

// String names the policies, and says what may keep them away.
func (d Doubt) String() string {
	const most = 3
	names := d.Policies
	if more := len(names) - most; more > 1 {
		names = append(slices.Clone(names[:most]), fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ") + " may not be applied: " + d.Why
}

// doubts returns the policies that may not come, where neither the tables nor the files can say whether they do. A policy that does
// not come hides nothing that another one lets in. Where nothing has changed there is no doubt.
func (c *comparison) doubts() (out []Doubt) {
	if c.symmetric || !c.policiesDiffer() && !c.filesDiffer() {
		return nil
	}
	d := doubter{was: c.oldPolicies}
	for _, doc := range c.recent.Policies {
		o := clusterobject.Read(doc)
		if was := c.oldPolicies.ByKey[o.Key]; !slices.ContainsFunc(was, o.DecidesAs) {
			d.changed = append(d.changed, placedPolicy{o, was})
		}
	}
	for _, o := range c.oldPolicies.All {
		if c.recentPolicies.ByKey[o.Key] == nil {
			d.gone = append(d.gone, o)
		}
	}
	out = append(out, d.byFolder(c.old, c.recent)...)
	out = append(out, c.byScript(d)...)
	out = append(out, c.byDeletion(d)...)
	out = append(out, d.byNamespace(c.oldObjects, c.recentObjects)...)
	out = append(out, d.byDiscovery(slices.Concat(c.recentObjects.All, c.oldObjects.All))...)
	out = append(out, c.byForm(d)...)
	out = append(out, c.byKind(d)...)
	out = append(out, c.byRelease(d)...)
	out = append(out, c.refusals(d)...)
	for _, o := range c.recentPolicies.All {
		if why := c.ending(o); why != "" {
			out = append(out, Doubt{Policies: []string{o.String()}, Why: why, stays: map[string][]manifest.Document{o.Doc.Place(""): nil}})
		}
	}
	return out
}

// refusals doubts each policy that has changed and that may be refused.
func (c *comparison) refusals(d doubter) (out []Doubt) {
	exported := isExport(c.oldPolicies) && isExport(c.recentPolicies)
	add := func(doubt Doubt) { out = append(out, d.refused(doubt)...) }
	beside := slices.Concat(c.recentObjects.All, c.oldObjects.All)
	for i, p := range d.changed {
		why := cmp.Or(p.refusal(exported), c.otherList(p.Object), c.otherVersion(p), c.otherOrigin(p))
		if rest := d.changed[i:]; why != "" && len(rest) > 1 {
			add(doubtOf(rest, p.String()+" may be refused, and a tool may stop there: "+why))
		}
		for _, o := range beside {
			if why == "" && mayRefuse(o, p.Object) {
				why = "what " + o.String() + " does with policies is not read"
			}
			if why == "" {
				why = clusterrole.Forbids(o, p.Object, len(p.was) == 0)
			}
		}
		if why != "" {
			add(doubtOf([]placedPolicy{p}, why))
		}
	}
	return out
}

// otherOrigin says that a policy of Kuma states a zone, an origin or a mesh that the first side does not know; "" where it does not.
// Kuma takes no other one for a policy that is there, and refuses a foreign one.
func (c *comparison) otherOrigin(p placedPolicy) string {
	for _, label := range []string{"kuma.io/origin", "kuma.io/zone", "kuma.io/mesh"} {
		alike := func(o clusterobject.Object) bool { return o.Label(label) == p.Label(label) }
		if known := c.oldPolicies.All; len(p.was) > 0 && !slices.ContainsFunc(p.was, alike) || p.Label(label) != nil && !slices.ContainsFunc(known, alike) {
			return "Kuma may refuse it because of its label " + label
		}
	}
	return ""
}

// otherVersion says that OLD has policies of a kind, and none of them in a version: a cluster may not have it.
func (c *comparison) otherVersion(p placedPolicy) string {
	versions := map[string]bool{}
	for _, o := range c.oldPolicies.All {
		if o.Kind == p.Kind && !o.Universal {
			versions[o.Version] = true
		}
	}
	if p.Universal || len(versions) == 0 || versions[p.Version] {
		return ""
	}
	return "no " + p.Kind + " of OLD is of the version " + p.Version + ", and a cluster may not have it"
}

func doubtOf(policies []placedPolicy, why string) Doubt {
	d := Doubt{Why: why, stays: map[string][]manifest.Document{}}
	for _, p := range policies {
		d.Policies = append(d.Policies, p.String())
		d.stays[p.Doc.Place("")] = documentsOf(p.was)
	}
	return d
}

func documentsOf(all []clusterobject.Object) (out []manifest.Document) {
	for _, o := range all {
		out = append(out, o.Doc)
	}
	return out
}

// doubter groups the policies that have changed.
type doubter struct {
	was     clusterobject.List
	changed []placedPolicy
	// gone are those of the first side alone.
	gone []clusterobject.Object
}

// groups returns the policies by a text, in the order of their first ones. Those of which the text is empty are left out.
func (d doubter) groups(by func(placedPolicy) string) (names []string, groups map[string][]placedPolicy) {
	groups = map[string][]placedPolicy{}
	for _, p := range d.changed {
		name := by(p)
		if name == "" {
			continue
		}
		if groups[name] == nil {
			names = append(names, name)
		}
		groups[name] = append(groups[name], p)
	}
	return names, groups
}

// byFolder doubts the policies of a folder that had none, and those of each folder where several have changes: kubectl takes no
// folder below the one that it is given, and other tools apply one folder for each of their objects.
func (d doubter) byFolder(old, recent Side) (out []Doubt) {
	if recent.Root == "" {
		return nil
	}
	placed, known := map[string]string{}, map[string]bool{}
	for _, doc := range recent.Placed {
		placed[doc.Place("")] = delivery.DirOf(recent.Root, doc)
	}
	for _, doc := range old.Placed {
		known[delivery.DirOf(old.Root, doc)] = true
	}
	names, groups := d.groups(func(p placedPolicy) string { return placed[p.Doc.Place("")] })
	gone := map[string][]clusterobject.Object{}
	for _, o := range d.gone {
		if old.Root != "" {
			name := delivery.DirOf(old.Root, o.Doc)
			gone[name] = append(gone[name], o)
			names = append(names, name)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, name := range names {
		if !known[name] && old.Root != "" {
			out = append(out, doubtOf(groups[name], "OLD has nothing in the folder "+name+", and a tool may not take it"))
			continue
		}
		if len(names) < 2 {
			continue
		}
		doubt := doubtOf(groups[name], "the folder "+name+" may be applied later than the others that have changed, or not at all")
		doubt.left = documentsOf(gone[name])
		for _, o := range gone[name] {
			doubt.Policies = append(doubt.Policies, "the end of "+o.String())
		}
		out = append(out, doubt)
	}
	return out
}

// standing are namespaces that are there without a document.
var standing = fieldpath.SetOf("default kube-system istio-system kuma-system linkerd linkerd-viz cilium")

// byNamespace doubts the new policies in a namespace that no document of OLD is in and that nothing makes, and in one that ends.
func (d doubter) byNamespace(olds, recents clusterobject.List) (out []Doubt) {
	known, ending := map[string]bool{}, map[string]bool{}
	for _, o := range slices.Concat(d.was.All, olds.All) {
		known[o.Written()] = true
	}
	for _, o := range slices.Concat(olds.All, recents.All) {
		if o.Kind == "Namespace" {
			known[o.Name] = true
			ending[o.Name] = ending[o.Name] || fieldvalue.Lookup(o.Fields, "metadata", "deletionTimestamp") != nil || fieldvalue.Lookup(o.Fields, "status", "phase") == "Terminating"
		}
	}
	names, groups := d.groups(func(p placedPolicy) string {
		if !p.IsNamespaced() || len(p.was) > 0 || !ending[p.Written()] && (standing[p.Written()] || known[p.Written()]) {
			return ""
		}
		return p.Written()
	})
	for _, name := range names {
		if ending[name] {
			out = append(out, doubtOf(groups[name], "the namespace "+name+" ends, and takes nothing new"))
			continue
		}
		out = append(out, doubtOf(groups[name], "no document of OLD is in the namespace "+name+", and none makes it"))
	}
	return out
}

// byDiscovery doubts the policies of each namespace, where Istio watches some namespaces alone.
func (d doubter) byDiscovery(objects []clusterobject.Object) (out []Doubt) {
	const selectors = "discoverySelectors"
	if !slices.ContainsFunc(objects, func(o clusterobject.Object) bool {
		return assumption.NamesField(assumption.MeshConfigOf(o), selectors) || (o.Kind == "IstioOperator" || o.Kind == "Istio") && assumption.NamesField(o.Fields, selectors)
	}) {
		return nil
	}
	names, groups := d.groups(func(p placedPolicy) string {
		if !p.IsOfIstio() {
			return ""
		}
		return p.Namespace
	})
	for _, name := range names {
		out = append(out, doubtOf(groups[name], "Istio may not watch the namespace "+name+": its mesh config has "+selectors))
	}
	return out
}

// isExport reports whether each of some policies has a version that an API server gave.
func isExport(all clusterobject.List) bool {
	return !slices.ContainsFunc(all.All, func(o clusterobject.Object) bool {
		return fieldvalue.Lookup(o.Fields, "metadata", "resourceVersion") == nil
	})
}

// refusal says why an API server or a tool may refuse a policy that others take; "" where no reason is known. Policies that are
// exported state what an API server gave them.
func (p placedPolicy) refusal(exported bool) string {
	if field, why := metadata.SettingsProblem(p.Doc); why != "" {
		return "an API server refuses it: " + field + ": " + why
	}
	if !p.Universal && metadata.IsTooLargeToApply(p.Doc) {
		return "it is larger than the annotation in which kubectl keeps it"
	}
	for _, field := range []string{"resourceVersion", "uid", "managedFields"} {
		states := fieldvalue.Lookup(p.Fields, "metadata", field)
		if states != nil && !exported && !slices.ContainsFunc(p.was, func(o clusterobject.Object) bool {
			return reflect.DeepEqual(fieldvalue.Lookup(o.Fields, "metadata", field), states)
		}) {
			return "it states " + field + ", and an API server refuses what it has not given itself"
		}
	}
	return ""
}

// refusers end the API groups of objects that refuse others, or change them, whatever they say.
var refusers = []string{"gatekeeper.sh", "kubewarden.com", "jspolicy.com", "hnc.x-k8s.io", "capsule.clastix.io", "projectsveltos.io", "kubefed.io"}

// mayRefuse reports whether an object that is not read may keep a policy away, or change it: it names the kind.
func mayRefuse(o clusterobject.Object, p clusterobject.Object) bool {
	switch {
	case o.Kind == "ConfigMap" && o.Group == "":
		// An engine may read its policies of it.
	case o.Category != clusterobject.Unknown, o.IsOfRights(), o.Group == "", o.PodPlace() != "":
		return false
	case o.IsOfTool():
		// Other fields of such an object are told, or apply a folder as it is. An account may lack a right.
		return fieldvalue.Lookup(o.Fields, "spec", "serviceAccountName") != nil
	case clusterobject.IsWithin(o.Group, refusers):
		return true
	}
	kind := strings.ToLower(p.Kind)
	names := []string{kind, clusterrole.ResourceOf(p)}
	if o.Kind != "ConfigMap" { // any text may have a star
		names = append(names, "*")
	}
	found := strings.Contains(strings.ToLower(o.Kind), kind)
	fieldvalue.EachText(saidBy(o), func(text string) {
		text = strings.ToLower(text)
		found = found || p.Group != "" && strings.Contains(text, p.Group) || slices.ContainsFunc(strings.FieldsFunc(text, endsWord), func(word string) bool { return slices.Contains(names, word) })
	})
	return found
}

// saidBy is what an object says beside its kind and its metadata.
func saidBy(o clusterobject.Object) map[string]any {
	out := maps.Clone(fieldvalue.Mapping(o.Fields))
	for _, key := range []string{"apiVersion", "kind", "metadata", "status"} {
		delete(out, key)
	}
	return out
}

// endsWord reports whether a letter is none of a kind, and no star.
func endsWord(r rune) bool { return r != '*' && (r < 'a' || r > 'z') && (r < '0' || r > '9') }
