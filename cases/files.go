package cases

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/dataplane"
	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/internal/folder"
	"github.com/meshproof/meshproof/internal/kinds"
	"github.com/meshproof/meshproof/policy/manifest"
)

// policyNoun is what files under policies have to have.
const policyNoun = "policy"

// addFiles adds the policies and the Dataplanes of the files that the case names.
func (b *builder) addFiles() error {
	policies, err := b.read("policies", policyNoun, b.schema.Policies.files, func(doc manifest.Document) bool {
		return !dataplane.Owns(doc) && (b.hasOutbounds() || isNoRouting(doc))
	})
	if err != nil {
		return err
	}
	if policies != nil {
		b.built.Policies, b.built.Deployed = policies, true
		b.built.Source = casefile.WithPolicies("", policies)
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

// hasOutbounds reports whether the case says what sidecars reach.
func (b *builder) hasOutbounds() bool {
	return len(b.schema.Outbounds.list)+len(b.schema.Outbounds.files) > 0
}

func isNoRouting(doc manifest.Document) bool { return dialects.RouterOf(doc) == nil }

// applied returns the documents of a case as kubectl reads them in a file of policies: it refuses a word such as yes for a text.
func applied(documents []manifest.Document) []manifest.Document {
	out := slices.Clone(documents)
	for i, doc := range out {
		out[i] = doc.Applied()
	}
	return out
}

// takeRouting takes the services, and the routes and timeouts from the policies.
func (b *builder) takeRouting() error {
	if !b.hasOutbounds() {
		return nil
	}
	services := applied(b.schema.Outbounds.list)
	for i, doc := range services {
		if isNoRouting(doc) {
			return b.doc.Errorf(fmt.Sprintf("outbounds[%d]", i), "this is no service: write a MeshService, and routes and timeouts under policies")
		}
	}
	more, err := b.read("outbounds", "service", b.schema.Outbounds.files, func(doc manifest.Document) bool { return !isNoRouting(doc) })
	if err != nil {
		return err
	}
	// A folder may be named under both keys.
	known := map[string]bool{}
	add := func(doc manifest.Document) {
		if place := doc.Place(""); !known[place] {
			known[place] = true
			b.built.Routing = append(b.built.Routing, doc)
		}
	}
	for _, doc := range slices.Concat(services, more) {
		add(doc)
	}
	for _, doc := range b.built.Policies {
		if !isNoRouting(doc) {
			add(doc)
		}
	}
	b.built.Policies = slices.DeleteFunc(b.built.Policies, func(doc manifest.Document) bool { return !isNoRouting(doc) })
	if services == nil && more != nil {
		b.built.Source = casefile.WithPolicies(b.built.Source, more)
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
	seen, chosen := map[string]bool{}, map[string]bool{}
	for i, pattern := range patterns {
		at := fmt.Sprintf("%s[%d]", field, i)
		files, err := inside.Files(pattern)
		if err != nil {
			return nil, b.doc.Errorf(at, "%q: %v", pattern, err)
		}
		// A case has nowhere to say what it leaves out.
		passed, err := folder.PassedOver(filepath.Join(b.folder, pattern))
		if err != nil {
			return nil, b.doc.Errorf(at, "%q: %v", pattern, err)
		}
		if len(passed) > 0 {
			return nil, b.doc.Errorf(at, "%q: by its name %s is not read: end the name of a file in .yaml, .yml or .json, and name a folder behind a link by itself", pattern, passed[0])
		}
		for _, file := range files {
			if strings.ContainsAny(pattern, "*?[") {
				chosen[path.Dir(file)] = true
			}
			if seen[file] {
				continue
			}
			seen[file] = true
			docs, others, err := readDocuments(inside, file)
			if err != nil {
				return nil, b.doc.Errorf(at, "%v", err)
			}
			b.leaveOut(others)
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
	if noun == policyNoun {
		b.noteMissed(inside, seen, chosen)
	}
	return out, nil
}

// noteMissed notes the files in the folders of patterns that no pattern takes, and that have policies, or cannot be read: who applies
// such a folder applies these too.
func (b *builder) noteMissed(inside *folder.Root, taken, folders map[string]bool) {
	for _, in := range slices.Sorted(maps.Keys(folders)) {
		for _, ending := range folder.Endings {
			files, err := inside.Files(path.Join(in, "*"+ending))
			if err != nil {
				continue // there is none of this ending
			}
			for _, file := range files {
				if taken[file] {
					continue
				}
				if docs, _, err := readDocuments(inside, file); err != nil || slices.ContainsFunc(docs, func(doc manifest.Document) bool { return !dataplane.Owns(doc) }) {
					b.built.Missed = append(b.built.Missed, inside.Path(file))
				}
			}
		}
	}
}

// leaveOut notes the documents of a file that the case does not read. A file may be named under several keys.
func (b *builder) leaveOut(others []manifest.Document) {
	for _, doc := range others {
		if !slices.ContainsFunc(b.built.LeftOut, func(known manifest.Document) bool { return known.Place("") == doc.Place("") }) {
			b.built.LeftOut = append(b.built.LeftOut, doc)
		}
	}
}

// readDocuments returns the policies, services and Dataplanes of a file, and the documents of other kinds. It
// returns none of a case file.
func readDocuments(inside *folder.Root, file string) (docs, others []manifest.Document, err error) {
	data, err := inside.Read(file)
	if err != nil {
		return nil, nil, err
	}
	docs, err = manifest.Parse(inside.Path(file), data)
	if err != nil || len(docs) == 0 {
		return nil, nil, err
	}
	if _, is := docs[0].Lookup("case"); is {
		return nil, nil, nil
	}
	own, rest, err := kinds.Split(file, docs)
	for _, doc := range rest {
		if isNoRouting(doc) {
			others = append(others, doc)
		} else {
			own = append(own, doc)
		}
	}
	return own, others, err
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
		b.built.Inbounds = append(b.built.Inbounds, Inbound{Inbound: in, Identity: id, IP: caller.SourceIP})
	}
	return nil
}
