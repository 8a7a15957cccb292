package manifestdiff

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/policy/manifest"
)

// programs have what expressions in documents may ask for.
type programs struct {
	// texts are those of objects that change others, words their words, and patterns those words with "*" or "?".
	texts    []string
	words    map[string]bool
	patterns []string
	// asked are the keys that an expression of any unknown object asks labels or annotations for.
	asked map[string]bool
}

// asking is an expression, or a template, that asks for a label or an annotation without a domain.
var asking = regexp.MustCompile(`(?i)(?:labels|annotations)\.\??([a-z0-9_-]+)`)

// selectorWords finds the keys of a selector that stands in a text, and its values.
var selectorWords = regexp.MustCompile(`[A-Za-z0-9][A-Za-z0-9._/-]*`)

// add adds an unknown document.
func (p *programs) add(o clusterobject.Object) {
	fieldvalue.Any(o.Fields, func(value any) bool {
		// A patch of Kustomize, Flux or Argo CD chooses objects by their annotations, too.
		selector, _ := fieldvalue.Mapping(value)["annotationSelector"].(string)
		for _, word := range selectorWords.FindAllString(selector, -1) {
			p.asked[word] = true
		}
		return false
	})
	mutates := o.Mutates()
	fieldvalue.EachText(o.Fields, func(text string) {
		for _, found := range asking.FindAllStringSubmatch(text, -1) {
			p.asked[found[1]] = true
		}
		if !mutates {
			return
		}
		p.texts = append(p.texts, text)
		for _, word := range strings.FieldsFunc(text, func(r rune) bool {
			return !strings.ContainsRune("-_*?", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
		}) {
			p.words[strings.Trim(word, "*?")] = true
		}
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("{}[]\"',: \n\t()|=", r) }) {
			if strings.ContainsAny(word, "*?") && strings.Trim(word, "*?/") != "" {
				p.patterns = append(p.patterns, word)
			}
		}
	})
}

// askFor reports whether something may ask for a label or an annotation. Of what changes other objects this is
// so where it has the key, or the last part of the key, anywhere in a text.
func (p *programs) askFor(key string) bool {
	if p.asked[key] || p.words[key[strings.LastIndexByte(key, '/')+1:]] || slices.ContainsFunc(p.texts, func(text string) bool { return strings.Contains(text, key) && strings.Contains(key, "/") }) {
		return true
	}
	return slices.ContainsFunc(p.patterns, func(pattern string) bool {
		matches, err := path.Match(pattern, key)
		return matches || err != nil
	})
}

// isParameter reports whether what changes other objects may ask for a label of an object: it may take values out
// of the objects that it selects so.
func (c *comparison) isParameter(o clusterobject.Object) bool {
	for key := range o.GivenLabels() {
		if c.programs.askFor(key) {
			return true
		}
	}
	return false
}

// mutating are the fields in which an object says how it changes others.
var mutating = []string{"mutate", "mutations", "location", "parameters", "patch", "patches"}

// ofLabel finds the key of a label in a path, in the manner of JSON patches, of expressions and of Gatekeeper.
var ofLabel = regexp.MustCompile(`labels(?:/|\.|\[?["'])([A-Za-z0-9][A-Za-z0-9._~/-]*)`)

// keyInText finds the keys of mappings in a text, such as an expression or a patch, and what a function there has in quotes; wordsOfPatches are
// those by which a patch says what it does.
var (
	keyInText      = regexp.MustCompile(`([A-Za-z0-9][A-Za-z0-9._/-]*)["']?\s*[:)]`)
	wordsOfPatches = fieldpath.SetOf("from key labels metadata op path spec template type value values")
)

// givesCaller reports whether a part of an object by which that changes others may give a workload an account, or a label by which policies choose callers. Each key of it
// may be one of a label where that is asked for.
func (c *comparison) givesCaller(value any, anyKey bool) bool {
	found := false
	fieldvalue.EachText(value, func(text string) {
		found = found || strings.Contains(text, "serviceAccount")
		for _, key := range ofLabel.FindAllStringSubmatch(text, -1) {
			found = found || c.peers.Has(strings.ReplaceAll(key[1], "~1", "/"))
		}
		for _, key := range keyInText.FindAllStringSubmatch(text, -1) {
			found = found || strings.Contains(strings.ToLower(text), "labels") && !wordsOfPatches[key[1]] && c.peers.Has(key[1])
		}
	})
	return found || fieldvalue.Any(value, func(value any) bool {
		labels := fieldvalue.Mapping(value)
		if !anyKey {
			labels = fieldvalue.Mapping(labels["labels"])
		}
		return slices.ContainsFunc(slices.Collect(maps.Keys(labels)), func(key string) bool { return !wordsOfPatches[key] && c.peers.Has(strings.Trim(key, "+()")) })
	})
}

// mutationChanges reports whether an object that changes others as an API server gets them may give a new workload an account, or a label by which policies choose callers, or
// change what takes a folder.
func (c *comparison) mutationChanges(by clusterobject.Object) bool {
	isOfDeliveries := fieldvalue.Any(by.Fields, func(value any) bool {
		text, _ := value.(string)
		return deliverers.MatchString(text)
	})
	return fieldvalue.Any(by.Fields, func(value any) bool {
		return slices.ContainsFunc(mutating, func(key string) bool {
			change := fieldvalue.Mapping(value)[key]
			return change != nil && isOfDeliveries || c.givesCaller(change, false)
		})
	})
}

// deliverers finds the kinds of objects that take folders, as an object that changes them names these kinds.
var deliverers = regexp.MustCompile(`(?i)^(\S+/)?(Application|ApplicationSet|HelmRelease|Kustomization)s?$`)

// changing are the fields by which further tools change manifests, such as kpt, Helmfile, kapp, Karmada and Sveltos.
var changing = strings.Fields(`clusterOverrides inline jsonPatches mutators overlays overriders packageOverrides patches strategicMergePatches transformers`)

// patchChanges reports the same of an object of another tool.
func (c *comparison) patchChanges(by clusterobject.Object) bool {
	if fieldvalue.Lookup(by.Fields, "deployments") != nil && c.givesCaller(fieldvalue.Lookup(by.Fields, "commonLabels"), true) { // of kluctl
		return true
	}
	return fieldvalue.Any(by.Fields, func(value any) bool {
		return slices.ContainsFunc(changing, func(key string) bool { return c.givesCaller(fieldvalue.Mapping(value)[key], true) })
	})
}

var (
	// giving finds a line of a script about labels, and given finds a label with its value in that line. choosing finds a line that
	// selects by labels or is about images: such a line gives no label.
	giving   = regexp.MustCompile(`(?im)^.*label.*$`)
	choosing = regexp.MustCompile(`(?i)(^|\s)-l[\s=]|selector|\bget\b|\bwait\b|\blogs\b|\bdocker\b`)
	given    = regexp.MustCompile(`([A-Za-z0-9][A-Za-z0-9/_-]*(?:\.[A-Za-z0-9/_-]+)*)["']?\s*[:=][ \t]*\\?["']?([A-Za-z0-9._$-]+)`)
)

// scriptChanges reports whether a script may give objects a label by which policies choose callers.
func (c *comparison) scriptChanges(text string) bool {
	return slices.ContainsFunc(giving.FindAllString(text, -1), func(line string) bool {
		return !choosing.MatchString(line) && slices.ContainsFunc(given.FindAllStringSubmatch(line, -1), func(found []string) bool {
			key := found[1]
			if _, behind, isPath := strings.Cut(key, "labels."); isPath {
				key = behind
			}
			value, _, _ := strings.Cut(found[2], "$") // a variable may be any
			return c.callsBy(key, value)
		})
	})
}

// anyChanger names the first object or script of the second side that may give any new workload an account, or a label by which policies choose callers; "" where there is none.
func (c *comparison) anyChanger() string {
	if c.changer == nil {
		name := c.findChanger()
		c.changer = &name
	}
	return *c.changer
}

func (c *comparison) findChanger() string {
	for _, o := range c.recentObjects.All {
		switch {
		case o.Category != clusterobject.Unknown || o.IsOfKustomize() || o.IsDelivery():
		case o.Mutates() && c.mutationChanges(o), !o.Mutates() && c.patchChanges(o):
			return c.toolText(o)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.recent.Files)) {
		docs, err := manifest.Parse(name, []byte(c.recent.Files[name]))
		if err == nil && slices.ContainsFunc(docs, func(doc manifest.Document) bool { return c.patchChanges(clusterobject.Read(doc)) }) { // of kpt
			return name
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.recent.Texts)) {
		if c.scriptChanges(c.recent.Texts[name]) {
			return name
		}
	}
	return ""
}
