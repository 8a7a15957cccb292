package manifestdiff

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/policy/manifest"
)

// differing returns the paths of the fields in which two documents differ as data, in the order of the second
// one: the order of the keys of a mapping says nothing. Items that have names are held against those of
// the same names. No table says what may differ.
func differing(was, is manifest.Document) (out []string) {
	var walk func(path string, was, is manifest.Document)
	walk = func(path string, was, is manifest.Document) {
		if was.Flow() == is.Flow() {
			return
		}
		var oldFields, newFields map[string]manifest.Document
		var olds, recents []manifest.Document
		switch {
		case was.Decode(&oldFields) == nil && is.Decode(&newFields) == nil && oldFields != nil && newFields != nil:
			for _, key := range is.Keys() {
				if old, found := oldFields[key]; found {
					walk(fieldpath.Child(path, key), old, newFields[key])
				} else {
					out = append(out, alone(fieldpath.Child(path, key), key, newFields[key])...)
				}
			}
			for _, key := range was.Keys() {
				if _, found := newFields[key]; !found {
					out = append(out, alone(fieldpath.Child(path, key), key, oldFields[key])...)
				}
			}
		case was.Decode(&olds) == nil && is.Decode(&recents) == nil && olds != nil && recents != nil:
			pairs, isOrdered := pairsOf(olds, recents)
			if !isOrdered {
				out = append(out, path)
			}
			for _, p := range pairs {
				switch {
				case p.old < 0:
					out = append(out, fieldpath.Item(path, p.recent))
				case p.recent < 0:
					out = append(out, fieldpath.Item(path, p.old))
				default:
					walk(fieldpath.Item(path, p.recent), olds[p.old], recents[p.recent])
				}
			}
		default:
			out = append(out, path)
		}
	}
	walk("", was, is)
	return out
}

// alone returns the paths of a field that one document has: those of its labels or annotations, which are read one
// by one, else its own.
func alone(path, key string, value manifest.Document) (out []string) {
	if key == "labels" || key == "annotations" {
		for _, of := range value.Keys() {
			out = append(out, fieldpath.Child(path, of))
		}
	}
	if out == nil {
		return []string{path}
	}
	return out
}

// pair has the indexes of an item in two lists, -1 where a list does not have it.
type pair struct{ old, recent int }

// pairsOf pairs the items of two lists: by their names where each has one of its own, else by their indexes. It
// reports whether the items of both lists are in the same order.
func pairsOf(olds, recents []manifest.Document) (out []pair, isOrdered bool) {
	oldNames, areNamed := namesOf(olds)
	newNames, alsoNamed := namesOf(recents)
	if !areNamed || !alsoNamed {
		for i := range max(len(olds), len(recents)) {
			p := pair{i, i}
			if i >= len(olds) {
				p.old = -1
			}
			if i >= len(recents) {
				p.recent = -1
			}
			out = append(out, p)
		}
		return out, true
	}
	last, isOrdered := -1, true
	for n, doc := range recents {
		i, found := oldNames[metadata.TextAt(doc, "name")]
		if !found {
			i = -1
		} else {
			isOrdered, last = isOrdered && i > last, i
		}
		out = append(out, pair{i, n})
	}
	for i, doc := range olds {
		if _, found := newNames[metadata.TextAt(doc, "name")]; !found {
			out = append(out, pair{i, -1})
		}
	}
	return out, isOrdered
}

// namesOf returns the indexes of items by their names, and whether each has one of its own.
func namesOf(items []manifest.Document) (map[string]int, bool) {
	out := map[string]int{}
	for i, doc := range items {
		name := metadata.TextAt(doc, "name")
		if _, twice := out[name]; twice || name == "" {
			return nil, false
		}
		out[name] = i
	}
	return out, true
}

var indexes = regexp.MustCompile(`\[\d+\]`)

// readByReader are the fields of a Dataplane that its reader takes. What they mean is compared with the inbounds.
var readByReader = []string{
	"type", "apiVersion", "kind", "name", "mesh", "labels", "metadata.labels",
	"networking.inbound[].name", "networking.inbound[].port", "networking.inbound[].protocol", "networking.inbound[].tags",
}

// isReadOfDataplane reports whether a field of a Dataplane is read. The root is the field with its networking.
func isReadOfDataplane(root, field string) bool {
	field = indexes.ReplaceAllString(field, "[]")
	if root != "" && fieldpath.IsWithin(field, root) && field != root {
		field = field[len(root)+1:]
	}
	// A new inbound is compared as a whole.
	return field == "networking.inbound" || field == "networking.inbound[]" || slices.ContainsFunc(readByReader, func(of string) bool { return fieldpath.IsWithin(field, of) })
}

// unreadOfPolicies are the fields of a policy that its dialect does not read, but for some labels and annotations.
var unreadOfPolicies = []string{"metadata", "labels", "status", "creationTime", "modificationTime", "kri"}

// isBeside reports whether a field of a policy stands beside what its dialect reads.
func isBeside(o clusterobject.Object, field string) bool {
	if !slices.ContainsFunc(unreadOfPolicies, func(of string) bool { return fieldpath.IsWithin(field, of) }) {
		return false
	}
	for key := range clusterobject.ReadSettings() {
		isOfDialect := clusterobject.DomainOf(key) == "istio.io" && o.IsOfIstio() || clusterobject.DomainOf(key) != "istio.io" && (o.Universal || o.Group == "kuma.io")
		for _, of := range []string{"labels", "metadata.labels", "metadata.annotations"} {
			if field == fieldpath.Child(of, key) && isOfDialect {
				return false
			}
		}
	}
	return true
}

// besideText is the same for two policies that differ in nothing beside what their dialect reads.
func besideText(o clusterobject.Object) string {
	fields, _ := o.Fields.(map[string]any)
	out := map[string]any{}
	for _, field := range unreadOfPolicies {
		of, isMapping := fields[field].(map[string]any)
		if !isMapping {
			out[field] = fields[field]
			continue
		}
		of = maps.Clone(of)
		maps.DeleteFunc(of, func(key string, _ any) bool { return !isBeside(o, fieldpath.Child(field, key)) })
		for key, value := range of {
			if settings, areMore := value.(map[string]any); areMore {
				settings = maps.Clone(settings)
				maps.DeleteFunc(settings, func(name string, _ any) bool { return !isBeside(o, fieldpath.Child(fieldpath.Child(field, key), name)) })
				of[key] = settings
			}
		}
		out[field] = of
	}
	text, err := json.Marshal(out)
	if err != nil {
		return o.Doc.Flow()
	}
	return string(text)
}

// casesOf returns the cases of case files without their policies, each as an object with its name.
func casesOf(docs []manifest.Document) clusterobject.List {
	out := clusterobject.List{ByKey: map[string][]clusterobject.Object{}}
	for _, doc := range docs {
		name := metadata.TextAt(doc, "case")
		o := clusterobject.Object{Identity: metadata.Identity{Kind: "case", Namespace: "case", Name: name}, Doc: doc.WithoutKey("policies"), Key: "case " + name}
		out.All, out.ByKey[o.Key] = append(out.All, o), append(out.ByKey[o.Key], o)
	}
	return out
}
