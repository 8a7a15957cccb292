package kinds

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/dataplane"
	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// told finds the fields that an error about an unknown one names.
var told = regexp.MustCompile(`spec\.unheardOf: unknown field: use one of (.*)`)

// TestSpecFields asks the reader of each kind for the fields that it takes, by one that it does not take. Each of them counts as one of a policy.
func TestSpecFields(t *testing.T) {
	t.Parallel()
	all := dialects.Having[language.Dialect]()
	fields, known := specFields(all)
	if !known {
		t.Fatal("a dialect does not say which fields it reads")
	}
	var asked []manifest.Head
	for _, head := range readKinds(all) {
		if head.Type == "" {
			asked = append(asked, head)
		}
	}
	for _, d := range dialects.Having[capability.Sharer]() {
		asked = append(asked, d.SharedKinds()...)
	}
	for _, kind := range strings.Fields("MeshHTTPRoute MeshTCPRoute MeshTimeout MeshService MeshMultiZoneService MeshExternalService") {
		asked = append(asked, manifest.Head{APIVersion: "kuma.io", Kind: kind})
	}
	for _, head := range asked {
		group, _, _ := strings.Cut(head.APIVersion, "/")
		var found []string
		for _, version := range []string{"v1", "v2", "v1alpha1", "v1beta1", "v1beta3"} {
			text := fmt.Sprintf("apiVersion: %s/%s\nkind: %s\nmetadata: {name: a, namespace: b}\nspec: {unheardOf: 1}\n", group, version, head.Kind)
			docs, err := manifest.Parse("a.yaml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if names := told.FindStringSubmatch(fmt.Sprint(readBy(all, docs[0]))); names != nil {
				found = append(found, strings.Split(names[1], ", ")...)
			}
		}
		if len(found) == 0 {
			t.Errorf("nothing says which fields %v has", head)
		}
		for _, field := range found {
			if !slices.Contains(fields, field) {
				t.Errorf("%s of %v is no field of a policy", field, head)
			}
		}
	}
}

// readBy returns the error of what reads a document.
func readBy(all []language.Dialect, doc manifest.Document) error {
	if dataplane.Owns(doc) {
		_, err := dataplane.Parse(doc)
		return err
	}
	for _, r := range dialects.Having[capability.Router]() {
		if r.OwnsRouting(doc) {
			_, err := r.ParseRouting([]manifest.Document{doc}, language.Options{})
			return err
		}
	}
	var errs []string
	for _, d := range all {
		if _, err := d.Parse([]manifest.Document{doc}, language.Options{}); err != nil {
			errs = append(errs, err.Error())
		}
	}
	return fmt.Errorf("%s", cmp.Or(strings.Join(errs, "\n"), "none"))
}
