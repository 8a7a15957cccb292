package outbound_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/policy/kuma/internal/outbound"
)

// What released Kuma leaves out of the cluster of a backend is not proven there, and what it never leaves out is.
func TestUnprovenLimits(t *testing.T) {
	t.Parallel()
	const all = `{type: MeshService, name: a, labels: {team: a}, spec: {selector: {dataplaneTags: {kuma.io/service: a}}, ports: [{name: web, port: 80, targetPort: 80, appProtocol: PROTOCOL}]}}
---
{type: MeshMultiZoneService, name: z, spec: {selector: {meshService: {matchLabels: {team: a}}}, ports: [{name: web, port: 80, appProtocol: PROTOCOL}]}}
---
{type: ROUTE, name: r, spec: {to: [{targetRef: {kind: MeshService, name: a}, rules: [{MATCHES default: {backendRefs: [BACKEND]}}]}]}}
---
{type: MeshTimeout, name: t, spec: {to: [{targetRef: TO, default: LIMIT}]}}
---
{type: Dataplane, name: web, networking: {address: 10.0.0.1}}
`
	const http, tcp = "http", "tcp"
	const number, name = "{kind: MeshService, name: a, port: 80}", "{kind: MeshService, name: a, sectionName: web}"
	const port, whole, zones = "{kind: MeshService, name: a, sectionName: web}", "{kind: MeshService, name: a}", "{kind: MeshMultiZoneService, name: z}"
	const connection, stream = "{connectionTimeout: 1s}", "{http: {maxStreamDuration: 1s}}"
	for title, tt := range map[string]struct {
		protocol, backend, service, limit string
		unproven                          bool
	}{
		"a number, and a limit for the name":          {http, number, port, connection, true},
		"a number in a sectionName":                   {http, "{kind: MeshService, name: a, sectionName: '80'}", port, stream, true},
		"a number of a port of several zones":         {http, "{kind: MeshMultiZoneService, name: z, port: 80}", "{kind: MeshMultiZoneService, name: z, sectionName: web}", connection, true},
		"a number on tcp":                             {tcp, number, port, connection, true},
		"a number on tcp, and a limit of connections": {tcp, number, port, "{idleTimeout: 1s}", false},
		"a number on gRPC, which has no such limit":   {"grpc", number, port, stream, false},
		"a name":                                {http, name, port, connection, false},
		"a number, and a limit for the service": {http, number, whole, connection, false},
		"a number, and a limit of the route":    {http, number, port, "{http: {requestTimeout: 1s}}", false},
		"a stream of several zones":             {http, name, zones, stream, true},
		"a stream of all":                       {"http2", name, "{kind: Mesh}", stream, true},
		"the default of several zones":          {http, name, zones, "{idleTimeout: 1h}", false},
		"the time to connect to several zones":  {http, name, zones, connection, false},
		"a time of tcp of several zones":        {tcp, name, zones, "{idleTimeout: 1m}", false},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			kind, matches := "MeshHTTPRoute", "matches: [{}],"
			if tt.protocol == tcp {
				kind, matches = "MeshTCPRoute", ""
			}
			docs, planes := read(t, strings.NewReplacer("PROTOCOL", tt.protocol, "BACKEND", tt.backend, "TO", tt.service, "LIMIT", tt.limit, "ROUTE", kind, "MATCHES", matches).Replace(all))
			for _, design := range []outbound.Design{outbound.Seed, outbound.Released} {
				r, err := outbound.Parse(docs, "kuma-system", design)
				if err != nil {
					t.Fatal(err)
				}
				got := ""
				for _, ignored := range r.ProxyOf(planes[0].Caller()).Ignored {
					if ignored.Unproven {
						got += ignored.Reason
					}
				}
				if (got != "") != (tt.unproven && design == outbound.Released) {
					t.Errorf("%s: %q", design, got)
				}
			}
		})
	}
}
