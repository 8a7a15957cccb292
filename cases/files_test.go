package cases_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/cases"
)

const (
	policyFile    = "type: MeshTrafficPermission\nname: NAME\nspec: {default: {allow: []}}\n"
	dataplaneFile = "type: Dataplane\nname: web\nnetworking: {address: 10.0.0.1, inbound: [{name: main, port: 8080, protocol: http}]}\n---\n" +
		"apiVersion: kuma.io/v1alpha1\nkind: Dataplane\nmesh: default\nmetadata: {name: cart, namespace: shop}\nspec: {networking: {gateway: {}}}\n"
	requestToWeb = "requests: [{from: cart, to: web/main, want: deny}]\n"
)

// filesFolder returns a folder with policies, Dataplanes and documents of other kinds, and a
// policy outside of it.
func filesFolder(t *testing.T) string {
	t.Helper()
	policy := func(name string) string { return strings.ReplaceAll(policyFile, "NAME", name) }
	dir := folder(t, map[string]string{
		"outside.yaml":                 policy("outside"),
		"suite/mesh/a.yaml":            policy("a") + "---\n{apiVersion: apps/v1, kind: Deployment}\n",
		"suite/mesh/b.yml":             policy("b"),
		"suite/mesh/deep/c.yaml":       policy("c"),
		"suite/mesh/deep/README.md":    "no YAML: [",
		"suite/dataplanes.yaml":        dataplaneFile,
		"suite/broken.yaml":            "a: [",
		"suite/misspelt.yaml":          "type: MeshTrafficPermision\n",
		"suite/none.yaml":              "{type: Mesh}\n",
		"suite/capitals/a.yaml":        policy("a"),
		"suite/capitals/b.YAML":        policy("b"),
		"suite/other.yaml":             fileOf("another case"),
		"suite/list.yaml":              "items: [{type: MeshTrafficPermission, name: d}, {type: MeshTrafficPermission, name: e}]\n",
		"suite/twice/dataplanes.yaml":  dataplaneFile,
		"suite/reserved/dataplan.yaml": strings.Replace(dataplaneFile, "name: web", "name: plaintext", 1),
	})
	if err := os.Symlink(filepath.Join(dir, "outside.yaml"), filepath.Join(dir, "suite", "link.yaml")); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "suite")
}

func loadSuite(dir, text string) (cases.Case, error) {
	all, err := cases.Parse(filepath.Join(dir, "suite.yaml"), []byte("case: a\n"+text+requestToWeb))
	if err != nil {
		return cases.Case{}, err
	}
	return all[0], nil
}

// A list of workloads has Dataplanes beside workloads of a case. They read as those of files do.
func TestDataplaneInAList(t *testing.T) {
	t.Parallel()
	dir := filesFolder(t)
	const policies = "policies: {files: mesh}\n"
	ofFile, err := loadSuite(dir, "workloads: {files: dataplanes.yaml}\n"+policies)
	if err != nil {
		t.Fatal(err)
	}
	const dataplane = "  - {type: Dataplane, name: web, networking: {address: 10.0.0.1, inbound: [{name: main, port: 8080, protocol: http}]}}\n"
	ofList, err := loadSuite(dir, "workloads:\n"+dataplane+"  - {name: cart, namespace: shop}\n"+policies)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ofFile.Inbounds, ofList.Inbounds, cmp.Comparer(func(a, b cases.Inbound) bool { return reflect.DeepEqual(a, b) })); diff != "" {
		t.Errorf("(-file +list):\n%s", diff)
	}
	for text, want := range map[string]string{
		"  - {name: web}\n" + dataplane: `workloads[1]: workload "web" of the case has its name already`,
		"  - {type: Dataplane, name: web, networking: {inbound: [{port: 8080, protocoll: http}]}}\n": "workloads[0].networking.inbound[0].protocoll: unknown field: did you mean protocol?",
	} {
		if _, err := loadSuite(dir, "workloads:\n"+text+policies); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	dir := filesFolder(t)
	for files, want := range map[string][]string{
		"mesh":                             {"mesh/a.yaml:1", "mesh/b.yml:1", "mesh/deep/c.yaml:1"},
		"[./mesh/deep, mesh/*.y*ml, mesh]": {"mesh/deep/c.yaml:1", "mesh/a.yaml:1", "mesh/b.yml:1"},
		"list.yaml":                        {"list.yaml:1: items[0]", "list.yaml:1: items[1]"},
		"[mesh/b.yml, other.yaml]":         {"mesh/b.yml:1"},
	} {
		c, err := loadSuite(dir, "workloads: {files: dataplanes.yaml}\npolicies: {files: "+files+"}\n")
		if err != nil {
			t.Errorf("%s: %v", files, err)
			continue
		}
		var got []string
		for _, doc := range c.Policies {
			got = append(got, strings.TrimPrefix(doc.Place(""), dir+"/"))
			if !strings.Contains(c.Source, "# "+doc.Place("")+"\n---\n"+string(doc.YAML())) {
				t.Errorf("%s: the source lacks %s:\n%s", files, doc.Place(""), c.Source)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", files, diff)
		}
		in, q := c.Inbounds[0], c.Requests[0]
		if len(c.Inbounds) != 1 || in.String() != "web/main" || in.Identity.String() != "spiffe://trust-domain.mesh/ns/default/sa/web" || in.Address().String() != "10.64.0.1:8080" {
			t.Errorf("%s: inbounds %+v", files, c.Inbounds)
		}
		if q.From.Template.URIs[0] != "spiffe://trust-domain.mesh/ns/shop/sa/cart" || q.SourceIP.String() != "10.64.0.2" {
			t.Errorf("%s: the caller is %+v", files, q.From)
		}
	}
}

func TestFilesRefused(t *testing.T) {
	t.Parallel()
	dir := filesFolder(t)
	const workloads = "workloads: {files: dataplanes.yaml}\n"
	for text, want := range map[string]string{
		workloads + "policies: {files: [mesh, nowhere.yaml]}\n": `SUITE:3: policies.files[1]: "nowhere.yaml": there is no such file in DIR`,
		workloads + "policies: {files: nowhere/*.yaml}\n":       `SUITE:3: policies.files[0]: "nowhere/*.yaml": there is no such file in DIR`,
		workloads + "policies: {files: ../outside.yaml}\n":      `SUITE:3: policies.files[0]: "../outside.yaml": it leads out of the folder: name a file in it or below it`,
		workloads + "policies: {files: mesh/../../x}\n":         `SUITE:3: policies.files[0]: "mesh/../../x": it leads out of the folder: name a file in it or below it`,
		workloads + "policies: {files: /etc/passwd}\n":          `SUITE:3: policies.files[0]: "/etc/passwd": it leads out of the folder: name a file in it or below it`,
		workloads + "policies: {files: 'lin*.yaml'}\n":          `SUITE:3: policies.files[0]: "lin*.yaml": DIR/link.yaml is a link that leads out of the folder or nowhere: put the file itself into the folder`,
		workloads + "policies: {files: '[a'}\n":                 `SUITE:3: policies.files[0]: "[a": syntax error in pattern`,
		workloads + "policies: {files: broken.yaml}\n":          `SUITE:3: policies.files[0]: DIR/broken.yaml:1: malformed YAML: sequence end token ']' not found: compare the indentation, the brackets and the quotation marks with the lines around`,
		workloads + "policies: {files: misspelt.yaml}\n":        `SUITE:3: policies.files[0]: DIR/misspelt.yaml:1: type: kind "MeshTrafficPermision" is unknown: did you mean MeshTrafficPermission?`,
		workloads + "policies: {files: none.yaml}\n":            `SUITE:3: policies.files: the files have no policy: name others`,
		workloads + "policies: {files: capitals}\n":             `SUITE:3: policies.files[0]: "capitals": by its name DIR/capitals/b.YAML is not read: end the name of a file in .yaml, .yml or .json, and name a folder behind a link by itself`,
		workloads + "policies: {files: []}\n":                   `SUITE:3: policies.files: no file is named: write files: [policies], or a list instead of the mapping`,
		workloads + "policies: mesh\n":                          `SUITE:3: policies: expected a list, found the text "mesh": write {files: [mesh]} if it names a file`,
		workloads + "policies: 7\n":                             `SUITE:3: policies: expected a list, found the number 7`,
		workloads + "policies: {file: mesh}\n":                  `SUITE:3: policies.file: unknown field: did you mean files?`,
		"workloads: {files: mesh}\n":                            `SUITE:2: workloads.files: the files have no Dataplane: name others`,
		"workloads: {files: [dataplanes.yaml, twice]}\n":        `DIR/twice/dataplanes.yaml:1: workload "web" of the case has its name already, or the name has a meaning of its own: leave one out`,
		"workloads: {files: reserved}\n":                        `DIR/reserved/dataplan.yaml:1: workload "plaintext" of the case has its name already, or the name has a meaning of its own: leave one out`,
	} {
		_, err := loadSuite(dir, text)
		want = "cases: " + strings.NewReplacer("SUITE", filepath.Join(dir, "suite.yaml"), "DIR", dir).Replace(want)
		if err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
}

// TestWordsAreRefusedAsInFiles has a word that kubectl reads as a boolean in each document of a case that a cluster gets.
func TestWordsAreRefusedAsInFiles(t *testing.T) {
	t.Parallel()
	const (
		word    = ": expected text, found the word yes, which kubectl reads as the boolean true: put it in quotes"
		service = "outbounds: [{type: MeshService, name: web, labels: {a: yes}, spec: {selector: {dataplaneTags: {app: web}}, ports: [{port: 80}]}}]\n"
	)
	for text, want := range map[string]string{
		"policies: [{type: MeshTrafficPermission, name: p, labels: {a: yes}, spec: {}}]\n": "policies[0].labels.a",
		service: "outbounds[0].labels.a",
	} {
		got, err := cases.Parse("c.yaml", []byte("case: x\n"+text+"expectWarning: []\n"))
		if err != nil {
			t.Fatal(err)
		}
		doc := slices.Concat(got[0].Policies, got[0].Routing)[0]
		at, _ := doc.Lookup("labels.a")
		var label string
		if err := at.Decode(&label); err == nil || err.Error() != "c.yaml:2: "+want+word {
			t.Errorf("%s: %v", text, err)
		}
	}
	const dataplane = "case: x\nworkloads: [{type: Dataplane, mesh: default, name: web, labels: {app: yes}, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}]}}]\nexpectWarning: []\n"
	if _, err := cases.Parse("c.yaml", []byte(dataplane)); err == nil || err.Error() != "cases: c.yaml:2: workloads[0].labels.app"+word {
		t.Error(err)
	}
}
