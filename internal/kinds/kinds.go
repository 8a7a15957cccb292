// Package kinds tells the documents that meshproof reads from those of other tools, which lie
// in the same folders and lists.
//
// It guarantees that no policy is left out because its kind is misspelt. It reads no field
// but the kind.
package kinds

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/dataplane"
	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/internal/rendering"
	"github.com/meshproof/meshproof/internal/spelling"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Others are documents of other kinds.
type Others []manifest.Document

// String counts the documents of each kind, as in "2 Deployment, 1 Service".
func (o Others) String() string {
	counts := map[string]int{}
	for _, doc := range o {
		counts[name(doc)]++
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[kind], kind))
	}
	return strings.Join(parts, ", ")
}

// Refusals are errors, joined, one line for each document.
func (o Others) Refusals() error {
	var errs []error
	for _, doc := range o {
		kind := name(doc)
		if kind != withoutKind {
			kind = "of kind " + kind
		}
		errs = append(errs, doc.Errorf("", "a document %s is neither a policy nor a Dataplane", kind))
	}
	return errors.Join(errs...)
}

const withoutKind = "without a kind"

func name(doc manifest.Document) string {
	head := doc.Type()
	return cmp.Or(head.Type, head.Kind, withoutKind)
}

// Split returns the policies and Dataplanes among the documents of a file, and the documents of
// other kinds. Its error joins the errors of documents that may be a misspelt policy or Dataplane,
// one line each.
func Split(file string, docs []manifest.Document) (own []manifest.Document, others Others, err error) {
	dialects := dialects.Having[language.Dialect]()
	var errs []error
	for _, doc := range docs {
		switch head := doc.Type(); {
		case dataplane.Owns(doc) || slices.ContainsFunc(dialects, func(d language.Dialect) bool { return d.Owns(doc) }):
			own = append(own, doc)
		case head.Type == predecessor, head.Kind == predecessor && group(head) == "kuma.io":
			errs = append(errs, doc.Errorf("", "kind %q is not read: meshproof knows its successor, MeshTrafficPermission: take it out of the files", predecessor))
		case hidden(doc, head, dialects) != "":
			errs = append(errs, doc.Errorf("type", "%q is a kind that meshproof reads, and apiVersion and kind say %s %s: give the document one kind", hidden(doc, head, dialects), head.APIVersion, head.Kind))
		case head == (manifest.Head{}) && (isOfOtherTool(file) || isNoObject(doc)) || isValue(doc, head, dialects) || isOtherForm(doc, head, dialects) || isSpecOfOthers(doc, head, dialects):
			others = append(others, doc)
		case head.Type == "" && (head.APIVersion == "" || head.Kind == "") || isMisspelt(head, kindsOf(dialects)):
			_, err := dialect.Parse([]manifest.Document{doc}, language.Options{})
			errs = append(errs, err)
		case isMisspelt(head, dataplane.Kinds):
			errs = append(errs, doc.Errorf("", "kind %q is unknown: did you mean %s?", name(doc), dataplane.Kind))
		default:
			others = append(others, doc)
		}
	}
	return own, others, errors.Join(errs...)
}

// predecessor is Kuma's kind before MeshTrafficPermission. It decides too, so that it is not
// left out.
const predecessor = "TrafficPermission"

// hidden returns the kind of a policy or a Dataplane that a Kubernetes object of another kind has as its
// type; "" for none. Kubernetes and kumactl may read such a document as two things.
func hidden(doc manifest.Document, head manifest.Head, dialects []language.Dialect) string {
	var typed string
	if at, ok := doc.Lookup("type"); head.Type != "" || !ok || at.Decode(&typed) != nil {
		return ""
	}
	if typed == predecessor || slices.Contains(readKinds(dialects), manifest.Head{Type: typed}) {
		return typed
	}
	return ""
}

// isOfOtherTool reports whether a file may have documents without a kind. Kustomize needs none
// in its own file, and JSON is what many tools write.
func isOfOtherTool(file string) bool {
	base := filepath.Base(file)
	return filepath.Ext(base) == ".json" || rendering.IsKustomizationFile(file)
}

// objectKeys are keys that a policy has, in one form or the other. A document with none of these, however they are spelt, is no
// policy that lost its kind: a file with values, a workflow, a patch in JSON.
var objectKeys = []string{"apiVersion", "kind", "type", "spec", "items"}

// caseKeys are keys at the top of a case. A case with a mistake is refused, as nobody would ask for what it wants.
var caseKeys = []string{"case", "requests"}

// objectKey finds such a key in a text that no reader takes, marginKey one of a case or of a kind at the margin, and kindKey those whose value says what the object is.
var (
	objectKey = regexp.MustCompile(`(?i)\b(` + strings.Join(slices.DeleteFunc(slices.Clone(objectKeys), isKindKey), "|") + `)["']?\s*:`)
	kindKey   = regexp.MustCompile(`(?i)\b(?:kind|type)["']?\s*:[ \t]*["']?([a-z][\w.-]*)?`)
	marginKey = regexp.MustCompile(`(?mi)^[{"']*(` + strings.Join(slices.Concat(caseKeys, []string{"kind", "type"}), "|") + `)["']?\s*:`)
)

func isKindKey(key string) bool { return key == "kind" || key == "type" }

// otherWords are keys of other tools that are spelt almost as an object's, such as that of a task of Ansible.
var otherWords = []string{"bind", "find"}

// statesNoKind reports whether each kind and each type in a text that no reader takes is a word, and not spelt as one that is read.
func statesNoKind(text []byte) bool {
	var known []string
	for _, head := range readKinds(dialects.Having[language.Dialect]()) {
		known = append(known, cmp.Or(head.Type, head.Kind))
	}
	return !slices.ContainsFunc(kindKey.FindAllSubmatch(text, -1), func(found [][]byte) bool {
		_, close := spelling.Closest(string(found[1]), known)
		return len(found[1]) == 0 || close
	})
}

func mayBeObject(keys []string) bool {
	return slices.ContainsFunc(keys, func(key string) bool {
		_, close := spelling.Closest(key, objectKeys)
		return close && !slices.Contains(otherWords, key) || slices.Contains(caseKeys, strings.ToLower(key))
	})
}

func isNoObject(doc manifest.Document) bool {
	all, ok := doc.HeadKeys()
	return ok && !slices.ContainsFunc(all, mayBeObject)
}

// isValue reports whether a document has a kind alone, such as the values of a chart that asks which kind it makes, and no kind that is read.
func isValue(doc manifest.Document, head manifest.Head, dialects []language.Dialect) bool {
	return head.Type == "" && head.APIVersion == "" && head.Kind != "" && isNoObject(doc.WithoutKey("kind")) &&
		!slices.ContainsFunc(readKinds(dialects), func(known manifest.Head) bool {
			_, close := spelling.Closest(head.Kind, []string{cmp.Or(known.Kind, known.Type)})
			return close
		})
}

// specFields returns the fields in the spec of a policy, of a Dataplane, and of what else is read. It reports false where a dialect does not say its own.
func specFields(dialects []language.Dialect) (out []string, known bool) {
	out = slices.Concat(objectKeys, dataplane.SpecFields())
	for _, d := range dialects {
		of, ok := d.(capability.Specified)
		if !ok {
			return nil, false
		}
		out = append(out, of.SpecFields()...)
	}
	return out, true
}

// isSpecOfOthers reports whether a document without a kind has a spec that no policy has, however its keys are spelt: a patch, or what kubectl run takes for a pod.
func isSpecOfOthers(doc manifest.Document, head manifest.Head, dialects []language.Dialect) bool {
	spec, has := doc.Lookup("spec")
	rest := doc.WithoutKey("spec").WithoutKey("apiVersion")
	if !has || head.Type != "" || head.Kind != "" || isOfPolicies(group(head), dialects) || len(rest.Keys()) > 0 && !isNoObject(rest) {
		return false
	}
	fields, known := specFields(dialects)
	keys := spec.Keys()
	return known && len(keys) > 0 && !slices.ContainsFunc(keys, func(key string) bool { _, close := spelling.Closest(key, fields); return close })
}

// isOfPolicies reports whether a group is one of policies, however it is spelt.
func isOfPolicies(of string, dialects []language.Dialect) bool {
	return slices.ContainsFunc(readKinds(dialects), func(known manifest.Head) bool {
		_, close := spelling.Closest(of, []string{group(known)})
		return known.APIVersion != "" && close
	})
}

// isOtherForm reports whether a document with an apiVersion is of a tool's own form, such as the Chart.yaml of Helm or the sources of Grafana: it has
// nothing else that an object has, and its group is none of those of policies, however it is spelt.
func isOtherForm(doc manifest.Document, head manifest.Head, dialects []language.Dialect) bool {
	return head.Type == "" && head.Kind == "" && isNoObject(doc.WithoutKey("apiVersion")) && !isOfPolicies(group(head), dialects)
}

// HasNoObject reports whether no document of data may be a policy, another object or a case, as kubectl reads them. Where it does not read them, no
// such key may stand in the text but a kind or a type within something else, and none of those which are read, and no instruction of a template may write at its margin.
func HasNoObject(data []byte) bool {
	all, ok := manifest.HeadKeys(data)
	if !ok {
		return !objectKey.Match(data) && statesNoKind(data) && !marginKey.Match(data) && !writesAtMargin(data)
	}
	return !slices.ContainsFunc(all, mayBeObject)
}

func kindsOf(dialects []language.Dialect) []manifest.Head {
	var known []manifest.Head
	for _, d := range dialects {
		known = append(known, d.Kinds()...)
	}
	return known
}

// readKinds are the kinds of policies, and of Dataplanes.
func readKinds(dialects []language.Dialect) []manifest.Head {
	return slices.Concat(kindsOf(dialects), dataplane.Kinds)
}

// Known returns the names of the kinds of policies, each once, in the order of the dialects.
func Known() (names []string) {
	for _, head := range kindsOf(dialects.Having[language.Dialect]()) {
		if name := cmp.Or(head.Type, head.Kind); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// isMisspelt reports whether a kind may mean one of the known kinds. The kind of an object
// may belong to another tool, so that its group has to be close too, unless the kind is
// spelt right.
func isMisspelt(head manifest.Head, known []manifest.Head) bool {
	close := func(a, b string) bool { _, ok := spelling.Closest(a, []string{b}); return ok }
	return slices.ContainsFunc(known, func(k manifest.Head) bool {
		switch {
		case head.Type != "" || k.Type != "":
			return close(head.Type, k.Type)
		case head.Kind == k.Kind:
			return true
		default:
			return close(head.Kind, k.Kind) && close(group(head), group(k))
		}
	})
}

func group(head manifest.Head) string {
	group, _, _ := strings.Cut(head.APIVersion, "/")
	return group
}
