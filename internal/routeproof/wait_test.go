package routeproof_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/script"
)

// mesh has the workload web, an HTTP service and a tcp service, and a permission for all but /closed.
const mesh = `type: Dataplane
mesh: default
name: web
networking: {address: 10.0.0.1, inbound: []}
---
type: Dataplane
mesh: default
name: backend-1
networking: {address: 10.0.0.2, inbound: [{name: main, port: 8080, tags: {app: backend, kuma.io/protocol: http}}]}
---
type: Dataplane
mesh: default
name: db-1
networking: {address: 10.0.0.3, inbound: [{name: main, port: 5432, tags: {app: db, kuma.io/protocol: tcp}}]}
---
type: MeshService
mesh: default
name: backend
spec: {selector: {dataplaneTags: {app: backend}}, ports: [{port: 80, targetPort: 8080, appProtocol: http}]}
---
type: MeshService
mesh: default
name: db
spec: {selector: {dataplaneTags: {app: db}}, ports: [{port: 5432, targetPort: 5432, appProtocol: tcp}]}
---
type: MeshTrafficPermission
mesh: default
name: p
spec: {rules: [{default: {PERMISSION}}]}
---
`

const allowAll = `allow: [{spiffeID: {type: Prefix, value: 'spiffe://trust-domain.mesh/'}}]`

// Each limit is waited for in the way that shows it, or named.
func TestWait(t *testing.T) {
	t.Parallel()
	timeout := func(service, conf string) string {
		return "type: MeshTimeout\nmesh: default\nname: t-" + service + "\nspec: {to: [{targetRef: {kind: MeshService, name: " + service + "}, default: {" + conf + "}}]}\n---\n"
	}
	never, _ := script.Named("never")
	const close = "requestTimeout would end the request after 200ms, and streamIdleTimeout after 220ms: leave a quarter between the two"
	for name, tt := range map[string]struct {
		permission, policies string
		waits, unseen        []string
		// The longest pause of a request, in its head and behind the answer.
		head, keep time.Duration
	}{
		"request":                 {allowAll, timeout("backend", "http: {requestTimeout: 200ms}"), []string{"requestTimeout"}, nil, 0, 0},
		"of two the shorter":      {allowAll, timeout("backend", "http: {requestTimeout: 200ms, streamIdleTimeout: 400ms}"), []string{"requestTimeout"}, []string{"streamIdleTimeout: requestTimeout ends the request after 200ms"}, 0, 0},
		"too close":               {allowAll, timeout("backend", "http: {requestTimeout: 200ms, streamIdleTimeout: 220ms}"), nil, []string{"requestTimeout: " + close, "streamIdleTimeout: " + close}, 0, 0},
		"too long":                {allowAll, timeout("backend", "http: {requestTimeout: 3s}"), nil, []string{"requestTimeout: it is longer than 2s"}, 0, 0},
		"too short":               {allowAll, timeout("backend", "http: {requestTimeout: 20ms}"), nil, []string{"requestTimeout: it is shorter than 50ms"}, 0, 0},
		"refused":                 {"deny: [{spiffeID: {type: Prefix, value: 'spiffe://trust-domain.mesh/'}}]", timeout("backend", "http: {requestTimeout: 200ms}"), nil, []string{"requestTimeout: the inbound backend-1/main refuses the request"}, 0, 0},
		"stream":                  {allowAll, timeout("backend", "http: {maxStreamDuration: 300ms, requestTimeout: 1s}"), []string{"maxStreamDuration"}, []string{"requestTimeout: maxStreamDuration ends the request after 300ms"}, 0, 0},
		"head of the request":     {allowAll, timeout("backend", "http: {requestHeadersTimeout: 150ms, maxStreamDuration: 0s}"), []string{"requestHeadersTimeout"}, nil, 300 * time.Millisecond, 0},
		"idle connection":         {allowAll, timeout("backend", "idleTimeout: 200ms"), []string{"idleTimeout"}, nil, 0, 400 * time.Millisecond},
		"age of a connection":     {allowAll, timeout("backend", "http: {maxConnectionDuration: 200ms}"), []string{"maxConnectionDuration"}, nil, 0, 400 * time.Millisecond},
		"idle tcp":                {allowAll, timeout("db", "idleTimeout: 200ms"), []string{"idleTimeout"}, nil, 0, 0},
		"no connection":           {allowAll, timeout("backend", "connectionTimeout: 200ms"), nil, []string{"connectionTimeout: each endpoint takes or refuses a connection at once"}, 0, 0},
		"no connection of tcp":    {allowAll, timeout("db", "connectionTimeout: 200ms"), nil, []string{"connectionTimeout: each endpoint takes or refuses a connection at once"}, 0, 0},
		"an http limit of tcp":    {allowAll, timeout("db", "http: {requestTimeout: 200ms}"), nil, nil, 0, 0},
		"limits of two outbounds": {allowAll, timeout("backend", "http: {requestTimeout: 200ms}") + timeout("db", "idleTimeout: 200ms"), []string{"requestTimeout", "idleTimeout"}, nil, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "mesh.yaml"), []byte(strings.ReplaceAll(mesh, "PERMISSION", tt.permission)+tt.policies), 0o644); err != nil {
				t.Fatal(err)
			}
			proofs := plan(t, dir, "")
			p := proofs[0]
			var waits, not []string
			var head, keep time.Duration
			for _, q := range p.RoutedRequests {
				if q.Answer == never || q.Sends.Head+q.Sends.Keep > 0 {
					bound, _, _ := strings.Cut(q.Place, " ")
					waits = append(waits, bound)
				}
				head, keep = max(head, q.Sends.Head), max(keep, q.Sends.Keep)
			}
			for _, u := range p.NotWaited {
				bound, _, _ := strings.Cut(u.Limit, " ")
				not = append(not, bound+": "+u.Reason)
			}
			slices.Sort(not)
			if diff := cmp.Diff(tt.waits, waits); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.unseen, not); diff != "" {
				t.Error(diff)
			}
			if p.Waited != len(waits) || head != tt.head || keep != tt.keep {
				t.Errorf("it counts %d limits, waits %s in a head, and %s behind an answer", p.Waited, head, keep)
			}
		})
	}
}
