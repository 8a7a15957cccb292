package manifestdiff

import (
	"path/filepath"
	"slices"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/delivery"
	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/internal/rendering"
	"github.com/meshproof/meshproof/policy/manifest"
)

// isMoved says of an object of both sides that it is in other folders of them. Tools apply folders: kubectl takes no
// folder below the one that it is given, unless it is told to, and others take one folder for each cluster. Some files they know by the name.
const isMoved = "is in another folder than before, or in another file that a tool may know by its name: a tool may apply it no more, or elsewhere"

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
			key := clusterobject.Read(doc).Key
			p, found := out[key]
			if !found {
				p.doc, keys = doc, append(keys, key)
			}
			folder := delivery.DirOf(side.Root, doc)
			// Values for one cluster mean something else in a file for another one.
			if name := filepath.Base(metadata.FileOf(doc)); rendering.IsTakenFile(name) || clusterobject.Read(doc).IsNone() {
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
		if o := clusterobject.Read(is.doc); o.Category == clusterobject.Unknown && o.Kind != "Dataplane" && !c.isHarmless([]clusterobject.Object{o}, c.recents, c.olds) {
			out = append(out, changeOf(o, isMoved))
		} else {
			c.moved = append(c.moved, Passed{Place: is.doc.Place(""), Object: o.String(), Effect: isMoved})
		}
	}
	return out
}
