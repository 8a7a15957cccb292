package kuma_test

import (
	"testing"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// routed has a route for the workload web, and a timeout of the route for the workload job.
const routed = `
{type: MeshService, name: backend, spec: {selector: {dataplaneTags: {app: backend}}, ports: [{port: 80, name: http, targetPort: 8080, appProtocol: http}]}}
---
{type: MeshHTTPRoute, name: slow, spec: {targetRef: {kind: Dataplane, name: web}, to: [{targetRef: {kind: MeshService, name: backend}, rules: [{matches: [{path: {type: PathPrefix, value: /slow}}], default: {backendRefs: [{kind: MeshService, name: backend}]}}]}]}}
---
{type: MeshTimeout, name: late, spec: {targetRef: {kind: Dataplane, name: job}, to: [{targetRef: {kind: MeshHTTPRoute, name: slow}, default: {http: {requestTimeout: 10s}}}]}}
`

// The dialect gives the outbound side of a workload, and a second opinion on it.
func TestRouting(t *testing.T) {
	t.Parallel()
	router := kuma.Dialect.(capability.Router)
	docs, err := manifest.Parse("p.yaml", []byte(routed))
	if err != nil {
		t.Fatal(err)
	}
	set, err := router.ParseRouting(docs, language.Options{})
	if err != nil || !router.OwnsRouting(docs[2]) {
		t.Fatal(err)
	}
	workload := func(name string) policy.Inbound {
		return policy.Inbound{Workload: policy.Workload{Name: name, Mesh: "default"}}
	}
	web, job := workload("web"), workload("job")
	const outbound, rule = "kri_msvc_default___backend_http", "kri_mhttpr_default___slow_rule_0"
	proxy, ignored := set.Outbounds(web)
	o, err := proxy.Find("MeshService/backend:80")
	if err != nil || o.Name != outbound || o.Place != "p.yaml:2" || len(ignored) != 1 || ignored[0].String() != `p.yaml:6: kri_mt_default___late_: targetRef.name is "job"` {
		t.Fatalf("%+v, %v, %v", o, ignored, err)
	}
	if r := o.Routes[0]; r.Place != "p.yaml:4: spec.to[0].rules[0]" || r.Sends != "p.yaml:4: spec.to[0].rules[0].default.backendRefs" {
		t.Errorf("%+v", r)
	}
	request := policy.Request{Method: "GET", Path: "/slow/x"}
	d := o.Decide(request)
	second, ok := set.Follow(web, outbound, request)
	if !ok || d.Route != rule || second.Route != rule || second.Backends[0] != d.Backends[0] {
		t.Errorf("%+v, %+v, %t", d, second, ok)
	}
	if _, ok := set.Follow(web, "other", request); ok {
		t.Error("there is an outbound that no service has")
	}
	backend := policy.Inbound{Workload: policy.Workload{Name: "b", Mesh: "default"}, Port: 8080, Tags: map[string]string{"app": "backend"}}
	if in := set.InboundsBehind(outbound, []policy.Inbound{web, backend}); len(in) != 1 || in[0].Workload.Name != "b" {
		t.Errorf("%v", in)
	}
	if m := set.Mismatches([]policy.Inbound{web, job}); len(m) != 1 || m[0].Reason != "it has no effect: of 2 proxies 1 have the policy and 1 the route kri_mhttpr_default___slow_, none has both" {
		t.Errorf("%v", m)
	}
	targets := set.Targets()
	if len(targets) != 2 || !targets[0].Selects(web) || targets[0].Selects(job) || targets[1].Fit(web).Workload.Name != "job" {
		t.Errorf("%+v", targets)
	}
	if _, err := router.ParseRouting(docs[1:2], language.Options{}); err != nil {
		t.Errorf("a route to nothing is legal: %v", err)
	}
}

// A port of a service has the protocols that an inbound of a Dataplane has.
func TestKafkaIsTCP(t *testing.T) {
	t.Parallel()
	docs, err := manifest.Parse("p.yaml", []byte("{type: MeshService, name: queue, spec: {selector: {dataplaneTags: {app: queue}}, ports: [{port: 9092, targetPort: 9092, appProtocol: kafka}]}}"))
	if err != nil {
		t.Fatal(err)
	}
	set, err := kuma.Dialect.(capability.Router).ParseRouting(docs, language.Options{})
	if err != nil {
		t.Fatal(err)
	}
	proxy, _ := set.Outbounds(policy.Inbound{Workload: policy.Workload{Name: "web"}})
	if len(proxy.Outbounds) != 1 || proxy.Outbounds[0].Protocol != policy.TCP {
		t.Errorf("%v", proxy)
	}
}
