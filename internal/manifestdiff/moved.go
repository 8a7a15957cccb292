package manifestdiff

import (
	"path/filepath"
	"regexp"
	"slices"

	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/policy/manifest"
)

// isMoved says of an object of both sides that it is in other folders of them. Tools apply folders: kubectl takes no
// folder below the one that it is given, unless it is told to, and others take one folder for each cluster.
const isMoved = "is in another folder than before, or in a file whose name a tool takes for its own: a tool may apply it no more, or elsewhere"

// taken are names of files that tools read for themselves. Such a tool applies nothing of what stands there, and Argo CD takes
// a folder with some of them for a chart.
var taken = regexp.MustCompile(`(?i)^([._].*|(kustomization|chart|values\S*|requirements|fleet|helmfile|skaffold|werf|qbec|kptfile|cloudbuild|appveyor|codeship-\S*)(\.(ya?ml|json))?)$`)

func isTaken(name string) bool { return taken.MatchString(name) }

// compareFolders names the policies, and what nothing is known of, that have moved to another folder. Others pass.
func (c *comparison) compareFolders() (out []Change) {
	if c.old.Root == "" || c.recent.Root == "" {
		return nil
	}
	type place struct {
		doc     manifest.Document
		folders []string
	}
	byKey := func(side Side) (map[string]place, []string) {
		out, keys := map[string]place{}, []string{}
		for _, doc := range side.Placed {
			key := objectOf(doc).key
			p, found := out[key]
			if !found {
				p.doc, keys = doc, append(keys, key)
			}
			folder, err := filepath.Rel(side.Root, filepath.Dir(metadata.FileOf(doc)))
			if err != nil {
				folder = metadata.FileOf(doc)
			}
			if name := filepath.Base(metadata.FileOf(doc)); isTaken(name) {
				folder = filepath.Join(folder, name)
			}
			p.folders = append(p.folders, folder)
			out[key] = p
		}
		return out, keys
	}
	olds, _ := byKey(c.old)
	recents, keys := byKey(c.recent)
	for _, key := range keys {
		was, found := olds[key]
		is := recents[key]
		slices.Sort(was.folders)
		slices.Sort(is.folders)
		if !found || slices.Equal(slices.Compact(was.folders), slices.Compact(is.folders)) {
			continue
		}
		if o := objectOf(is.doc); o.category == unknown && o.kind != "Dataplane" && !c.isHarmless([]object{o}, c.recents, c.olds) {
			out = append(out, o.change(isMoved))
		} else {
			c.moved = append(c.moved, Passed{Place: is.doc.Place(""), Object: o.String(), Effect: isMoved})
		}
	}
	return out
}
