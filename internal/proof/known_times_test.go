package proof_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/routeverdict"
	"github.com/meshproof/meshproof/internal/verdict"
)

// knownTimes are what the defaults of Kuma and a time of 0s come to: 15 s for a request, 30 minutes for a stream in which
// nothing flows, 5 s for a connection, an hour for a connection in silence, and no bound. No case waits for so long.
var knownTimes = []struct {
	name, conf, does, reach string
	// ends is the cause with its time, or why nothing is expected.
	ends string
}{
	{"a request without a policy", `{connectionTimeout: 9s}`, `answer: never`, ``, "requestTimeout after 15s"},
	{"a request of 0s", `{http: {requestTimeout: 0s}}`, `answer: never`, ``, "streamIdleTimeout after 30m0s"},
	{"a request and a stream of 0s", `{http: {requestTimeout: 0s, streamIdleTimeout: 0s}}`, `answer: never`, ``, "nothing ends the request: no bound does, and the application does not"},
	{"a stream of 0s", `{http: {requestTimeout: 8s, streamIdleTimeout: 0s}}`, `answer: never`, ``, "requestTimeout after 8s"},
	{"a connection without a policy", `{http: {requestTimeout: 8s}}`, `answer: never`, `, answer: black-hole`, "connectionTimeout after 5s"},
	{"silence without a policy", `{connectionTimeout: 9s}`, `sends: {keep: 4h}`, ``, "answered would end the request after 4h0m0s, and idleTimeout after 1h0m0s: leave a quarter between the two"},
	{"silence of 0s", `{idleTimeout: 0s}`, `sends: {keep: 4h}`, ``, "nothing ends the request: no bound does, and the application does not"},
}

// The times of a sidecar are those that people know of Kuma, also where no case waits for them.
func TestKnownTimes(t *testing.T) {
	t.Parallel()
	for _, known := range knownTimes {
		all, err := cases.Parse("case.yaml", fmt.Appendf(nil, `
case: %s
story: times
workloads:
  - {name: web}
  - {name: backend, labels: {app: backend}, inbounds: [{name: main, port: 8080, protocol: http%s}]}
outbounds:
  - {type: MeshService, name: backend, spec: {selector: {dataplaneTags: {app: backend}}, ports: [{port: 80, targetPort: 8080, appProtocol: http}]}}
policies:
  - {type: MeshTrafficPermission, name: all, spec: {default: {allow: [{spiffeId: {type: Prefix, value: 'spiffe://trust-domain.mesh/'}}]}}}
  - {type: MeshTimeout, name: t, spec: {to: [{targetRef: {kind: MeshService, name: backend}, default: %s}]}}
requests:
  - {from: web, to: 'MeshService/backend:80', %s, want: 504}
`, known.name, known.reach, known.conf, known.does))
		if err != nil {
			t.Fatal(err)
		}
		reading, err := verdict.Read(all[0])
		if err != nil {
			t.Fatal(err)
		}
		routes, err := routeverdict.Read(reading)
		if routes == nil || len(routes.Expected) != 1 {
			t.Fatalf("%s: %v", known.name, err)
		}
		ends := fmt.Sprint(routes.Expected[0].Unclear)
		for _, o := range routes.Expected[0].Outcomes {
			ends = fmt.Sprintf("%s after %s", o.Cause, o.Time.Round(time.Second))
		}
		if ends != known.ends {
			t.Errorf("%s: the case wants %s, meshproof expects %s", known.name, known.ends, ends)
		}
	}
}
