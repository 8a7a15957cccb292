package proof_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/proof"
	"github.com/meshproof/meshproof/policy/manifest"
)

// envoyOfAnswers is the version whose known answers the tests hold.
const envoyOfAnswers = "1.40.0"

// writtenCase is an accepted case as the values of its file, before anything reads its policies.
type writtenCase struct {
	cases.Case
	value map[string]any
}

// written are read once. Tests change no value.
var written struct {
	once  sync.Once
	cases []writtenCase
}

// readWritten returns the built-in cases that are accepted and have known answers. Writing them again changes no answer.
func readWritten(t *testing.T) []writtenCase {
	t.Helper()
	written.once.Do(func() {
		for _, c := range casetest.Stories(t) {
			if c.ExpectError != "" || len(c.Requests)+len(c.RoutedRequests) == 0 || !c.Gate.Admits(envoyOfAnswers, behavior.Set{}) {
				continue
			}
			docs, err := manifest.Parse("case.yaml", []byte(c.Source))
			if err != nil || len(docs) != 1 {
				t.Fatalf("%s: %d documents: %v", c.Place, len(docs), err)
			}
			w := writtenCase{Case: c}
			if err := docs[0].Decode(&w.value); err != nil {
				t.Fatal(err)
			}
			again, err := w.rewrite(func(_ string, v any) any { return v })
			if err != nil {
				t.Fatalf("%s: %v", c.Place, err)
			}
			for _, wrong := range proof.CheckKnownAnswers([]cases.Case{again}, envoyOfAnswers, behavior.Set{}).Wrong {
				t.Errorf("%s: written again: %s", c.Place, wrong)
			}
			written.cases = append(written.cases, w)
		}
	})
	return written.cases
}

// answers is the number of known answers.
func (c writtenCase) answers() int { return len(c.Requests) + len(c.RoutedRequests) }

// rewrite reads the case with each part of its documents changed. The function gets the path of a part, and what it
// returns is changed in turn.
func (c writtenCase) rewrite(change func(path string, v any) any) (cases.Case, error) {
	value := maps.Clone(c.value)
	for _, key := range []string{"policies", "outbounds", "workloads"} {
		list, ok := value[key].([]any)
		if !ok {
			continue
		}
		list = slices.Clone(list)
		for i, doc := range list {
			// A workload of the case format is no document.
			if object, ok := doc.(map[string]any); ok && kindOf(object) != "" {
				list[i] = rewriteValue(doc, kindOf(object), change)
			}
		}
		value[key] = list
	}
	if options, ok := value["options"]; ok {
		value["options"] = rewriteValue(options, "options", change)
	}
	data, err := json.Marshal(value)
	if err != nil {
		return cases.Case{}, err
	}
	all, err := cases.Parse("case.yaml", data)
	if err != nil {
		return cases.Case{}, err
	}
	return all[0], nil
}

// visit calls each with every part of the documents.
func (c writtenCase) visit(each func(path string, v any)) {
	_, _ = c.rewrite(func(path string, v any) any {
		each(path, v)
		return v
	})
}

// sameSchema names the kinds that are read as another one.
var sameSchema = map[string]string{
	"XAuthorizationPolicy of gateway.networking.x-k8s.io": "AuthorizationPolicy of gateway.networking.k8s.io",
	"CiliumClusterwideNetworkPolicy of cilium.io":         "CiliumNetworkPolicy of cilium.io",
	"HTTPRoute of gateway.networking.k8s.io":              "HTTPRoute of policy.linkerd.io",
}

// kindOf returns the kind of a document, with its group where it is none of Kuma, and "" for what is no document.
func kindOf(doc map[string]any) string {
	kind, _ := doc["kind"].(string)
	version, _ := doc["apiVersion"].(string)
	if kind == "" || version == "" {
		kind, _ = doc["type"].(string)
		return kind
	}
	group, _, _ := strings.Cut(version, "/")
	if group == "kuma.io" {
		return kind
	}
	kind += " of " + group
	if same, ok := sameSchema[kind]; ok {
		return same
	}
	return kind
}

// isHead reports whether a field says the kind of a document.
func isHead(path, field string) bool {
	return !strings.Contains(path, "spec") && slices.Contains([]string{"apiVersion", "kind", "type"}, field)
}

func rewriteValue(v any, path string, change func(path string, v any) any) any {
	switch v := change(path, v).(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[key] = rewriteValue(value, childPath(path, "."+key, value), change)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = rewriteValue(item, childPath(path, "[]", item), change)
		}
		return out
	default:
		return v
	}
}

// childPath returns the path of a field, or of an item of a list, which has [] behind that of the list. An object that
// has one of several forms has its form behind the path, as in when[]<source.ip>: a dialect reads each form in its own way.
func childPath(path, step string, v any) string {
	path = strings.Replace(path+step, ".specs[]", ".spec", 1)              // Cilium reads both alike,
	path = strings.Replace(path, "Dataplane.spec.net", "Dataplane.net", 1) // and Kuma the two forms of a Dataplane.
	object, _ := v.(map[string]any)
	forms := []string{"operator", "kind", "type"}
	if strings.HasSuffix(path, ".when[]") {
		forms = []string{"key"}
	}
	for _, form := range forms {
		if text, ok := object[form].(string); ok {
			return path + "<" + nameInKey.ReplaceAllString(text, "[]") + ">"
		}
	}
	return path
}

// nameInKey is the header or the claim that the key of a condition names.
var nameInKey = regexp.MustCompile(`\[.*`)
