package folder_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/folder"
)

// TestSources has files of which a tool may make manifests, wherever in a file that stands, and others.
func TestSources(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"script": strings.Repeat("#", 1<<20-5) + "apiVersion: v1/v1",
		"far":    strings.Repeat("#\n", 3<<19) + "kind: Gate\n",
		"call":   "kubectl apply -f a.yaml", "args": "['helm', 'template']", "openshift": "oc apply -f a.yaml", "a.tfvars": "", "a.tf": "\x00",
		"text": "Gates, kubectl.", "binary": "kind: Gate\x00", "a.md": "apiVersion: v1/v1", "a.yaml": "kind: Gate",
	} {
		write(t, filepath.Join(dir, name), text)
	}
	values := t.TempDir()
	write(t, filepath.Join(values, "prod.env"), "a=b")
	if found, err := folder.Sources(values, nil); err != nil || len(found) > 0 {
		t.Errorf("%v, %v: there is no source beside the values", found, err)
	}
	write(t, filepath.Join(dir, "prod.env"), "a=b")
	found, err := folder.Sources(dir, []string{"Gate"})
	var names []string
	for _, source := range found {
		names = append(names, source.Name)
		if len(source.Content) != 64 {
			t.Errorf("%s: the content %q", source.Name, source.Content)
		}
	}
	if err != nil || !slices.Equal(names, []string{"a.tf", "a.tfvars", "args", "call", "far", "openshift", "script", "prod.env"}) {
		t.Errorf("%q, %v", names, err)
	}
}
