// Package lab turns files and folders into cases: case files into the cases that they
// state, and policy files, with the Dataplanes among them, into cases without requests.
//
// It guarantees that each file is read once and parsed once, and that no document is
// passed over: what is no case, no policy and no Dataplane is listed, see package kinds. The
// package asks no Envoy and decides nothing.
package lab

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/dataplane"
	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/internal/folder"
	"github.com/meshproof/meshproof/internal/kinds"
	"github.com/meshproof/meshproof/internal/kri"
	"github.com/meshproof/meshproof/internal/rendering"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Files is the content of case files and policy files.
type Files struct {
	// Name joins the paths.
	Name string
	// Cases are the chosen cases of the case files. Cases that expect an error are left
	// out.
	Cases []cases.Case
	// Refused are the cases whose policies must be refused: nothing is asked of them.
	Refused []cases.Case
	// Policies are the documents outside of case files. [Open] and [OpenSet] take the
	// Dataplanes out of them.
	Policies []manifest.Document
	// Others are the documents outside of case files that other tools read.
	Others kinds.Others
	// ofOthers are the policies and routes that [Files.KeepDialect] took away.
	ofOthers kinds.Others
	// PassedOver are files and links of folders that are not read, see [folder.PassedOver].
	PassedOver []string
	// Sources are files of which a tool may make manifests, see [folder.Sources].
	Sources []folder.Source
	// WithoutFiles are folders that may be modules of Git which are not checked out, see [folder.WithoutFiles].
	WithoutFiles []string
	// OfTools are files of folders by which tools change manifests or leave some out, see [folder.ToolFiles].
	OfTools []string
	// Routing are the routes, timeouts and services, once [Files.TakeRouting] has found them among
	// Others.
	Routing []manifest.Document
	// Dataplanes are the Dataplanes with inbounds. Written are all of them as they are written.
	Dataplanes []*dataplane.Dataplane
	Written    []manifest.Document
	workloads  []policy.Inbound
	// described are the Dataplanes of workloads, also those without an inbound.
	described []*dataplane.Dataplane
	// emptyOf is the dialect of empty lists, "" where there is none.
	emptyOf string
	// HasCases and HasDataplanes report whether there is a case file, and a Dataplane.
	// Cases and Dataplanes may be empty all the same.
	HasCases, HasDataplanes bool
	// caseFiles are the files with cases.
	caseFiles []file
	// root is the path that was opened, "" for several.
	root string
	// deployed are the policies of a file or folder that all cases have.
	deployed []manifest.Document
	// stated is the case that the files stand for; nil for files as they were read.
	stated *cases.Case
}

// file is a file that was read.
type file struct {
	path string
	data []byte
	docs []manifest.Document
}

// isCaseFile tells case files from policy files: the first document of a case file has
// the field case. The file has a document.
func (f file) isCaseFile() bool {
	_, is := f.docs[0].Lookup("case")
	return is
}

func readFile(path string) (file, error) {
	data, err := folder.Read(path)
	if err != nil {
		return file{}, fmt.Errorf("%w: name a case file, or a file with policies", err)
	}
	docs, err := manifest.Parse(path, data)
	return file{path, data, docs}, err
}

// asking returns the file of one case that asks for nothing as a file of a case that may: package cases
// refuses a case that proves nothing. The lines stay where they are.
func (f file) asking() file {
	for _, key := range []string{"requests", "expectError", "expectWarning"} {
		if _, has := f.docs[0].Lookup(key); has || len(f.docs) > 1 {
			return f
		}
	}
	data := append(slices.Clone(f.data), "\nexpectWarning: []\n"...)
	if docs, err := manifest.Parse(f.path, data); err == nil {
		return file{f.path, data, docs}
	}
	return f
}

// add sorts the content of a file.
func (f *Files) add(from file, choice Choice) error {
	if !from.isCaseFile() {
		own, others, err := kinds.Split(from.path, from.docs)
		f.Policies, f.Others = append(f.Policies, own...), append(f.Others, others...)
		return err
	}
	f.HasCases, f.caseFiles = true, append(f.caseFiles, from)
	if choice.WorkloadsOnly {
		from = from.asking()
	}
	all, err := cases.Read(from.path, from.data, from.docs)
	for _, c := range all {
		switch {
		case !choice.Matches(c):
		case c.ExpectError != "":
			f.Refused = append(f.Refused, c)
		default:
			f.Cases = append(f.Cases, c)
		}
	}
	return err
}

// Documents reads files and folders that hold policies and nothing else. Files without a document
// are an error.
func Documents(paths ...string) ([]manifest.Document, error) {
	var docs []manifest.Document
	for _, path := range paths {
		files, err := find(path)
		if err != nil {
			return nil, err
		}
		for _, name := range files {
			from, err := readFile(name)
			if err != nil {
				return nil, err
			}
			docs = append(docs, from.docs...)
		}
	}
	if len(docs) == 0 {
		return nil, fmt.Errorf("%s: there is no policy", strings.Join(paths, " "))
	}
	return docs, nil
}

// checkOthers refuses files with nothing but documents of other kinds.
func (f *Files) checkOthers() error {
	if f.Empty() && len(f.Others) > 0 && !f.hasRouting() {
		todo := "meshproof reads " + strings.Join(kinds.Known(), ", ")
		if slices.ContainsFunc(f.Others, rendering.IsKustomization) {
			todo = "a kustomization is not carried out: write out with kustomize build what is applied"
		}
		return fmt.Errorf("%s: there is no policy among %s: %s", f.Name, f.Others, todo)
	}
	return nil
}

// Open reads files and folders for a lab: case files, policies and Dataplanes. It passes
// over a file without any document, and leaves out each case that has no inbound. A folder
// without files is an error, and so are files with documents of other kinds alone.
func Open(choice Choice, paths ...string) (*Files, error) {
	f, err := OpenDocuments(choice, paths...)
	if err == nil {
		err = f.describeInbounds()
	}
	return f, err
}

// Read is [OpenDocuments], but files without a policy and a case are an error.
func Read(choice Choice, paths ...string) (*Files, error) {
	f, err := OpenDocuments(choice, paths...)
	if err == nil && f.Empty() && !f.hasRouting() {
		err = fmt.Errorf("%s: there is no policy and no case", f.Name)
	}
	return f, err
}

// OpenDocuments is [Open], but the Dataplanes are among the policies, as they are written, and
// a case may have no inbound.
func OpenDocuments(choice Choice, paths ...string) (*Files, error) {
	var all []string
	for _, path := range paths {
		found, err := find(path)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s: there is no .yaml, .yml or .json file in this folder: name a file with policies or cases, or a folder with some", path)
		}
		all = append(all, found...)
	}
	f, err := open(choice, paths, all)
	for _, path := range paths {
		if err == nil {
			err = f.passOver(path)
		}
	}
	if err == nil {
		err = f.checkOthers()
	}
	return f, err
}

// OpenBuiltIn returns the chosen built-in cases. There are no paths.
func OpenBuiltIn(choice Choice, _ ...string) (*Files, error) {
	all, err := cases.Stories()
	all = slices.DeleteFunc(all, func(c cases.Case) bool { return !choice.Matches(c) || c.ExpectError != "" })
	return &Files{Name: "the built-in cases", Cases: all, HasCases: true}, err
}

// OpenSet is [Open] for one set of policies, which may be empty: a folder without files
// is no error.
func OpenSet(choice Choice, path string) (*Files, error) {
	found, err := find(path)
	if err != nil {
		return nil, err
	}
	f, err := open(choice, []string{path}, found)
	if err == nil {
		f.root = path
		isForGateways := func(doc manifest.Document) bool { return clusterobject.Read(doc).IsForGateways() }
		f.Others = append(f.Others, slices.DeleteFunc(slices.Clone(f.Policies), func(doc manifest.Document) bool { return !isForGateways(doc) })...)
		f.Policies = slices.DeleteFunc(f.Policies, isForGateways)
		err = f.passOver(path)
	}
	if err == nil {
		err = f.describeInbounds()
	}
	return f, err
}

func find(path string) ([]string, error) {
	files, err := folder.Files(path)
	if err != nil {
		return nil, fmt.Errorf("%w: name a file with policies or cases, or a folder with some", err)
	}
	return files, nil
}

func open(choice Choice, roots, paths []string) (*Files, error) {
	f := &Files{Name: strings.Join(roots, " ")}
	var written []file
	var routes error
	for _, path := range paths {
		from, err := readFile(path)
		if err != nil {
			source, is := ofOtherTool(roots, from, false)
			if !is {
				if source, is = ofOtherTool(roots, from, true); is {
					routes = cmp.Or(routes, err)
				}
			}
			if !is {
				return nil, err
			}
			f.Sources = append(f.Sources, source)
			continue
		}
		if len(from.docs) == 0 {
			if err := f.takeEmptyList(from); err != nil {
				return nil, err
			}
			continue
		}
		written = append(written, from)
	}
	if routes != nil && mayHaveRoutes(written) {
		return nil, routes
	}
	for _, from := range written {
		if err := f.add(from, choice); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// describeInbounds separates the Dataplanes from the policies, and leaves out each case that
// has no inbound.
func (f *Files) describeInbounds() error {
	f.Cases = slices.DeleteFunc(f.Cases, func(c cases.Case) bool { return len(c.Inbounds) == 0 })
	var policies []manifest.Document
	places := map[kri.KRI]string{}
	for _, doc := range f.Policies {
		if !dataplane.Owns(doc) {
			policies = append(policies, doc)
			continue
		}
		f.HasDataplanes, f.Written = true, append(f.Written, doc)
		d, err := dataplane.Parse(doc)
		if err != nil {
			return err
		}
		if first, ok := places[d.ID()]; ok {
			return doc.Errorf("", "Dataplane %s is defined twice, first at %s: delete one of the two", d.Name, first)
		}
		places[d.ID()] = d.Place
		f.workloads, f.described = append(f.workloads, d.Caller()), append(f.described, d)
		if len(d.Inbounds) > 0 {
			f.Dataplanes = append(f.Dataplanes, d)
		}
	}
	f.Policies = policies
	if f.HasDataplanes && len(f.Dataplanes) == 0 && (len(f.Policies) > 0 || !f.hasRouting()) {
		return fmt.Errorf("%s: no Dataplane has an inbound: add one with an inbound, or leave the Dataplanes out and describe the inbound by flags", f.Name)
	}
	return nil
}

// HasPolicySet reports whether the files have a set of policies outside of cases. Empty
// files are the empty set of policies.
func (f *Files) HasPolicySet() bool { return len(f.Policies) > 0 || f.HasDataplanes || !f.HasCases }

// OnlyRouting reports whether the files say nothing about the requests that a workload gets.
func (f *Files) OnlyRouting() bool {
	return len(f.Routing) > 0 && len(f.Policies) == 0 && len(f.Dataplanes) == 0 && !f.HasCases
}

// Empty reports whether the files have no content.
func (f *Files) Empty() bool {
	return len(f.Policies) == 0 && len(f.Routing) == 0 && !f.HasDataplanes && !f.HasCases
}

// ReplacingPolicies returns the same files with other policies, in cases too.
func (f *Files) ReplacingPolicies(replace func([]manifest.Document) []manifest.Document) *Files {
	out := *f
	out.Policies, out.Cases = replace(f.Policies), slices.Clone(f.Cases)
	for i := range out.Cases {
		out.Cases[i].Policies = replace(out.Cases[i].Policies)
	}
	return &out
}

// hasRouting reports whether there is a route, a timeout or a service.
func (f *Files) hasRouting() bool {
	return len(f.Routing) > 0 || slices.ContainsFunc(f.Others, func(doc manifest.Document) bool { return dialects.RouterOf(doc) != nil })
}

// Inbounds returns the inbounds of the Dataplanes, by workload.
func (f *Files) Inbounds() [][]policy.Inbound {
	var out [][]policy.Inbound
	for _, d := range f.Dataplanes {
		out = append(out, d.Inbounds)
	}
	return out
}

// Take moves the documents that reads tells from Others to Policies.
func (f *Files) Take(reads func(manifest.Document) bool) {
	for _, doc := range f.Others {
		if reads(doc) {
			f.Policies = append(f.Policies, doc)
		}
	}
	f.Others = slices.DeleteFunc(f.Others, reads)
}

// DocumentsOf returns the policies of files, with the routes, timeouts and services.
func DocumentsOf(all ...*Files) (out []manifest.Document) {
	for _, f := range all {
		out = append(append(out, f.Policies...), f.Routing...)
	}
	return out
}
