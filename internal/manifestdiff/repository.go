package manifestdiff

import (
	"path/filepath"
	"slices"
	"strings"
)

// repositoryFiles are files in which a repository says how its own texts are checked, built and shown, by their names without an ending. No tool takes one for
// values or for a patch, unless it is told to.
var repositoryFiles = fields(`.codecov .golangci .goreleaser .markdownlint .markdownlint-cli2 .pre-commit-config .pre-commit-hooks .prettierrc .readthedocs .yamlfmt .yamllint
	codecov mkdocs`)

// forgeFiles are those in a folder of a forge, such as .github. Its workflows are none of these: they run programs.
var (
	forgeFiles   = fields("CODEOWNERS FUNDING dependabot labeler labels release release-drafter renovate settings stale")
	forgeFolders = fields(".gitea .github .forgejo")
)

// isOfRepository reports whether a document is no object, and stands in a file by which a repository is kept.
func (o object) isOfRepository() bool {
	name := strings.TrimSuffix(filepath.Base(o.file()), filepath.Ext(o.file()))
	return o.kind == "" && o.version == "" && !o.universal && !o.isOfKustomize() && (repositoryFiles[name] || forgeFiles[name] && forgeFolders[filepath.Base(filepath.Dir(o.file()))])
}

// namesFile reports whether a document of either side, or a file of which a tool may make manifests, has the name of the file of an object: it may be read for something else.
func (c *comparison) namesFile(o object) bool {
	name, found := filepath.Base(o.file()), false
	for _, other := range slices.Concat(c.oldObjects.all, c.recentObjects.all) {
		if !other.isOfRepository() {
			eachText(other.fields, func(text string) { found = found || strings.Contains(text, name) })
		}
	}
	for _, texts := range []map[string]string{c.old.Texts, c.recent.Texts} {
		for _, text := range texts {
			found = found || strings.Contains(text, name)
		}
	}
	return found
}
