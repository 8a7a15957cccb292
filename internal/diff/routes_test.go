package diff_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/diff"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/result/resulttest"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
)

func routed(t *testing.T, path string) diff.Side {
	t.Helper()
	files, err := diff.Open(lab.Choice{}, path)
	if err != nil {
		t.Fatal(err)
	}
	files.TakeRouting()
	return diff.Side{Files: files, Surroundings: lab.Surroundings{Inbound: policy.Inbound{Workload: policy.Workload{Name: "web", Mesh: "default"}, Port: 8080}}}
}

// A change of routes and timeouts is told beside the change of access, in each form of the output.
func TestRoutes(t *testing.T) {
	t.Parallel()
	d, err := diff.Diff(routed(t, "../../examples/routes"), routed(t, "../../examples/routes-change"), "")
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Verdict(); got != "access does not widen" {
		t.Error(got)
	}
	var text strings.Builder
	d.WriteText(&text, false)
	raw, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var form struct {
		Sentence string
		Routes   struct{ Moved, Longer int }
	}
	if err := json.Unmarshal(raw, &form); err != nil || form.Routes.Moved != 2 || form.Routes.Longer != 1 || form.Sentence != "nothing changes in 9 classes of requests to inbounds; cover complete" {
		t.Errorf("%+v, %v", form, err)
	}
	for _, printed := range []string{text.String(), d.Markdown()} {
		for _, want := range []string{"weight 3", "requestTimeout", "3 of 8 classes of outbound requests change", "1.5s", "1s"} {
			if !strings.Contains(printed, want) {
				t.Errorf("%q is not in\n%s", want, printed)
			}
		}
	}
	if d.ForgetNames(); d.Routes.Sentence() == "" {
		t.Error("the routes are forgotten")
	}
}

// Files with routes alone say nothing about access, and nothing is said about it.
func TestRoutesAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name+".yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const service = "{type: MeshService, name: s, spec: {selector: {dataplaneTags: {app: s}}, ports: [{port: 80, targetPort: 80, appProtocol: http}]}}\n"
	const bound = "---\n{type: MeshTimeout, name: t, spec: {to: [{targetRef: {kind: MeshService, name: s}, default: {http: {requestTimeout: 1s}}}]}}\n"
	const never = "---\n{type: MeshTimeout, name: 'n', spec: {targetRef: {kind: Dataplane, labels: {kuma.io/mesh: x}}, to: [{targetRef: {kind: MeshService, name: s}, default: {http: {requestTimeout: 1s}}}]}}\n"
	const mesh = "---\n{type: Mesh, name: default, mtls: {enabledBackend: a, backends: [{name: a, type: builtin, mode: PERMISSIVE}]}}\n"
	for _, tt := range []struct {
		name, recent, verdict string
	}{
		{"unread", service + mesh, "access widens, or may widen: what meshproof does not judge has changed, and may let callers in: unread.yaml:3 (Mesh default/default) is new: review it by hand, in a change of its own"},
		{"changed", service + bound, "no policy about access is there to compare: routes and timeouts let no caller in"},
		{"unasked", service + never, "access widens, or may widen: nothing can be said of kri_mt_default___n_: its requirements contradict each other; on the nearest workload, it is of mesh \"default\", the workload of mesh \"x\""},
	} {
		d, err := diff.Diff(routed(t, write(tt.name+"-old", service)), routed(t, write(tt.name, tt.recent)), "")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(d.Verdict(), dir+string(filepath.Separator), ""); got != tt.verdict {
			t.Errorf("%s: %s", tt.name, got)
		}
		var text strings.Builder
		if d.WriteText(&text, false); strings.Contains(text.String(), "in 0 classes of requests") {
			t.Errorf("%s: it says something of access:\n%s", tt.name, &text)
		}
	}
}

// The routes of two cases of one name are compared on the workloads that the case states, and a request of each
// change is a request of that case.
func TestRoutesOfCases(t *testing.T) {
	t.Parallel()
	const file = "../../cases/kuma/route-authorization.yaml"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const operator = "  - {apiVersion: kuma.io/v1alpha1, kind: MeshTrafficPermission, metadata: {name: operator"
	nobody := "  - {type: MeshTimeout, name: 'n', spec: {targetRef: {kind: Dataplane, labels: {app: nobody}}, to: [{targetRef: {kind: MeshService, name: backend}, default: {http: {requestTimeout: 1s}}}]}}\n"
	for name, tt := range map[string]struct {
		change   *strings.Replacer
		verdict  string
		sentence string
		asked    int
	}{
		"nothing":             {strings.NewReplacer(), "access does not widen", "nothing changes in 6 classes of outbound requests; cover complete", 0},
		"a longer time":       {strings.NewReplacer("requestTimeout: 120ms", "requestTimeout: 400ms"), "access does not widen", "3 of 6 classes of outbound requests change: 0 go elsewhere, 3 may wait longer", 4},
		"another workload":    {strings.NewReplacer("name: web, namespace: frontend-ns", "name: shop, namespace: frontend-ns", "from: web, to: 'MeshService/backend:80', path: /slow", "from: shop, to: 'MeshService/backend:80', path: /slow", "from: web, to: 'MeshService/backend:80', path: [", "from: shop, to: 'MeshService/backend:80', path: [", "requestTimeout: 120ms", "requestTimeout: 400ms"), "access does not widen", "3 of 6 classes", 4},
		"nobody has the time": {strings.NewReplacer(operator, nobody+operator), "access widens, or may widen: nothing can be said of kri_mt_default___n_ (place): it selects no workload of the case", "nothing changes in 6 classes", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := filepath.Join(t.TempDir(), "changed.yaml")
			if err := os.WriteFile(changed, []byte(tt.change.Replace(string(text))), 0o600); err != nil {
				t.Fatal(err)
			}
			d, err := diff.Diff(routed(t, file), routed(t, changed), "")
			if err != nil {
				t.Fatal(err)
			}
			if got := regexp.MustCompile(`\(.*changed.yaml[^)]*\)`).ReplaceAllString(d.Verdict(), "(place)"); got != tt.verdict {
				t.Errorf("%s", got)
			}
			if got := d.Routes.Sentence(); !strings.HasPrefix(got, tt.sentence) {
				t.Errorf("%s", got)
			}
			asked := 0
			if _, err := d.Confirm(t.Context(), "1.40.0", func(_ context.Context, sides ...*verdict.Reading) []result.Case {
				asked += len(sides[0].Case.RoutedRequests)
				return resulttest.Run(sides)
			}); err != nil || asked != tt.asked {
				t.Errorf("%d requests are asked, want %d: %v", asked, tt.asked, err)
			}
		})
	}
}

// The requests that a case states through a sidecar are not among those that show a change of access.
func TestShownWithoutRoutedRequests(t *testing.T) {
	t.Parallel()
	all, err := cases.Load("../../cases/kuma/route-authorization.yaml")
	if err != nil {
		t.Fatal(err)
	}
	old, recent := diff.Shown(all[0], all[0], nil)
	if n := len(old.RoutedRequests) + len(recent.RoutedRequests); n > 0 {
		t.Errorf("%d requests of the case are left", n)
	}
}
