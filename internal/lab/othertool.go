package lab

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"github.com/meshproof/meshproof/internal/folder"
	"github.com/meshproof/meshproof/internal/kinds"
)

// ofOtherTool returns a file of one of the folders that cannot be read, and that no cluster takes: kubectl reads no object in it, such as in a
// workflow with the key on, or it is a template of a chart for other objects than those that are read. A tool may make manifests of it all the same.
func ofOtherTool(roots []string, of file) (folder.Source, bool) {
	for _, root := range roots {
		inside, err := filepath.Rel(root, of.path)
		if err != nil || inside == "." || !filepath.IsLocal(inside) || len(of.data) == 0 {
			continue
		}
		if kinds.HasNoObject(of.data) || isOfChart(root, inside) && kinds.MakesOthersAlone(of.data) {
			return folder.Source{Name: inside, Content: fmt.Sprintf("%x", sha256.Sum256(of.data))}, true
		}
	}
	return folder.Source{}, false
}

// isOfChart reports whether a file below a folder is a template of a chart of Helm: it is in or below a folder templates beside a Chart.yaml.
func isOfChart(root, inside string) bool {
	for dir := filepath.Dir(inside); dir != "."; dir = filepath.Dir(dir) {
		if filepath.Base(dir) != "templates" {
			continue
		}
		if _, err := os.Stat(filepath.Join(root, filepath.Dir(dir), "Chart.yaml")); err == nil {
			return true
		}
	}
	return false
}
