package lab

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"

	"github.com/meshproof/meshproof/internal/folder"
	"github.com/meshproof/meshproof/internal/kinds"
)

// ofOtherTool returns a file of one of the folders that cannot be read, and that no cluster takes: kubectl reads no object in it, such as in a
// workflow with the key on, or each object of it states another kind than those that are read, such as in a template of a chart. A tool may make
// manifests of it all the same.
func ofOtherTool(roots []string, of file) (folder.Source, bool) {
	for _, root := range roots {
		inside, err := filepath.Rel(root, of.path)
		if err != nil || inside == "." || !filepath.IsLocal(inside) || len(of.data) == 0 {
			continue
		}
		if kinds.HasNoObject(of.data) || kinds.MakesOthersAlone(of.data) {
			return folder.Source{Name: inside, Content: fmt.Sprintf("%x", sha256.Sum256(of.data)), Text: string(of.data)}, true
		}
	}
	return folder.Source{}, false
}
