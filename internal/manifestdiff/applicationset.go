package manifestdiff

import (
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/policy/manifest"
)

// patchesTemplate reports whether an ApplicationSet has a patch by which its Applications may change what they take.
func patchesTemplate(by clusterobject.Object) bool {
	patch := fieldvalue.Lookup(by.Fields, "spec", "templatePatch")
	return by.Kind == "ApplicationSet" && patch != nil && !isIdlePatch(patch)
}

var (
	// branches are the instructions of a template that choose what is written, and written those that write something.
	branches = regexp.MustCompile(`(?s)\{\{-?\s*(?:if|else|end|range|with)\b.*?\}\}`)
	writing  = regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	// ofManyLines finds a function that writes other keys beside the one behind which it stands.
	ofManyLines = regexp.MustCompile(`\b(include|template|toYaml|tpl|indent|nindent)\b`)
	// idleOfApplication are the fields of an Application that change no object which it takes.
	idleOfApplication = fieldpath.SetOf("ignoreDifferences info project revisionHistoryLimit syncPolicy")
)

// isIdlePatch reports whether the template of a patch of Applications says only how and when they are synced, in each branch.
func isIdlePatch(patch any) bool {
	text, isText := patch.(string)
	if !isText || slices.ContainsFunc(writing.FindAllString(text, -1), ofManyLines.MatchString) {
		return false
	}
	return !slices.ContainsFunc(branches.Split(text, -1), func(part string) bool {
		part = writing.ReplaceAllString(part, "x")
		docs, err := manifest.Parse("patch.yaml", []byte(part))
		if err != nil || strings.Contains(part, "{{") {
			return true
		}
		return slices.ContainsFunc(docs, func(doc manifest.Document) bool { return !isIdleApplication(clusterobject.Read(doc).Fields) })
	})
}

func isIdleApplication(value any) bool {
	fields, isMapping := value.(map[string]any)
	for key, value := range fields {
		spec, isSpec := value.(map[string]any)
		switch {
		case idleOfApplication[key], key == "metadata", key == "spec" && value == nil:
		case key == "spec" && isSpec:
			for key := range spec {
				if !idleOfApplication[key] {
					return false
				}
			}
		default:
			return false
		}
	}
	return isMapping
}
