package cases

import (
	"fmt"

	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/dataplane"
	"github.com/meshproof/meshproof/internal/folder"
	"github.com/meshproof/meshproof/internal/kinds"
	"github.com/meshproof/meshproof/policy/manifest"
)

// addFiles adds the policies and the Dataplanes of the files that the case names.
func (b *builder) addFiles() error {
	policies, err := b.read("policies", "policy", b.schema.Policies.files, func(doc manifest.Document) bool { return !dataplane.Owns(doc) })
	if err != nil {
		return err
	}
	if policies != nil {
		b.out.Policies = policies
		b.out.Source = casefile.WithPolicies("", policies)
	}
	workloads, err := b.read("workloads", "Dataplane", b.schema.Workloads.files, dataplane.Owns)
	if err != nil {
		return err
	}
	for i, doc := range workloads {
		if err := b.addDataplane(i, doc); err != nil {
			return err
		}
	}
	return nil
}

// read returns the documents that are meant, of the files that patterns under a field name. A
// folder may have policies, Dataplanes, cases and documents of other kinds side by side.
func (b *builder) read(field, noun string, patterns []string, meant func(manifest.Document) bool) ([]manifest.Document, error) {
	if patterns == nil {
		return nil, nil
	}
	field += ".files"
	inside, err := folder.OpenInside(b.folder)
	if err != nil {
		return nil, b.doc.Errorf(field, "%v", err)
	}
	defer inside.Close()
	var out []manifest.Document
	seen := map[string]bool{}
	for i, pattern := range patterns {
		at := fmt.Sprintf("%s[%d]", field, i)
		files, err := inside.Files(pattern)
		if err != nil {
			return nil, b.doc.Errorf(at, "%q: %v", pattern, err)
		}
		for _, file := range files {
			if seen[file] {
				continue
			}
			seen[file] = true
			docs, err := readDocuments(inside, file)
			if err != nil {
				return nil, b.doc.Errorf(at, "%v", err)
			}
			for _, doc := range docs {
				if meant(doc) {
					out = append(out, doc)
				}
			}
		}
	}
	if len(out) == 0 {
		return nil, b.doc.Errorf(field, "the files have no %s: name others", noun)
	}
	return out, nil
}

// readDocuments returns the policies and Dataplanes of a file, and none of a case file.
func readDocuments(inside *folder.Inside, file string) ([]manifest.Document, error) {
	data, err := inside.Read(file)
	if err != nil {
		return nil, err
	}
	docs, err := manifest.Parse(inside.Path(file), data)
	if err != nil || len(docs) == 0 {
		return nil, err
	}
	if _, is := docs[0].At("case"); is {
		return nil, nil
	}
	own, _, err := kinds.Split(file, docs)
	return own, err
}

// addDataplane adds a workload with the inbounds of a Dataplane.
func (b *builder) addDataplane(i int, doc manifest.Document) error {
	d, err := dataplane.Parse(doc)
	if err != nil {
		return err
	}
	w := d.Workload
	if _, taken := b.workloads[w.Name]; taken || casefile.Reserved(w.Name) {
		return doc.Errorf("", "workload %q of the case has its name already, or the name has a meaning of its own: leave one out", w.Name)
	}
	id, err := b.defaultIdentity(w.Namespace, w.Name)
	if err != nil {
		return doc.Errorf("", "%v", err)
	}
	caller := soundCaller(w.Name, id)
	caller.SourceIP = casefile.DefaultIP(i)
	b.workloads[w.Name] = caller
	for _, in := range d.Inbounds {
		b.out.Inbounds = append(b.out.Inbounds, Inbound{Inbound: in, Identity: id, IP: caller.SourceIP})
	}
	return nil
}
