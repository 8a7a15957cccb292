package routelint_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/internal/routelint"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

const services = `{type: MeshService, mesh: default, name: s, spec: {selector: {dataplaneTags: {app: s}}, ports: [{port: 80, targetPort: 8080, appProtocol: http}, {port: 90, targetPort: 9090, appProtocol: tcp}]}}
---
{type: MeshService, mesh: default, name: v2, spec: {selector: {dataplaneTags: {app: v2}}, ports: [{port: 80, targetPort: 8080, appProtocol: http}]}}
---
`

func route(name, rules string) string {
	return "{type: MeshHTTPRoute, mesh: default, name: " + name + ", spec: {to: [{targetRef: {kind: MeshService, name: s}, rules: [" + rules + "]}]}}\n---\n"
}

func timeout(name, of, conf string) string {
	return "{type: MeshTimeout, mesh: default, name: " + name + ", spec: {" + of + "to: [{targetRef: {kind: MeshService, name: s}, default: {" + conf + "}}]}}\n---\n"
}

// Each kind of warning has a set that shows it, and a neighbour without it.
func TestOf(t *testing.T) {
	t.Parallel()
	const (
		toV2   = "default: {backendRefs: [{kind: MeshService, name: v2}]}"
		prefix = "{matches: [{path: {type: PathPrefix, value: /a}}], " + toV2 + "}"
		ofWeb  = "targetRef: {kind: Dataplane, name: web}, "
	)
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"a route and a time":                  {route("r", prefix) + timeout("t", "", "http: {requestTimeout: 1s}"), nil},
		"two rules for one match":             {route("r", prefix+", "+prefix), []string{"route-not-reached spec.to[0].rules[1]"}},
		"the weaker route gives the backends": {route("a", "{matches: [{path: {type: PathPrefix, value: /a}}]}") + route("b", prefix), nil},
		"behind the widest prefix":            {route("r", "{matches: [{path: {type: PathPrefix, value: /}}], "+toV2+"}") + timeout("t", "", "http: {requestTimeout: 1s}"), nil},
		"a route of another layer":            {"{type: MeshTCPRoute, mesh: default, name: r, spec: {to: [{targetRef: {kind: MeshService, name: v2}, rules: [{" + toV2 + "}]}]}}\n---\n", []string{"route-not-reached spec.to[0].rules[0]"}},
		"no port of the layer, said once":     {"{type: MeshHTTPRoute, mesh: default, name: r, spec: {to: [{targetRef: {kind: MeshService, name: s, sectionName: '90'}, rules: [" + prefix + "]}]}}\n---\n", []string{"route-not-reached spec.to[0].rules[0]"}},
		"a backend that does not exist":       {route("r", "{matches: [{path: {type: PathPrefix, value: /a}}], default: {backendRefs: [{kind: MeshService, name: gone}, {kind: MeshService, name: v2}]}}"), []string{"missing-backend spec.to[0].rules[0].default.backendRefs[0]"}},
		"a backend for another port":          {route("r", "{matches: [{}], default: {backendRefs: [{kind: MeshService, name: v2, port: 81}]}}"), []string{"missing-backend spec.to[0].rules[0].default.backendRefs[0]"}},
		"all workloads have another time":     {timeout("t", "", "http: {requestTimeout: 1s, streamIdleTimeout: 2s}") + timeout("u", "targetRef: {kind: MeshSubset, tags: {kuma.io/zone: z}}, ", "http: {requestTimeout: 3s}") + timeout("v", ofWeb, "http: {requestTimeout: 2s}"), []string{"selects-nothing ", "limit-without-effect spec.to[0].default.http.requestTimeout"}},
		"one workload has another time":       {timeout("t", "", "http: {requestTimeout: 1s}") + timeout("v", "targetRef: {kind: Dataplane, name: other}, ", "http: {requestTimeout: 2s}"), []string{"selects-nothing "}},
		"a limit that one port has":           {timeout("t", "", "connectionTimeout: 1s, http: {requestTimeout: 1s}"), nil},
		"a limit that no port has":            {"{type: MeshTimeout, mesh: default, name: t, spec: {to: [{targetRef: {kind: MeshService, name: s, sectionName: '90'}, default: {connectionTimeout: 1s, http: {requestTimeout: 1s}}}]}}\n---\n", []string{"limit-without-effect spec.to[0].default.http.requestTimeout"}},
		"the idle time of a tcp port":         {"{type: MeshTimeout, mesh: default, name: t, spec: {to: [{targetRef: {kind: MeshService, name: s, sectionName: '90'}, default: {idleTimeout: 1s}}]}}\n---\n", nil},
		"a service that does not exist":       {"{type: MeshTimeout, mesh: default, name: t, spec: {to: [{targetRef: {kind: MeshService, name: gone}, default: {connectionTimeout: 1s}}]}}\n---\n", []string{"dangling-reference spec.to[0].targetRef"}},
		"a time for the whole mesh":           {"{type: MeshTimeout, mesh: default, name: t, spec: {to: [{targetRef: {kind: Mesh}, default: {connectionTimeout: 1s}}]}}\n---\n" + timeout("u", "", "connectionTimeout: 2s"), nil},
		"bounds on what a workload gets":      {"{type: MeshTimeout, mesh: default, name: t, spec: {from: [{targetRef: {kind: Mesh}, default: {connectionTimeout: 1s}}]}}\n---\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			docs, err := manifest.Parse("p.yaml", []byte(services+tt.text))
			if err != nil {
				t.Fatal(err)
			}
			set, err := dialects.RouterOf(docs[0]).ParseRouting(docs, language.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, w := range routelint.Lint(set, []policy.Inbound{{Workload: policy.Workload{Mesh: "default", Name: "web"}}}) {
				_, field, _ := strings.Cut(strings.TrimPrefix(w.Place, "p.yaml:"), ": ")
				got = append(got, string(w.Kind)+" "+field)
				if w.Message == "" || w.Policy == "" {
					t.Errorf("%+v", w)
				}
			}
			slices.Sort(got)
			slices.Sort(tt.want)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Without a workload nothing can be said of effects.
func TestOfNobody(t *testing.T) {
	t.Parallel()
	docs, err := manifest.Parse("p.yaml", []byte(services))
	if err != nil {
		t.Fatal(err)
	}
	set, err := dialects.RouterOf(docs[0]).ParseRouting(docs, language.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := routelint.Lint(set, nil); len(got) > 0 {
		t.Error(got)
	}
}
