package cases

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/folder"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Load reads case files. Each path is a file, or a folder with files that end in .yaml
// or .yml, at any depth, or - for standard input. A file that ends in .YAML is an error, and so is a
// link to a folder within a folder. A file that several paths lead to counts once. The error joins
// all errors, one line each. It is an error if there is no case, or if two cases have
// the same name.
func Load(paths ...string) ([]Case, error) {
	var files []string
	seen := map[string]bool{}
	for _, path := range paths {
		found, err := find(path)
		if err != nil {
			return nil, fmt.Errorf("cases: %w", err)
		}
		for _, file := range found {
			if file == folder.Stdin {
				files = append(files, file)
				continue
			}
			// All paths that lead to one file have the same target.
			target, err := filepath.Abs(file)
			if err == nil {
				target, err = filepath.EvalSymlinks(target)
			}
			if err != nil {
				return nil, fmt.Errorf("cases: %s: %w", file, err)
			}
			if !seen[target] {
				seen[target] = true
				files = append(files, filepath.Clean(file))
			}
		}
	}
	if len(files) == 0 {
		return nil, errors.New("cases: no path was given")
	}
	return read(files, folder.Read)
}

func find(path string) ([]string, error) {
	files, err := folder.YAML(path)
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s: there is no case file: name a .yaml file, or a folder with some", path)
	}
	if err != nil {
		return nil, err
	}
	// A case that is not run is no case that passes.
	passed, err := folder.PassedOver(path)
	for _, file := range passed {
		if ending := filepath.Ext(file); err == nil && !strings.EqualFold(ending, ".json") {
			err = fmt.Errorf("%s: the file is not read by its name: end it in .yaml or .yml, and name a folder behind a link by itself", file)
		}
	}
	return files, err
}

func read(files []string, readFile func(string) ([]byte, error)) ([]Case, error) {
	var out []Case
	var errs []error
	for _, file := range files {
		data, err := readFile(file)
		if err != nil {
			errs = append(errs, fmt.Errorf("cases: %w", err))
			continue
		}
		cases, err := Parse(file, data)
		out = append(out, cases...)
		errs = append(errs, err)
	}
	errs = append(errs, unique(out))
	if err := joined(errs); err != nil {
		return nil, err
	}
	return out, nil
}

// Parse reads the cases of one file. The name is for the errors, and the files that a case
// names lie in its folder or below. The error joins all
// errors, one line each; documents that are no cases have one line.
func Parse(file string, data []byte) ([]Case, error) {
	docs, err := manifest.Parse(file, data)
	if err != nil {
		return nil, fmt.Errorf("cases: %w", err)
	}
	return Read(file, data, docs)
}

// Read is [Parse] for a file whose documents are parsed already.
func Read(file string, data []byte, docs []manifest.Document) ([]Case, error) {
	if len(docs) == 0 {
		return nil, fmt.Errorf("cases: %s: the file has no case", file)
	}
	var out []Case
	var errs []error
	sources := sources(data, docs)
	for i, doc := range docs {
		c, err := build(doc, filepath.Dir(file))
		if strange := (*strangeError)(nil); errors.As(err, &strange) {
			errs = append(errs, err)
			continue
		} else if err != nil {
			errs = append(errs, fmt.Errorf("cases: %w", err))
			continue
		}
		// The policies of files are added by build.
		c.Source = sources[i] + c.Source
		out = append(out, c)
	}
	return out, joined(errs)
}

// unique refuses two cases of one name: the name selects the case that is to run again.
func unique(cases []Case) error {
	seen := map[string]string{}
	var errs []error
	for _, c := range cases {
		if first, ok := seen[c.Name]; ok {
			errs = append(errs, fmt.Errorf("cases: %s: case %q is already defined at %s: give it another name", c.Place, c.Name, first))
			continue
		}
		seen[c.Name] = c.Place
	}
	return errors.Join(errs...)
}

// sources cuts a file into the texts of its documents. A marker ("---") belongs to no
// document. A comment belongs to the document that follows.
func sources(data []byte, docs []manifest.Document) []string {
	out := make([]string, len(docs))
	var text strings.Builder
	next, line := 0, 0
	end := func() {
		// A part of comments alone is no document: it goes with the next.
		if next < len(docs) && docs[next].Line() <= line {
			out[next] = strings.TrimSpace(text.String()) + "\n"
			text.Reset()
			next++
		}
	}
	for raw := range bytes.Lines(data) {
		if rest, ok := bytes.CutPrefix(raw, []byte("---")); ok && (len(rest) == 0 || bytes.ContainsAny(rest[:1], " \t\r\n")) {
			end()
			line++
			text.Write(bytes.TrimLeft(rest, " \t\r\n"))
			continue
		}
		line++
		text.Write(raw)
	}
	end()
	return out
}

//go:embed advisories/*.yaml cilium/*.yaml gateway/*.yaml istio/*.yaml kuma/*.yaml linkerd/*.yaml
var embedded embed.FS

func init() { casefile.Embedded = embedded }

// Stories returns the built-in cases, in the order of their files: the user stories of
// each dialect, and traps. A place is "cases/kuma/mesh-operator-1.yaml:1", a path from
// the root of the module. The cases are read once. A caller may change the list, but not what a
// case refers to. An error is a defect of the build.
func Stories() ([]Case, error) {
	all, err := stories()
	return slices.Clone(all), err
}

var stories = sync.OnceValues(func() ([]Case, error) {
	const folder = "cases"
	files, err := fs.Glob(embedded, "*/*.yaml")
	if err != nil {
		return nil, err
	}
	for i := range files {
		files[i] = path.Join(folder, files[i])
	}
	return read(files, func(name string) ([]byte, error) { return embedded.ReadFile(name[len(folder)+1:]) })
})
