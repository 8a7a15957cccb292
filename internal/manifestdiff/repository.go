package manifestdiff

import (
	"path/filepath"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// repositoryFiles are files in which a repository says how its own texts are checked, built and shown, by their names without an ending. No tool takes one for
// values or for a patch, unless it is told to.
var repositoryFiles = fieldpath.SetOf(`.codecov .golangci .goreleaser .markdownlint .markdownlint-cli2 .pre-commit-config .pre-commit-hooks .prettierrc .readthedocs .yamlfmt .yamllint
	codecov mkdocs`)

// forgeFiles are those in a folder of a forge, such as .github. Its workflows are none of these: they run programs.
var (
	forgeFiles   = fieldpath.SetOf("CODEOWNERS FUNDING dependabot labeler labels release release-drafter renovate settings stale")
	forgeFolders = fieldpath.SetOf(".gitea .github .forgejo")
)

// isOfRepository reports whether a document is no object, and stands in a file by which a repository is kept.
func isOfRepository(o clusterobject.Object) bool {
	name := strings.TrimSuffix(filepath.Base(o.File()), filepath.Ext(o.File()))
	return o.Kind == "" && o.Version == "" && !o.Universal && !o.IsOfKustomize() && (repositoryFiles[name] || forgeFiles[name] && forgeFolders[filepath.Base(filepath.Dir(o.File()))])
}

// namesFile reports whether a document of either side, or a file of which a tool may make manifests, has the name of the file of an object: it may be read for something else.
func (c *comparison) namesFile(o clusterobject.Object) bool {
	name, found := filepath.Base(o.File()), false
	for _, other := range c.objects() {
		if !isOfRepository(other) {
			fieldvalue.EachText(other.Fields, func(text string) { found = found || strings.Contains(text, name) })
		}
	}
	for _, texts := range []map[string]string{c.old.Texts, c.recent.Texts} {
		for _, text := range texts {
			found = found || strings.Contains(text, name)
		}
	}
	return found
}
