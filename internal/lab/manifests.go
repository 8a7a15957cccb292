package lab

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/dataplane"
	"github.com/meshproof/meshproof/internal/delivery"
	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/internal/folder"
	"github.com/meshproof/meshproof/internal/kinds"
	"github.com/meshproof/meshproof/internal/manifestdiff"
	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Manifests returns the policies with all that stands beside them: in the files, in the files that cases
// name, and in the files of tools.
func (f *Files) Manifests() (manifestdiff.Side, error) {
	out := manifestdiff.Side{Policies: slices.Concat(f.Policies, f.Routing), Others: slices.Concat(f.Others, f.ofOthers), Dataplanes: slices.Clone(f.Written), PassedOver: f.PassedOver, WithoutFiles: f.WithoutFiles, Files: map[string]string{}}
	if info, err := os.Stat(f.root); err == nil && info.IsDir() {
		out.Root, out.Placed = f.root, slices.Concat(f.Policies, f.deployed, f.Routing, out.Others, f.Written)
		out.Links = linksOf(out.Placed)
	}
	for _, c := range f.Cases {
		out.Policies = slices.Concat(out.Policies, c.Policies, c.Routing)
	}
	for _, of := range f.caseFiles {
		out.Cases = append(out.Cases, of.docs...)
		for _, doc := range of.docs {
			if err := addNamed(&out, of.path, doc); err != nil {
				return out, err
			}
		}
	}
	if err := f.addToolFiles(&out); err != nil {
		return out, err
	}
	var err error
	out.Unread, err = f.unread(false)
	return out, err
}

// linksOf returns the files of documents that are symbolic links.
func linksOf(docs []manifest.Document) (out []string) {
	seen := map[string]bool{}
	for _, doc := range docs {
		name := metadata.FileOf(doc)
		if seen[name] {
			continue
		}
		seen[name] = true
		if info, err := os.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			out = append(out, name)
		}
	}
	return out
}

// UnreadFiles returns each file of the folder that is not read, but those of Git, with a text that stands for its content.
// What [Files.Manifests] has is not among them.
func (f *Files) UnreadFiles() (map[string]string, error) {
	known, err := f.Manifests()
	if err != nil {
		return nil, err
	}
	out, err := f.unread(true)
	maps.DeleteFunc(out, func(name, _ string) bool {
		_, isOfTool := known.Files[name]
		_, isPassedOver := known.Unread[name]
		_, isSource := known.Sources[name]
		return isOfTool || isPassedOver || isSource
	})
	return out, err
}

func (f *Files) unread(all bool) (map[string]string, error) {
	if f.root == "" {
		return nil, nil
	}
	return folder.Unread(f.root, all)
}

// addNamed adds what stands in the files that a case names, beside what the case takes of them.
func addNamed(to *manifestdiff.Side, path string, doc manifest.Document) error {
	_, routed := doc.Lookup("outbounds")
	for _, field := range []string{"policies.files", "workloads.files", "outbounds.files"} {
		var patterns []string
		if at, found := doc.Lookup(field); !found || at.Decode(&patterns) != nil {
			continue
		}
		inside, err := folder.OpenInside(filepath.Dir(path))
		if err != nil {
			return err
		}
		defer inside.Close()
		for _, pattern := range patterns {
			files, err := inside.Files(pattern)
			if err != nil {
				return err
			}
			for _, file := range files {
				if err := addFile(to, inside, file, routed); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// addFile adds the Dataplanes of a file and its documents of other kinds. A case that is routed reads its
// routes, timeouts and services.
func addFile(to *manifestdiff.Side, inside *folder.Root, file string, routed bool) error {
	data, err := inside.Read(file)
	if err != nil {
		return err
	}
	docs, err := manifest.Parse(inside.Path(file), data)
	if err != nil || len(docs) == 0 {
		return err
	}
	if _, isCase := docs[0].Lookup("case"); isCase {
		return nil
	}
	own, others, err := kinds.Split(file, docs)
	for _, doc := range own {
		if dataplane.Owns(doc) {
			to.Dataplanes = append(to.Dataplanes, doc)
		}
	}
	for _, doc := range others {
		if !routed || dialects.RouterOf(doc) == nil {
			to.Others = append(to.Others, doc)
		}
	}
	return err
}

// addToolFiles adds the files by which tools change manifests: those with known names, and those that a
// kustomization names.
func (f *Files) addToolFiles(to *manifestdiff.Side) error {
	if f.root == "" || f.root == folder.Stdin {
		return nil
	}
	names, err := folder.ToolFiles(f.root)
	if err != nil {
		return err
	}
	to.Sources, to.Texts = map[string]string{}, map[string]string{}
	for _, source := range f.Sources {
		to.Sources[source.Name], to.Texts[source.Name] = source.Content, source.Text
	}
	goals := map[string]bool{}
	for _, link := range to.Links {
		if goal, err := filepath.EvalSymlinks(link); err == nil {
			goals[goal] = true
		}
	}
	if len(goals) > 0 { // what a link leads to is read by the name of the link
		maps.DeleteFunc(to.Texts, func(name, _ string) bool {
			goal, err := filepath.EvalSymlinks(filepath.Join(f.root, name))
			return err == nil && goals[goal]
		})
	}
	documents := slices.Clone(to.Others)
	for _, name := range names {
		data, err := folder.Read(filepath.Join(f.root, name))
		if err != nil {
			return err
		}
		to.Files[name] = string(data)
		if docs, err := manifest.Parse(filepath.Join(f.root, name), data); err == nil && strings.EqualFold(filepath.Base(name), "kustomization") {
			documents = append(documents, docs...)
		}
	}
	for _, doc := range documents {
		for _, path := range delivery.FilesOf(clusterobject.Read(doc)) {
			inside, err := filepath.Rel(f.root, path)
			switch {
			case err != nil || inside == ".." || strings.HasPrefix(inside, ".."+string(filepath.Separator)):
				to.Absent = append(to.Absent, doc.Place("")+": "+filepath.Base(path))
			case !slices.Contains(folder.Endings, filepath.Ext(path)):
				if data, err := folder.Read(path); err == nil {
					to.Files[inside] = string(data)
				}
			}
		}
	}
	return nil
}
