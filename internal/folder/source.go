package folder

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// sourceEndings end the names of files of which tools make manifests, idleEndings those of copies and of texts for people.
var (
	sourceEndings = []string{".cue", ".dhall", ".erb", ".gotmpl", ".hbs", ".hcl", ".j2", ".jinja", ".jinja2", ".k", ".mustache", ".pkl", ".star", ".tf", ".tmpl", ".tpl"}
	idleEndings   = []string{".adoc", ".bak", ".disabled", ".html", ".markdown", ".md", ".old", ".orig", ".rej", ".rst", ".sum", ".svg", ".swp"}
)

// Sources returns the files of a folder, as paths in it, of which a tool may make manifests, and which neither [Files] nor [ToolFiles]
// returns: templates such as policy.yaml.tpl, and programs and scripts that have a manifest in them. Those of Git are none.
func Sources(path string) (out []string, err error) {
	if info, err := os.Stat(path); path == Stdin || err != nil || !info.IsDir() {
		return nil, nil
	}
	found, err := files(path, func(file string) bool {
		isRead := isManifest(file) || isManifest(strings.ToLower(file)) || isTemplate(file) || slices.Contains(toolFiles, filepath.Base(file))
		return !isRead && !isOfGit(path, file) && isSource(file)
	})
	for _, file := range found {
		if inside, err := filepath.Rel(path, file); err == nil {
			out = append(out, inside)
		}
	}
	return out, err
}

func isSource(file string) bool {
	name := strings.ToLower(filepath.Base(file))
	ending := filepath.Ext(name)
	isManifestOf := isManifest(strings.TrimSuffix(name, ending)) // such as policy.yaml.enc
	return !slices.Contains(idleEndings, ending) && (slices.Contains(sourceEndings, ending) || isManifestOf || hasManifest(file))
}

// written is the version of an object, or the type of one of Kuma in its universal form, as a manifest, a program or a script writes it.
var written = regexp.MustCompile(`apiVersion["']?\s*[:=]\s*["']?[a-z0-9.-]+/v[0-9]|\btype["']?\s*[:=]\s*["']?Mesh[A-Z]`)

// mostLooked is how much of a file is looked at for a manifest.
const mostLooked = 1 << 20

// hasManifest reports whether a regular file has the version or the type of an object in its first part, and no byte that no text has.
func hasManifest(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, mostLooked))
	return err == nil && !bytes.Contains(data, []byte{0}) && written.Match(data)
}
