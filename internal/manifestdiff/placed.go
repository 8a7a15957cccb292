package manifestdiff

import (
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/policy/manifest"
)

// placedPolicy is a policy of the second side, with what the first side has of it.
type placedPolicy struct {
	object
	was []object
}

// decidesAs reports whether a policy says what another one says, beside metadata that no dialect reads.
func (o object) decidesAs(other object) bool { return o.decisive() == other.decisive() }

// decisive is the text of what a dialect reads of a policy. Of two policies of some kinds the older one counts.
func (o object) decisive() string { return o.decisiveBy(o.name) }

// decisiveBy is [object.decisive] of a policy that has another name.
func (o object) decisiveBy(name string) string {
	fields, _ := o.fields.(map[string]any)
	out := map[string]any{}
	for key, value := range fields {
		switch key {
		case "creationTime", "modificationTime", "kri", "status", "metadata":
		case "labels":
			out[key] = readOf(value)
		case "name":
			out[key] = name
		default:
			out[key] = value
		}
	}
	if !o.universal {
		of := func(field string) any { return fieldvalue.Lookup(o.fields, "metadata", field) }
		out["metadata"] = []any{name, of("namespace"), readOf(of("labels")), readOf(of("annotations"))}
		if o.kind == "PeerAuthentication" || o.isOfLinkerd() {
			out["age"] = of("creationTimestamp")
		}
	}
	text, err := json.Marshal(out)
	if err != nil {
		return o.doc.Flow()
	}
	return string(text)
}

// readOf returns the labels or annotations that a dialect reads.
func readOf(settings any) map[string]any {
	all, _ := settings.(map[string]any)
	out := map[string]any{}
	for key, value := range all {
		if readSettings[key] {
			out[key] = value
		}
	}
	return out
}

// policiesDiffer reports whether the policies of both sides differ.
func (c *comparison) policiesDiffer() bool {
	differ := false
	eachPair(c.oldPolicies, c.recentPolicies, func(was, is []object) {
		differ = differ || !slices.EqualFunc(was, is, func(a, b object) bool { return a.doc.Flow() == b.doc.Flow() })
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
	eachPair(c.oldPolicies, c.recentPolicies, func(was, is []object) {
		differ = differ || !slices.Equal(filesIn(c.old.Root, c.old.Links, was), filesIn(c.recent.Root, c.recent.Links, is))
	})
	return differ
}

// filesIn returns the files of objects, as paths in a folder.
func filesIn(root string, links []string, all []object) (out []string) {
	for _, o := range all {
		name := pathIn(root, o.file())
		if slices.Contains(links, o.file()) {
			name += " (link)"
		}
		if list := o.doc.DoubtfulList(); list != "" {
			name += " (" + list + ")"
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// pathIn returns the path of a file in a folder.
func pathIn(root, file string) string {
	if inside, err := filepath.Rel(root, file); err == nil {
		return inside
	}
	return file
}

// ending says why a policy may go, or not be taken any more, although it stays as it is; "" where nothing says so.
func (c *comparison) ending(o object) string {
	was := c.oldPolicies.byKey[o.key]
	isJSON := func(o object) bool { return filepath.Ext(o.file()) == ".json" }
	switch {
	case fieldvalue.Lookup(o.fields, "metadata", "deletionTimestamp") != nil:
		return "it has a deletionTimestamp, and is gone as soon as nothing keeps it"
	case fieldvalue.Lookup(o.fields, "metadata", "ownerReferences") != nil:
		return "it has an owner, and goes with that"
	case slices.Contains(c.recent.Links, o.file()) && !slices.ContainsFunc(was, func(of object) bool { return slices.Contains(c.old.Links, of.file()) }):
		return "its file is a link, and some tools take none"
	case isJSON(o) && len(c.oldPolicies.all) > 0 && !slices.ContainsFunc(c.oldPolicies.all, isJSON):
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
func (c *comparison) lacksShared(o object) string {
	all := c.oldPolicies.all
	if len(all) < 2 {
		return ""
	}
	keys := []string{}
	for key, value := range all[0].labels() {
		if !readSettings[key] && o.label(key) != value && !slices.ContainsFunc(all, func(of object) bool { return of.label(key) != value }) {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return ""
	}
	return slices.Min(keys)
}

// folderIn returns the folder of a document, as a path in another one.
func folderIn(root string, doc manifest.Document) string {
	return filepath.Dir(pathIn(root, metadata.FileOf(doc)))
}
