package manifestdiff

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/mention"
	"github.com/meshproof/meshproof/internal/rendering"
	"github.com/meshproof/meshproof/policy/manifest"
)

// variableName finds the name of the variable in a placeholder whose value Flux or Kustomize may take out of a ConfigMap or
// a Secret. Those in double braces get their values otherwise.
var variableName = regexp.MustCompile(`^\$[{(]?\W*(\w+)`)

// addVariables adds the names of the variables by which a tool writes what may matter of an object. Another
// value of such a variable counts, wherever a ConfigMap or a Secret has it. That of an image does not.
func (c *comparison) addVariables(o clusterobject.Object) {
	if o.Category == clusterobject.Harmless || o.Category == clusterobject.Config || !hasPlaceholder(o.Doc) {
		return
	}
	w := walker{comparison: c, category: o.Category, kind: o.Kind}
	w.walk("", "", o.Fields, withoutPlaceholders(o.Fields))
	for _, found := range w.found {
		at, _ := o.Doc.Lookup(found.path)
		for text := at.Flow(); ; {
			one := rendering.PlaceholderIn(text)
			if one == "" {
				break
			}
			if name := variableName.FindStringSubmatch(one); name != nil {
				c.variables[name[1]] = true
			}
			_, text, _ = strings.Cut(text, one)
		}
	}
}

// fillsWhatCounts reports whether a new object has a placeholder in its namespace, in the name of its account, or in a label by which policies may choose callers: what is
// applied is not known.
func (c *comparison) fillsWhatCounts(o clusterobject.Object, own workloads) bool {
	if !hasPlaceholder(o.Doc) {
		return false
	}
	p, hasPods := own.byKey[o.Key]
	if rendering.PlaceholderIn(o.Written()) != "" || hasPods && rendering.PlaceholderIn(fmt.Sprint(normal("serviceAccountName", p.account))) != "" {
		return true
	}
	w := walker{comparison: c, category: o.Category, kind: o.Kind, namespace: o.Namespace, places: c.placesOf(o), alone: true}
	w.walk("", "", nil, withoutPlaceholders(o.Fields))
	return len(w.found) > 0
}

func hasPlaceholder(doc manifest.Document) bool {
	_, has := rendering.PlaceholderOf(doc)
	return has
}

// withoutPlaceholders returns a value in which no text has a placeholder.
func withoutPlaceholders(value any) any {
	switch value := value.(type) {
	case string:
		if rendering.PlaceholderIn(value) != "" {
			return mention.Anybody
		}
	case []any:
		out := slices.Clone(value)
		for i := range out {
			out[i] = withoutPlaceholders(out[i])
		}
		return out
	case map[string]any:
		out := maps.Clone(value)
		for key := range out {
			out[key] = withoutPlaceholders(out[key])
		}
		return out
	}
	return value
}

// setsVariable reports whether a ConfigMap or a Secret may have the value of a variable that matters. What an
// ExternalSecret has is known where it lists each key.
func (c *comparison) setsVariable(o clusterobject.Object) bool {
	if len(c.variables) == 0 {
		return false
	}
	for _, field := range [][]string{{"data"}, {"stringData"}, {"binaryData"}, {"spec", "encryptedData"}, {"spec", "template", "data"}, {"spec", "template", "stringData"}} {
		values := fieldvalue.Mapping(fieldvalue.Lookup(o.Fields, field...))
		for key := range values {
			if c.variables[key] {
				return true
			}
		}
	}
	if o.Kind != "ExternalSecret" {
		return false
	}
	template := fieldvalue.Mapping(fieldvalue.Lookup(o.Fields, "spec", "target", "template"))
	values := fieldvalue.Mapping(template["data"])
	keys := slices.Collect(maps.Keys(values))
	list, isList := fieldvalue.Lookup(o.Fields, "spec", "data").([]any)
	for _, item := range list {
		key, _ := fieldvalue.Lookup(item, "secretKey").(string)
		keys = append(keys, key)
	}
	isKnown := isList && fieldvalue.Lookup(o.Fields, "spec", "dataFrom") == nil && template["templateFrom"] == nil && !slices.Contains(keys, "")
	return !isKnown || slices.ContainsFunc(keys, func(key string) bool { return c.variables[key] })
}
