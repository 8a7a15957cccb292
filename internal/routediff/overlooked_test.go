package routediff_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/routediff"
)

// A part of the documents that no class of requests shows is a change all the same, or is named as not
// compared.
func TestNothingIsPassedOver(t *testing.T) {
	t.Parallel()
	const (
		web = "{type: Dataplane, mesh: default, name: web, labels: {app: web}, networking: {address: 10.0.0.1, NETWORK inbound: [{name: main, port: 8080, tags: {kuma.io/service: web, kuma.io/protocol: http}}SECOND]}}\n"
		b   = `---
{type: Dataplane, mesh: default, name: b, labels: {app: b}, networking: {address: 10.0.0.2, inbound: [{name: main, port: 8080, tags: {kuma.io/service: b, kuma.io/protocol: http}}]}}
`
		services = `---
{type: MeshService, name: b, labels: {tier: x}, STATUS spec: {selector: {dataplaneTags: {kuma.io/service: b}}, ports: [{name: http, port: 80, targetPort: 8080, appProtocol: http}]}}
---
{type: MeshService, name: c, labels: {tier: 'y'}, spec: {selector: {dataplaneTags: {kuma.io/service: b}}, ports: [{name: http, port: 80, targetPort: 8080, appProtocol: http}]}}
`
		all      = web + b + services
		zones    = services + "---\n{type: MeshMultiZoneService, name: z, spec: {selector: {meshService: {matchLabels: {tier: x}}}, ports: [{name: http, port: 80, appProtocol: http}]}}\n"
		route    = "---\n{type: KIND, name: r, mesh: MESH, spec: {TARGET to: [{targetRef: {kind: MeshService, name: TO}, rules: [{MATCH default: {backendRefs: [{kind: MeshService, name: BACKEND}]}}]}]}}\n"
		inbounds = "---\n{type: MeshTimeout, name: t, LABELS spec: {targetRef: {kind: Dataplane, labels: {app: APP}}, rules: [{default: {http: {requestTimeout: 1s}}}]}}\n"
		bound    = "---\n{type: MeshTimeout, name: t, spec: {to: [{targetRef: {kind: KIND, name: none}, default: {http: {requestTimeout: TIME}}}]}}\n"
		named    = "---\n{type: MeshTimeout, name: t, spec: {targetRef: {kind: Dataplane, name: web}, to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 1s}}}]}}\n"
		zoned    = "---\n{type: MeshTimeout, name: t, labels: {kuma.io/origin: zone, kuma.io/zone: east}, spec: {to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 1s}}}]}}\n"
		faults   = "---\n{type: MeshFaultInjection, name: f, mesh: default, spec: {rules: [{default: {http: [{abort: {httpStatus: 500, percentage: 100}}]}}]}}\n"
		oldest   = "---\n{apiVersion: kuma.io/v1alpha1, kind: MeshService, metadata: {name: d, creationTimestamp: \"AGE-01-01T00:00:00Z\"}, spec: {selector: {dataplaneTags: {kuma.io/service: b}}, ports: [{name: http, port: 80, targetPort: 8080, appProtocol: http}]}}\n---\n{type: MeshHTTPRoute, name: r, spec: {to: [{targetRef: {kind: MeshService, name: b}, rules: [{matches: [{}], default: {backendRefs: [{kind: MeshService, labels: {kuma.io/mesh: default}}]}}]}]}}\n"
		subset   = "targetRef: {kind: MeshSubset, tags: {v: two}},"
		gateway  = "---\n{type: Dataplane, mesh: default, name: g, networking: {address: 10.0.0.9, gateway: {type: DELEGATED, tags: {kuma.io/service: SERVICE}}}}\n"
	)
	with := func(text string, pairs ...string) string {
		return strings.NewReplacer(append(pairs, "NETWORK", "", "SECOND", "", "STATUS", "", "TARGET", "", "MATCH", "matches: [{}],", "LABELS", "", "KIND", "MeshHTTPRoute", "MESH", "default", "TO", "b", "BACKEND", "c")...).Replace(text)
	}
	for name, tt := range map[string]struct{ old, recent, want string }{
		"nothing changes":                                {all + route, all + route, ""},
		"the target of bounds on inbounds":               {with(all+inbounds, "APP", "web"), with(all+inbounds, "APP", "b"), "bounds on the requests that a workload gets are not compared"},
		"the labels of bounds on inbounds":               {with(all+inbounds, "APP", "b"), with(all+inbounds, "APP", "b", "LABELS", "labels: {kuma.io/effect: shadow},"), "bounds on the requests that a workload gets are not compared"},
		"a service of several zones, without Dataplanes": {with(zones), with(strings.Replace(zones, "tier: 'y'", "tier: x", 1)), "services"},
		"whether a service is ready for TLS":             {with(all), with(all, "STATUS", "status: {tls: {status: NotReady}},"), "status.tls"},
		"the address of a service":                       {with(all, "STATUS", "status: {vips: [{ip: 240.0.0.1}]},"), with(all, "STATUS", "status: {vips: [{ip: 240.0.0.2}]},"), "status.vips"},
		"the age of a service":                           {with(all+oldest, "AGE", "2020"), with(all+oldest, "AGE", "2021"), "and Kuma takes the oldest"},
		"a workload of another name":                     {with(all + named), strings.Replace(with(all+named), "name: web,", "name: web2,", 1), "web2 (was web)"},
		"a workload of another mesh":                     {with(all + route), strings.Replace(with(all+route), "mesh: default, name: web,", "mesh: other, name: web,", 1), "only in OLD"},
		"a workload of another zone":                     {with(all + zoned), strings.Replace(with(all+zoned), "labels: {app: web}", "labels: {app: web, kuma.io/origin: zone, kuma.io/zone: west}", 1), "longer: "},
		"faults of inbounds":                             {with(all) + faults, with(all), "requests that a workload gets are not compared by"},
		"backends that a sidecar reaches":                {with(all), with(all, "NETWORK", "transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001, reachableBackends: {refs: []}},"), "which services its sidecar reaches"},
		"services that a sidecar reaches":                {with(all, "NETWORK", "transparentProxying: {reachableServices: [b]},"), with(all), "which services its sidecar reaches"},
		"outbounds that a Dataplane states":              {with(all, "NETWORK", "outbound: [{port: 9000, tags: {kuma.io/service: b}}],"), with(all, "NETWORK", "outbound: [{port: 9000, tags: {kuma.io/service: c}}],"), "which services its sidecar reaches"},
		"an inbound that is not ready":                   {with(all), strings.Replace(with(all), "inbound: [{name: main,", "inbound: [{state: NotReady, name: main,", 1), "which of its inbounds are ready"},
		"the health of an inbound":                       {with(all), strings.Replace(with(all), "inbound: [{name: main,", "inbound: [{health: {ready: false}, name: main,", 1), "which of its inbounds are ready"},
		"a redirected port is no service":                {with(all), with(all, "NETWORK", "transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001},"), ""},
		"the tags of a gateway":                          {with(all+route+gateway, "TARGET", "targetRef: {kind: MeshSubset, tags: {kuma.io/service: g}},", "SERVICE", "g"), with(all+route+gateway, "TARGET", "targetRef: {kind: MeshSubset, tags: {kuma.io/service: g}},", "SERVICE", "h"), "moved"},
		"a tag of a second inbound":                      {with(all + route), with(all+route, "TARGET", subset, "SECOND", ", {name: second, port: 8081, tags: {v: two, kuma.io/protocol: http}}"), "the sidecar of web: routes or timeouts select it by the tags"},
		"a route without any service":                    {with(route), with(route, "BACKEND", "b"), "no document describes a service"},
		"a route of a mesh without a service":            {with(all+route, "MESH", "other"), with(all+route, "MESH", "other", "BACKEND", "b"), `there is no MeshService "b" among the documents`},
		"a bound of a mesh without a service":            {with(all + route), with(all) + "---\n{type: MeshTimeout, name: t, mesh: other, spec: {to: [{targetRef: {kind: Mesh}, default: {connectionTimeout: 1s}}]}}\n", "no document describes a service"},
		"a route to a service that is missing":           {with(all+route, "TO", "none"), with(all+route, "TO", "none", "BACKEND", "b"), `there is no MeshService "none" among the documents`},
		"a route of some to a service that is missing":   {with(all+route, "TO", "none", "TARGET", "targetRef: {kind: Dataplane, labels: {app: web}},"), with(all), `there is no MeshService "none" among the documents`},
		"a bound on a service that is missing":           {with(all), with(all+bound, "KIND", "MeshService", "TIME", "1s"), `there is no MeshService "none" among the documents`},
		"a bound on a route that is missing":             {with(all+bound, "TIME", "2s"), with(all+bound, "TIME", "1s"), `there is no MeshHTTPRoute "none" among the documents`},
		"a path that the lab cannot send":                {with(all+route, "MATCH", "matches: [{path: {type: Exact, value: /ä}}],"), with(all), "requests to MeshService/b:http that the lab cannot send are treated otherwise: path /ä"},
		"a parameter that the lab cannot send":           {with(all+route, "MATCH", "matches: [{queryParams: [{name: v, type: Exact, value: ä}]}],"), with(all), "requests to MeshService/b:http that the lab cannot send are treated otherwise: query parameter v"},
		"a method that the lab cannot send":              {with(all+route, "MATCH", "matches: [{method: CONNECT}],"), with(all+route, "MATCH", "matches: [{method: CONNECT}],", "BACKEND", "b"), "that the lab cannot send are treated otherwise: method CONNECT"},
		"a route of connections for a port of requests":  {with(all), with(all+route, "KIND", "MeshTCPRoute", "MATCH", ""), "port http of MeshService \"b\" is http, on which no MeshTCPRoute is proven"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			d, err := routediff.Diff(open(t, dir, "old", with(tt.old)), open(t, dir, "new", with(tt.recent)))
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			d.WriteText(&text, false)
			got := text.String() + strings.Join(d.NotVerified(), "\n")
			if tt.want == "" && (d.Changes() || len(d.NotVerified()) > 0) || !strings.Contains(got, tt.want) {
				t.Errorf("want %q, got\n%s\n%s", tt.want, got, d.Sentence())
			}
		})
	}
}
