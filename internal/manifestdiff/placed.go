package manifestdiff

import (
	"path/filepath"
	"slices"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/delivery"
	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// placedPolicy is a policy of the second side, with what the first side has of it.
type placedPolicy struct {
	clusterobject.Object
	was []clusterobject.Object
}

// policiesDiffer reports whether the policies of both sides differ.
func (c *comparison) policiesDiffer() bool {
	differ := false
	clusterobject.EachPair(c.oldPolicies, c.recentPolicies, func(was, is []clusterobject.Object) {
		differ = differ || !slices.EqualFunc(was, is, func(a, b clusterobject.Object) bool { return a.Doc.Flow() == b.Doc.Flow() })
	})
	return differ
}

// filesDiffer reports whether a policy stands in another file than before, whether its file has become a link, or whether it has come into
// a list that may be refused: a tool that takes files by what they are may leave it out now.
func (c *comparison) filesDiffer() bool {
	differ := false
	if c.old.Root == "" || c.recent.Root == "" {
		return false
	}
	clusterobject.EachPair(c.oldPolicies, c.recentPolicies, func(was, is []clusterobject.Object) {
		differ = differ || !slices.Equal(filesIn(c.old.Root, c.old.Links, was), filesIn(c.recent.Root, c.recent.Links, is))
	})
	return differ
}

// filesIn returns the files of objects, as paths in a folder.
func filesIn(root string, links []string, all []clusterobject.Object) (out []string) {
	for _, o := range all {
		name := delivery.PathIn(root, o.File())
		if slices.Contains(links, o.File()) {
			name += " (link)"
		}
		if list := o.Doc.DoubtfulList(); list != "" {
			name += " (" + list + ")"
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// ending says why a policy may go, or not be taken any more, although it stays as it is; "" where nothing says so.
func (c *comparison) ending(o clusterobject.Object) string {
	was := c.oldPolicies.ByKey[o.Key]
	isJSON := func(o clusterobject.Object) bool { return filepath.Ext(o.File()) == ".json" }
	switch {
	case fieldvalue.Lookup(o.Fields, "metadata", "deletionTimestamp") != nil:
		return "it has a deletionTimestamp, and is gone as soon as nothing keeps it"
	case fieldvalue.Lookup(o.Fields, "metadata", "ownerReferences") != nil:
		return "it has an owner, and goes with that"
	case slices.Contains(c.recent.Links, o.File()) && !slices.ContainsFunc(was, func(of clusterobject.Object) bool { return slices.Contains(c.old.Links, of.File()) }):
		return "its file is a link, and some tools take none"
	case isJSON(o) && len(c.oldPolicies.All) > 0 && !slices.ContainsFunc(c.oldPolicies.All, isJSON):
		return "it stands in a file in JSON, OLD has none, and some tools take YAML alone"
	}
	if why := c.otherList(o); why != "" {
		return why
	}
	if key := c.lacksShared(o); key != "" {
		return "it has not the label " + key + " of all policies of OLD, and a tool may choose by that"
	}
	return ""
}

// lacksShared returns the key of a label that all policies of OLD have with one value, and that a policy does not have so; "" where it
// has each of them. A label of one policy alone is no sign.
func (c *comparison) lacksShared(o clusterobject.Object) string {
	all := c.oldPolicies.All
	if len(all) < 2 {
		return ""
	}
	keys := []string{}
	for key, value := range all[0].Labels() {
		if !clusterobject.IsRead(key) && o.Label(key) != value && !slices.ContainsFunc(all, func(of clusterobject.Object) bool { return of.Label(key) != value }) {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return ""
	}
	return slices.Min(keys)
}
