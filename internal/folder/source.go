package folder

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// dataEndings end the names of files with values for sources, which say nothing where there is no source.
var dataEndings = []string{".cfg", ".conf", ".csv", ".env", ".ini", ".properties", ".toml"}

// Source is a file of which a tool may make manifests, or by which it may apply others than those of the folder.
type Source struct {
	// Name is its path in the folder.
	Name string
	// Content is a text that is another one where the content is, as [Unread] has it.
	Content string
	// Text is what it says, where it is a text: the first MiB at least.
	Text string
}

// sourceEndings end the names of files of which tools make manifests, idleEndings those of copies and of texts for people.
var (
	sourceEndings = []string{".cue", ".dhall", ".erb", ".gotmpl", ".hbs", ".hcl", ".j2", ".jinja", ".jinja2", ".k", ".mustache", ".pkl", ".star", ".tf", ".tfvars", ".tmpl", ".tpl"}
	idleEndings   = []string{".adoc", ".bak", ".disabled", ".html", ".markdown", ".md", ".old", ".orig", ".rej", ".rst", ".sum", ".svg", ".swp"}
)

// Sources returns the files of a folder of which a tool may make manifests, and which neither [Files] nor [ToolFiles]
// returns: templates such as policy.yaml.tpl, and programs and scripts that have a manifest in them, name one of the kinds, or call a
// program that applies manifests. Beside one of these, files with values such as prod.env are sources too. Those of Git are none. Each file is read once.
func Sources(path string, kinds []string) (out []Source, err error) {
	if info, err := os.Stat(path); path == Stdin || err != nil || !info.IsDir() {
		return nil, nil
	}
	found, err := files(path, func(file string) bool {
		isRead := isManifest(file) || isManifest(strings.ToLower(file)) || isTemplate(file) || slices.Contains(toolFiles, filepath.Base(file))
		return !isRead && !isOfGit(path, file) && !slices.Contains(idleEndings, strings.ToLower(filepath.Ext(file)))
	})
	words := wordsOf(kinds)
	var data []Source
	for _, file := range found {
		inside, err := filepath.Rel(path, file)
		if err != nil {
			continue
		}
		named, isData := isSource(file), slices.Contains(dataEndings, strings.ToLower(filepath.Ext(file)))
		source, says, err := look(file, words, named || isData)
		source.Name = inside
		if named && err != nil {
			return nil, err
		}
		if named || says {
			out = append(out, source)
		} else if isData && err == nil {
			data = append(data, source)
		}
	}
	if len(out) > 0 {
		out = append(out, data...)
	}
	return out, err
}

// isSource reports whether the name of a file is that of a source.
func isSource(file string) bool {
	name := strings.ToLower(filepath.Base(file))
	ending := filepath.Ext(name)
	return slices.Contains(sourceEndings, ending) || isManifest(strings.TrimSuffix(name, ending)) // such as policy.yaml.enc
}

// words are what a source says: the version of an object, or the type of one of Kuma in its universal form, as a manifest, a program
// or a script writes it, a call of a program that applies manifests, or one of some kinds.
type words []word

// word is one of them. Its expression is asked where the text has one of the keys, which are found much faster.
type word struct {
	keys       []string
	expression *regexp.Regexp
}

func wordsOf(kinds []string) words {
	tools := []string{"kubectl", "kumactl", "istioctl", "helm", "helmfile", "kustomize", "kapp"}
	out := words{
		{[]string{"apiVersion"}, regexp.MustCompile(`apiVersion["']?\s*[:=]\s*["']?[a-z0-9.-]+/v[0-9]`)},
		{[]string{"Mesh"}, regexp.MustCompile(`\btype["']?\s*[:=]\s*["']?Mesh[A-Z]`)},
		{tools, regexp.MustCompile(`\b(` + strings.Join(tools, "|") + `)["']?[\s,]+["']?[-a-z$]`)},
		{[]string{"oc "}, regexp.MustCompile(`\boc (apply|create|process|replace)\b`)},
	}
	for _, kind := range kinds {
		out = append(out, word{[]string{kind}, regexp.MustCompile(`\b` + regexp.QuoteMeta(kind) + `\b`)})
	}
	return out
}

// standIn reports whether one of the words is in a text.
func (w words) standIn(text []byte) bool {
	return slices.ContainsFunc(w, func(one word) bool {
		return slices.ContainsFunc(one.keys, func(key string) bool { return bytes.Contains(text, []byte(key)) }) && one.expression.Match(text)
	})
}

// A file is read in parts; longest is the most that a word may have on both sides of the border of two.
const (
	partSize = 1 << 20
	longest  = 256
)

// look returns what stands for the content of a regular file, of any size, and whether it is a text that says one of the words: it
// has no byte that no text has. Where the content is not wanted, it ends at such a byte. The source is empty for what is no regular file.
func look(path string, says words, wanted bool) (of Source, found bool, err error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return Source{}, false, nil
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return Source{}, false, err
	}
	defer file.Close()
	sum, isText := sha256.New(), true
	part := make([]byte, 0, partSize+longest)
	for begin := true; ; begin = false {
		kept := max(0, len(part)-longest)
		part = part[:copy(part, part[kept:])]
		n, err := io.ReadFull(file, part[len(part):len(part)+partSize])
		sum.Write(part[len(part) : len(part)+n])
		part = part[:len(part)+n]
		isText = isText && !bytes.Contains(part, []byte{0})
		found = found || isText && says.standIn(part)
		if begin && isText {
			of.Text = string(part)
		}
		switch {
		case !isText && !wanted:
			return Source{}, false, nil
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			of.Content = fmt.Sprintf("%x", sum.Sum(nil))
			return of, found && isText, nil
		case err != nil:
			return Source{}, false, err
		}
	}
}
