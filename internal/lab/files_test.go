package lab_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/policy"
)

const (
	aCase = `case: a
workloads: [{name: backend, inbounds: [{name: http, port: 8080, protocol: http}, {name: tcp, port: 9090, protocol: tcp}]}]
policies: []
requests: [{from: plaintext, to: backend/http, want: handshake-failure}]
---
case: refused
workloads: [{name: backend, inbounds: [{name: http, port: 8080, protocol: http}]}]
policies: []
expectError: 'no'
`
	aDataplane = `type: Dataplane
name: web
mesh: default
networking: {address: 10.0.0.1, inbound: [{port: 8080, tags: {kuma.io/service: web}}]}
`
	aPolicy = "type: MeshTrafficPermission\nname: p\nmesh: default\n"
)

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The cases of a folder are its case files, and one case for each Dataplane among the
// policies.
func TestOpen(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"a.yaml": aCase, "b.yaml": aDataplane + "---\n" + aPolicy, "empty.yaml": "# nothing\n"})
	backend := policy.Inbound{Workload: policy.Workload{Name: "backend"}, Port: 1}
	for name, tt := range map[string]struct {
		choice  lab.Choice
		inbound string
		want    []string
	}{
		"all":         {lab.Choice{}, "", []string{"a: backend/http backend/tcp", "generated: web/8080"}},
		"one":         {lab.Choice{}, "backend/tcp", []string{"a: backend/tcp"}},
		"a Dataplane": {lab.Choice{}, "web/8080", []string{"generated: web/8080"}},
		"no case":     {lab.Choice{Pattern: regexp.MustCompile("^b$")}, "", []string{"generated: web/8080"}},
	} {
		files, err := lab.Open(tt.choice, dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(files.Policies) != 1 || len(files.Dataplanes) != 1 || !files.HasCases || files.Empty() {
			t.Errorf("%s: %+v", name, files)
		}
		all, err := files.CasesFor(lab.Surroundings{Inbound: backend}, files.Inbounds())
		if err == nil {
			all, err = lab.Choose(all, tt.inbound)
		}
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range all {
			text := c.Name + ":"
			if c.Generated {
				text = "generated:"
			}
			for _, in := range c.Inbounds {
				text += " " + in.String()
			}
			got = append(got, text)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestOpenNothing(t *testing.T) {
	t.Parallel()
	files, err := lab.Open(lab.Choice{Pattern: regexp.MustCompile("^none$")}, write(t, map[string]string{"a.yaml": aCase}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := files.CasesFor(lab.Surroundings{}, nil); !errors.As(err, new(*lab.NothingError)) {
		t.Errorf("%v, want a NothingError", err)
	}
	empty := t.TempDir()
	if _, err := lab.Open(lab.Choice{}, empty); err == nil {
		t.Error("a folder without files was taken")
	}
	if files, err := lab.OpenSet(lab.Choice{}, empty); err != nil || !files.Empty() || !files.HasPolicySet() {
		t.Errorf("%+v, %v", files, err)
	}
}

// A Dataplane that is there twice, with other tags, is two workloads for the policies and one for the mesh.
func TestOpenRefusesADataplaneTwice(t *testing.T) {
	t.Parallel()
	const one = "type: Dataplane\nmesh: default\nname: d\nnetworking: {address: 10.0.0.1, inbound: [{port: 80, tags: {a: %q}}]}\n"
	path := write(t, map[string]string{"a.yaml": fmt.Sprintf(one, "b"), "b.yaml": fmt.Sprintf(one, "c")})
	if _, err := lab.Open(lab.Choice{}, path); err == nil || !strings.Contains(err.Error(), "b.yaml:1: Dataplane d is defined twice, first at") {
		t.Errorf("%v", err)
	}
}

// Strict commands refuse a folder with a file by which a tool leaves policies out.
func TestFilesOfTools(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"a.yaml": aPolicy, ".sourceignore": "a.yaml"})
	files, err := lab.Open(lab.Choice{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := lab.LeaveOut(io.Discard, true, files); err == nil || !strings.Contains(err.Error(), ".sourceignore: a tool may leave policies out") {
		t.Errorf("%v", err)
	}
	if err := lab.LeaveOut(io.Discard, false, files); err != nil {
		t.Errorf("%v", err)
	}
}

// What of a folder is not read by its name is told, and strict commands refuse it. A hidden folder
// is read like any other.
func TestPassedOver(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"a.yaml": aPolicy, "b.YAML": aPolicy, "c.Json": "{}", "d.txt": ""})
	for _, name := range []string{".github", "behind"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".github", "e.yml"), []byte(strings.ReplaceAll(aPolicy, "name: p", "name: hidden")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "behind"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func() (*lab.Files, error){
		"a lab": func() (*lab.Files, error) { return lab.Open(lab.Choice{}, dir) },
		"a set": func() (*lab.Files, error) { return lab.OpenSet(lab.Choice{}, dir) },
	} {
		files, err := open()
		if err != nil {
			t.Fatal(err)
		}
		var told strings.Builder
		if err := lab.LeaveOut(&told, false, files); err != nil || !strings.Contains(told.String(), "left out: 3 files by the name (") || len(files.Policies) != 2 {
			t.Errorf("%s: %v, %d policies, told %q", name, err, len(files.Policies), told.String())
		}
		if err := lab.LeaveOut(&told, true, files); err == nil || !strings.Contains(err.Error(), "b.YAML") {
			t.Errorf("%s: strict: %v", name, err)
		}
	}
}

// A chosen inbound is asked alone, but the warnings are about all inbounds. A made inbound can
// be chosen too.
func TestChoose(t *testing.T) {
	t.Parallel()
	second := strings.ReplaceAll(aDataplane, "web", "shop")
	labelled := aPolicy + "spec: {targetRef: {kind: Dataplane, labels: {app: new}}, default: {}}\n"
	files, err := lab.Open(lab.Choice{}, write(t, map[string]string{"a.yaml": aDataplane + "---\n" + second + "---\n" + labelled}))
	if err != nil {
		t.Fatal(err)
	}
	all, _, err := files.CasesInFull(lab.Surroundings{})
	if err != nil {
		t.Fatal(err)
	}
	for to, made := range map[string]int{"shop/8080": 0, "made-for-p/0": 1} {
		chosen, err := lab.Choose(all, to)
		if err != nil || len(chosen) != 1 || len(chosen[0].Inbounds) != 1 || len(chosen[0].Made) != made || len(chosen[0].LintScope) != 2 {
			t.Errorf("%s: %+v, %v", to, chosen, err)
		}
		subjects, err := files.Subjects(to, lab.Surroundings{})
		if err != nil || len(subjects) != 1 || subjects[0].Inbound.String() != to || len(subjects[0].Callers) != 2 {
			t.Errorf("%s: %+v, %v", to, subjects, err)
		}
	}
	_, err = lab.Choose(all, "shop/9090")
	if want := `there is no inbound "shop/9090": use one of web/8080, shop/8080, made-for-p/0`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	none := &lab.NoInboundError{Name: "x/1", Inbounds: slices.Repeat([]string{"a/1", "b/1"}, 11)}
	if want := "a/1, b/1, and 2 more"; !strings.HasSuffix(none.Error(), want) {
		t.Errorf("%v, want %s at the end", none, want)
	}
}

// TestFlagsOfADeployment has an error that says how a workload of the folder is described.
func TestFlagsOfADeployment(t *testing.T) {
	t.Parallel()
	const web = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {template: {metadata: {labels: {tier: front, app: web}},
  spec: {containers: [{name: web, ports: [{name: http, containerPort: 9090}]}]}}}}
`
	const flags = "--namespace shop --label app=web --label tier=front"
	for to, want := range map[string]string{
		"web/http": flags + " --port 9090", "web/9090": flags + " --port 9090", "web/1": flags, "web": flags, "shop/http": "",
	} {
		files, err := lab.Open(lab.Choice{}, write(t, map[string]string{"a.yaml": aPolicy, "dp.yaml": aDataplane, "web.yaml": web}))
		if err != nil {
			t.Fatal(err)
		}
		none := (*lab.NoInboundError)(nil)
		if _, err := files.Subjects(to, lab.Surroundings{}); !errors.As(err, &none) || !strings.HasSuffix(none.Described, want) || (want == "") != (none.Described == "") {
			t.Errorf("%s: %v", to, err)
		}
		all, _, err := files.CasesInFull(lab.Surroundings{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := files.Choose(all, to); !errors.As(err, &none) || !strings.HasSuffix(none.Described, want) || (want != "") != strings.Contains(err.Error(), "leave out --to") {
			t.Errorf("%s: %v", to, err)
		}
	}
}

// TestFilesOfOtherTools has files that cannot be read. In a folder, those that no cluster takes are left out; a case never is.
func TestFilesOfOtherTools(t *testing.T) {
	t.Parallel()
	const workflow = "on: [push]\njobs: {}\n"
	const (
		route  = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata:\n  name: {{ .Release.Name }}\nspec: {}\n"
		server = "{apiVersion: policy.linkerd.io/v1beta3, kind: Server, metadata: {name: a, namespace: b}, spec: {podSelector: {}, port: 80}}\n"
	)
	policies, others := write(t, map[string]string{"a.yaml": aPolicy}), write(t, map[string]string{"w.yaml": workflow})
	for name, tt := range map[string]struct {
		paths []string
		want  int
	}{
		"a folder":                  {[]string{others}, 1},
		"two folders":               {[]string{policies, others}, 1},
		"a route":                   {[]string{write(t, map[string]string{"a.yaml": aPolicy, "r.yaml": route})}, 1},
		"a route beside a Server":   {[]string{write(t, map[string]string{"r.yaml": route, "s.yaml": server})}, -1},
		"a route in another folder": {[]string{write(t, map[string]string{"s.yaml": server}), write(t, map[string]string{"r.yaml": route})}, -1},
		"a file":                    {[]string{filepath.Join(others, "w.yaml")}, -1},
		"a case":                    {[]string{write(t, map[string]string{"a.yaml": aPolicy, "c.yaml": aCase + "requests: []\nrequests: []\n"})}, -1},
		"a second case":             {[]string{write(t, map[string]string{"a.yaml": aPolicy, "c.yaml": workflow + "---\n" + aCase})}, -1},
	} {
		files, err := lab.Open(lab.Choice{}, tt.paths...)
		if (err != nil) != (tt.want < 0) || err == nil && len(files.Sources) != tt.want {
			t.Errorf("%s: %v, %v", name, files, err)
		}
	}
}

// Many kustomizations are told once: the root of a repository has a note, and no page of them.
func TestKustomizationsAreToldOnce(t *testing.T) {
	t.Parallel()
	for want, files := range map[string]map[string]string{
		": this kustomization is not carried out: ":                    {"p.yaml": aPolicy, "kustomization.yaml": "resources: [p.yaml]\n"},
		": this kustomization, and 1 more like it, is not carried out": {"p.yaml": aPolicy, "kustomization.yaml": "resources: [a]\n", "a/kustomization.yaml": "resources: [../p.yaml]\n"},
	} {
		opened, err := lab.Open(lab.Choice{}, write(t, files))
		var told strings.Builder
		if err = errors.Join(err, lab.LeaveOut(&told, false, opened)); err != nil || strings.Count(told.String(), want) != 1 || strings.Count(told.String(), "carried out") != 1 {
			t.Errorf("%v, %q, want %q once", err, &told, want)
		}
	}
}
