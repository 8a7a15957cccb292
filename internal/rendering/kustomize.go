package rendering

import (
	"path/filepath"
	"strings"

	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/policy/manifest"
)

// IsKustomization reports whether a document tells Kustomize what to apply. Kustomize knows its own file by the
// name, and needs neither a kind nor a version in it (FixKustomizationPostUnmarshalling in api/types/kustomization.go).
func IsKustomization(doc manifest.Document) bool {
	head := doc.Type()
	group, _, _ := strings.Cut(head.APIVersion, "/")
	isPlain := head.Type == "" && head.APIVersion == "" && (head.Kind == "" || head.Kind == "Kustomization" || head.Kind == "Component")
	return group == "kustomize.config.k8s.io" || isPlain && IsKustomizationFile(metadata.FileOf(doc))
}

// IsKustomizationFile reports whether a file has a name under which Kustomize looks for its own.
func IsKustomizationFile(name string) bool {
	base := filepath.Base(name)
	return strings.EqualFold(strings.TrimSuffix(base, filepath.Ext(base)), "kustomization")
}
