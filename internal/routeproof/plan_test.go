package routeproof_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/routeproof"
	"github.com/meshproof/meshproof/internal/script"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
)

func plan(t *testing.T, path, to string) []*routeproof.Proof {
	t.Helper()
	files, err := lab.Open(lab.Choice{}, path)
	if err != nil {
		t.Fatal(err)
	}
	files.TakeRouting()
	proofs, _, err := routeproof.Plan(files, lab.Surroundings{}, to)
	if err != nil {
		t.Fatal(err)
	}
	return proofs
}

// Every class of each outbound is asked for, a request waits for each short limit, and workloads
// with one outbound side are asked once.
func TestPlan(t *testing.T) {
	t.Parallel()
	proofs := plan(t, "../../examples/routes", "")
	if len(proofs) != 2 || strings.Join(proofs[1].Senders, " ") != "backend-1 backend-v2-1" {
		t.Fatalf("%d proofs", len(proofs))
	}
	p := proofs[0]
	never, waits := 0, map[string]bool{}
	for _, q := range p.RoutedRequests {
		if q.From != "web" {
			t.Errorf("%+v", q)
		}
		if q.Answer != (script.Answer{}) {
			never++
			waits[q.Place] = true
		}
	}
	// Each route to the first version has a bound by policy.
	if never != 3 || p.Waited != 3 || len(p.NotWaited) != 3 || len(waits) != 3 {
		t.Errorf("%d requests wait for %d limits, not for %q", never, p.Waited, p.NotWaited)
	}
	if none := plan(t, "../../examples/routes", "backend-1/main"); none != nil {
		t.Error("an inbound is chosen")
	}
	if none := plan(t, "../../examples/policies", ""); none != nil {
		t.Error("there is no route")
	}
}

// A route or a timeout that no request is about is not asked, and one that has no effect for
// another reason is warned of.
func TestUnaskedRouting(t *testing.T) {
	t.Parallel()
	const service = "apiVersion: kuma.io/v1alpha1\nkind: MeshService\nmetadata: {name: orders, namespace: shop}\nspec: {selector: {dataplaneTags: {app: orders}}, ports: [{port: 80, targetPort: 8080, appProtocol: http}]}\n"
	timeout := func(ref, conf string) string {
		return "---\napiVersion: kuma.io/v1alpha1\nkind: MeshTimeout\nmetadata: {name: t, namespace: shop}\nspec: {to: [{targetRef: " + ref + ", default: " + conf + "}]}\n"
	}
	for name, test := range map[string]struct{ documents, unasked, warning string }{
		"right":         {service + timeout("{kind: MeshService, name: orders}", "{http: {requestTimeout: 2s}}"), "", ""},
		"wrong service": {service + timeout("{kind: MeshService, name: order}", "{http: {requestTimeout: 2s}}"), "kri_mt_default__shop_t_: there is no MeshService \"order\" among the documents", ""},
		"wrong route":   {service + timeout("{kind: MeshHTTPRoute, name: r}", "{http: {requestTimeout: 2s}}"), "kri_mt_default__shop_t_: there is no MeshHTTPRoute \"r\" among the documents", ""},
		"wrong port":    {service + timeout("{kind: MeshService, name: orders, sectionName: grpc}", "{http: {requestTimeout: 2s}}"), "", "has no port \"grpc\""},
		"no service":    {timeout("{kind: Mesh}", "{http: {requestTimeout: 2s}}"), "MeshTimeout: no document describes a service that a workload can send to", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "mesh.yaml")
			if err := os.WriteFile(file, []byte(test.documents), 0o600); err != nil {
				t.Fatal(err)
			}
			files, err := lab.Open(lab.Choice{}, file)
			if err != nil {
				t.Fatal(err)
			}
			files.TakeRouting()
			web := policy.Inbound{Workload: policy.Workload{Name: "web", Namespace: "shop", Mesh: "default"}, Port: 8080, Protocol: policy.HTTP}
			proofs, population, err := routeproof.Plan(files, lab.Surroundings{Inbound: web}, "")
			if err != nil {
				t.Fatal(err)
			}
			r := routeproof.NewReport("1.40.0", false, proofs, population, make([]result.Case, len(proofs)))
			unasked, warnings := strings.Join(r.Unasked, "\n"), strings.Join(r.Warnings, "\n")
			if !strings.Contains(unasked, test.unasked) || (test.unasked == "") != (unasked == "") || !strings.Contains(warnings, test.warning) || (test.warning == "") != (warnings == "") {
				t.Errorf("not asked: %q, warnings: %q", unasked, warnings)
			}
			if test.unasked != "" && r.Holds() {
				t.Errorf("it holds: %s", r.Sentence())
			}
		})
	}
}

// A report holds only where every request was asked, and went as specified.
func TestJudge(t *testing.T) {
	t.Parallel()
	proofs := plan(t, "../../examples/routes", "")
	results := func() []result.Case {
		out := make([]result.Case, len(proofs))
		for i, p := range proofs {
			out[i].Case = p.Case.Case
			for _, q := range p.RoutedRequests {
				out[i].RoutedRequests = append(out[i].RoutedRequests, result.RoutedRequest{RoutedRequest: q})
			}
		}
		return out
	}
	report := func(r []result.Case, population lab.Population) *routeproof.Report {
		return routeproof.NewReport("1.40.0", true, proofs, population, r)
	}
	if r := report(results(), lab.Population{}); !r.Holds() || r.Sentence() != "8 of 8 classes of outbound requests took the route and the backend as specified on Envoy 1.40.0; cover complete; 3 of 12 time limits waited for" {
		t.Error(r.Sentence())
	}
	wrong, failed, unasked := results(), results(), results()
	wrong[0].RoutedRequests[1].Problems = []verdict.Problem{{Expected: "a", Found: "b"}}
	failed[1].Err = errors.New("Envoy refuses it")
	unasked[0].RoutedRequests = nil
	for name, r := range map[string]*routeproof.Report{
		"wrong": report(wrong, lab.Population{}), "failed": report(failed, lab.Population{}), "unasked": report(unasked, lab.Population{}),
		"policy": report(results(), lab.Population{Unasked: []lab.Unasked{{Policy: "p"}}}), "truncated": report(results(), lab.Population{Truncated: true}),
	} {
		var text strings.Builder
		if r.WriteText(&text, false); r.Holds() || r.Form().Holds || !strings.Contains(text.String(), "✗") {
			t.Errorf("%s: it holds:\n%s", name, &text)
		}
	}
}
