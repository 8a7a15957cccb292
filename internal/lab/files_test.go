package lab_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
expectError: no
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
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
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
		choice lab.Choice
		want   []string
	}{
		"all":     {lab.Choice{}, []string{"a: backend/http backend/tcp", "generated: web/8080"}},
		"to":      {lab.Choice{To: "backend/tcp"}, []string{"a: backend/tcp", "generated: web/8080"}},
		"no case": {lab.Choice{Pattern: regexp.MustCompile("^b$")}, []string{"generated: web/8080"}},
	} {
		files, err := lab.Open(tt.choice, dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(files.Policies) != 1 || len(files.Dataplanes) != 1 || !files.HasCases || files.Empty() {
			t.Errorf("%s: %+v", name, files)
		}
		all, err := files.CasesFor(lab.Surroundings{Inbound: backend}, files.Inbounds())
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
	files, err := lab.Open(lab.Choice{To: "backend/none"}, write(t, map[string]string{"a.yaml": aCase}))
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
