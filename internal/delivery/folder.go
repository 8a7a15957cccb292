// Package delivery reads how tools take the manifests of a folder: which files Flux and Argo CD take, what a kustomization names, and
// which clusters the names of folders tell apart.
//
// It guarantees that a file counts as applied unless a tool or its path says otherwise; one of doubt is applied. It renders
// nothing, and asks no repository beside the folder.
package delivery

import (
	"cmp"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/internal/rendering"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Folder is a folder with manifests that tools may take: one side of a comparison.
type Folder struct {
	// Root is the path of the folder, "" where there is none.
	Root string
	// Placed are the documents that stand in files of the folder. Policies are read by a dialect, and Others are not.
	Placed, Policies, Others []manifest.Document
	// Files are the contents of the files of tools, by their paths in the folder.
	Files map[string]string
}

// FilesOf returns the files and folders that a kustomization may name, as paths beside it; nil for another
// object. A URL is none of them: it stays what it is as long as the kustomization does.
func FilesOf(o clusterobject.Object) (out []string) {
	if !o.IsOfKustomize() {
		return nil
	}
	var add func(value any)
	add = func(value any) {
		switch value := value.(type) {
		case string:
			if value != "" && !strings.Contains(value, "://") && !strings.ContainsAny(value, "\n?") && !filepath.IsAbs(value) {
				_, file, isPair := strings.Cut(value, "=")
				if !isPair {
					file = value
				}
				out = append(out, filepath.Join(filepath.Dir(o.File()), file))
			}
		case []any:
			for _, item := range value {
				add(item)
			}
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(value)) {
				add(value[key])
			}
		}
	}
	add(o.Fields)
	return out
}

// Kustomizations returns those of a folder. Several folders may have one that is alike, and each is about its own folder.
func (s Folder) Kustomizations() (out []clusterobject.Object) {
	for _, doc := range s.Others {
		if rendering.IsKustomization(doc) {
			out = append(out, clusterobject.Read(doc))
		}
	}
	return out
}

// KustomizationsByDir returns the kustomizations by the folders that they stand in.
func (s Folder) KustomizationsByDir() map[string]clusterobject.Object {
	out := map[string]clusterobject.Object{}
	for _, o := range s.Kustomizations() {
		out[filepath.Dir(o.File())] = o
	}
	return out
}

// PathIn returns the path of a file in a folder.
func PathIn(root, file string) string {
	if inside, err := filepath.Rel(root, file); err == nil {
		return inside
	}
	return file
}

// DirOf returns the folder of a document, as a path in another one.
func DirOf(root string, doc manifest.Document) string {
	return filepath.Dir(PathIn(root, metadata.FileOf(doc)))
}

// partsIn returns the names of the folders and of the file in which a document stands.
func partsIn(root string, doc manifest.Document) []string {
	return strings.Split(PathIn(root, metadata.FileOf(doc)), string(filepath.Separator))
}

// Clean returns a folder as an object writes it, as a path from the root of the repository.
func Clean(at string) string { return cmp.Or(strings.TrimPrefix(path.Clean("/"+at), "/"), ".") }

// Literal returns a folder as an object writes it, as [Clean] does, and of one with a parameter the folder that stands in front of that.
func Literal(at string) string {
	literal := at[:parameterIn(at)]
	if literal != at {
		literal, _ = path.Split(literal)
	}
	return Clean(literal)
}

// parameterIn returns where in the name of a folder or a namespace a parameter of any tool begins, or its length. What is unusual in a name counts as one.
func parameterIn(name string) int {
	unusual := strings.IndexFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-/+~ ", r)
	})
	if unusual < 0 {
		unusual = len(name)
	}
	if placeholder := rendering.PlaceholderIn(name); placeholder != "" {
		return min(unusual, strings.Index(name, placeholder))
	}
	return unusual
}

// IsBelow reports whether a file is in a folder or below it, or is what has the name itself.
func IsBelow(file, folder string) bool { return file == folder || strings.HasPrefix(file, folder+"/") }
