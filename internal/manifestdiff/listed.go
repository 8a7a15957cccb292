package manifestdiff

import (
	"maps"
	"path"
	"path/filepath"
	"regexp"
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
	scripts, named := slices.Sorted(maps.Keys(texts)), map[string]namedFiles{}
	for by, text := range texts {
		named[by] = filesNamedIn(text)
	}
	for _, name := range names {
		var beside []string
		for other := range known {
			if filepath.Dir(other) == filepath.Dir(name) {
				beside = append(beside, filepath.Base(other))
			}
		}
		i := slices.IndexFunc(scripts, func(by string) bool {
			folders := named[by].foldersOf(filepath.Base(name), false)
			return slices.ContainsFunc(beside, func(other string) bool {
				return slices.ContainsFunc(named[by].foldersOf(other, true), func(folder string) bool { return !slices.Contains(folders, folder) })
			})
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

// namedFiles are the names of files in a text, as they stand there, with wildcards too: those of its comments, and all others.
type namedFiles struct{ ofComments, ofRest []string }

var (
	// choice is a part of a name in braces, of which a shell makes several names.
	choice = regexp.MustCompile("([^\\s\"'`=;:{}]*)\\{([^{}\\s]*,[^{}\\s]*)\\}([^\\s\"'`=;:{}]*)")
	// besideNames parts the names in a text.
	besideNames = regexp.MustCompile("[\\s\"'`=:;,()<>|&\\[\\]]+")
	comment     = regexp.MustCompile(`(?m)^\s*(#|//).*$`)
)

// filesNamedIn returns what may be names of files in a text.
func filesNamedIn(text string) namedFiles {
	names := func(text string) []string {
		text = choice.ReplaceAllStringFunc(text, func(found string) string {
			parts := choice.FindStringSubmatch(found)
			return parts[1] + strings.Join(strings.Split(parts[2], ","), parts[3]+" "+parts[1]) + parts[3]
		})
		return slices.DeleteFunc(besideNames.Split(text, -1), func(name string) bool { return !strings.Contains(name, ".") && !strings.ContainsAny(name, "*?") })
	}
	return namedFiles{names(strings.Join(comment.FindAllString(text, -1), "\n")), names(comment.ReplaceAllString(text, ""))}
}

// foldersOf returns the folders in which a text has a file of some name, as they stand there. A comment applies nothing: it counts where that is asked for.
func (f namedFiles) foldersOf(name string, comments bool) (out []string) {
	all := f.ofRest
	if comments {
		all = slices.Concat(all, f.ofComments)
	}
	for _, one := range all {
		if matches, err := path.Match(path.Base(one), name); matches && err == nil {
			out = append(out, path.Dir(one))
		}
	}
	return out
}
