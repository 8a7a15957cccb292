package manifestdiff

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/delivery"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/metadata"
)

// byScript doubts the policies of a new file, where a script or another text that is not read names a file of policies beside it, and not this one: it
// may apply what it names alone.
func (c *comparison) byScript(d doubter) (out []Doubt) {
	filesOf := func(side Side) map[string]bool {
		files := map[string]bool{}
		for _, doc := range side.Policies {
			files[delivery.PathIn(side.Root, metadata.FileOf(doc))] = true
		}
		return files
	}
	known := filesOf(c.old)
	names, groups := d.groups(func(p placedPolicy) string {
		file := delivery.PathIn(c.recent.Root, p.File())
		if known[file] || c.old.Root == "" || c.recent.Root == "" {
			return ""
		}
		return file
	})
	if len(names) == 0 {
		return nil
	}
	texts := c.scripts()
	scripts := slices.Sorted(maps.Keys(texts))
	for _, name := range names {
		var beside []string
		for other := range known {
			if filepath.Dir(other) == filepath.Dir(name) {
				beside = append(beside, filepath.Base(other))
			}
		}
		i := slices.IndexFunc(scripts, func(by string) bool {
			return slices.ContainsFunc(beside, func(other string) bool { return hasFileName(texts[by], other) }) && !hasFileName(texts[by], filepath.Base(name))
		})
		if i >= 0 {
			out = append(out, doubtOf(groups[name], scripts[i]+" names a file beside "+name+", and not this one"))
		}
	}
	return out
}

// scripts returns the texts of the second side that are not read, by their files: those of scripts and programs, and the values of documents that are no
// objects of a cluster, or unknown ones.
func (c *comparison) scripts() map[string]string {
	if c.allScripts != nil {
		return c.allScripts
	}
	out := map[string]string{}
	maps.Copy(out, c.recent.Texts)
	for _, o := range c.recentObjects.All {
		if o.Category != clusterobject.Unknown || o.IsOfTool() || o.IsOfKustomize() {
			continue
		}
		var text strings.Builder
		fieldvalue.EachText(o.Fields, func(value string) { text.WriteString(value + "\n") })
		out[delivery.PathIn(c.recent.Root, o.File())] += text.String()
	}
	c.allScripts = out
	return out
}

// hasFileName reports whether a text has the name of a file, and not as the end of another name.
func hasFileName(text, name string) bool {
	for {
		before, behind, found := strings.Cut(text, name)
		if !found {
			return false
		}
		if before == "" || !strings.ContainsAny(before[len(before)-1:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") {
			return true
		}
		text = behind
	}
}
