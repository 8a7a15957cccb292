package lab

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/folder"
	"github.com/meshproof/meshproof/internal/kinds"
	"github.com/meshproof/meshproof/policy/manifest"
)

// ofOtherTool returns a file of one of the folders that cannot be read, and that no cluster takes: kubectl reads no object in it, such as in a
// workflow with the key on, or each object of it states another kind than those that are read, such as in a template of a chart. A tool may make
// manifests of it all the same. With routes, a template of routes of Gateway API is one, too.
func ofOtherTool(roots []string, of file, routes bool) (folder.Source, bool) {
	for _, root := range roots {
		inside, err := filepath.Rel(root, of.path)
		if err != nil || inside == "." || !filepath.IsLocal(inside) || len(of.data) == 0 {
			continue
		}
		if kinds.HasNoObject(of.data) || kinds.MakesOthersAlone(of.data, routes) {
			return folder.Source{Name: inside, Content: fmt.Sprintf("%x", sha256.Sum256(of.data)), Text: string(of.data)}, true
		}
	}
	return folder.Source{}, false
}

// mayHaveRoutes reports whether routes of Gateway API may be policies beside these documents: where some are of Linkerd, a route may lead to a Server, and
// a policy of Gateway API may be about one.
func mayHaveRoutes(read []file) bool {
	return slices.ContainsFunc(read, func(of file) bool {
		return slices.ContainsFunc(of.docs, func(doc manifest.Document) bool {
			head := doc.Type()
			return strings.HasPrefix(head.APIVersion, "policy.linkerd.io/") || head.Kind == "AuthorizationPolicy" && strings.HasPrefix(head.APIVersion, "gateway.networking.")
		})
	})
}
