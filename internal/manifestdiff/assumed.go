package manifestdiff

import (
	"maps"
	"slices"

	"github.com/meshproof/meshproof/internal/assumption"
	"github.com/meshproof/meshproof/internal/clusterobject"
)

// compareAssumed names settings of a mesh of which another value is taken, where the policies with which they decide have
// changed.
func (c *comparison) compareAssumed(before, after clusterobject.List) (out []Change) {
	stated := assumption.Options{c.old.Options, c.recent.Options}
	for _, found := range assumption.Find(before, after, slices.Concat(c.recentObjects.All, c.oldObjects.All), c.unreadTexts(), stated) {
		out = append(out, Change{found.Place, found.Object, "is not read, and policies have changed: " + found.Advice})
	}
	return out
}

// unreadTexts returns the texts of both sides that are not read. One that is as before is there once.
func (c *comparison) unreadTexts() (out []assumption.Text) {
	for _, name := range slices.Sorted(maps.Keys(c.recent.Texts)) {
		out = append(out, assumption.Text{Name: name, Content: c.recent.Texts[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(c.old.Texts)) {
		if text := c.old.Texts[name]; text != c.recent.Texts[name] {
			out = append(out, assumption.Text{Name: name, Content: text})
		}
	}
	return out
}
