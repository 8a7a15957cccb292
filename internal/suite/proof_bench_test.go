package suite_test

import (
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/advisory"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/pin"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/suite"
)

// prove plans the proof of a case, and sends its requests to a warm Envoy. It reports what Envoy
// needs by itself: no caller, however fast, gets more decisions of a core than one for each such time.
// The peaks are the memory of this process and of the largest Envoy.
func prove(b *testing.B, c cases.Case) {
	b.Helper()
	before := cpuTime(usage(b, syscall.RUSAGE_CHILDREN))
	h, err := harness.Start(b.Context(), harness.WithRuntime(envoy.Process))
	if err != nil {
		b.Fatal(err)
	}
	suite.Runner{Harness: h, Kept: true}.Readings(b.Context(), planned(b, casetest.Parse(b, `
case: warm
workloads: [{name: backend, inbounds: [{port: 8080, protocol: http}]}]
policies: []
requests: [{from: anonymous, to: backend/8080, want: handshake-failure}]
`)).Reading)
	var planning, asking time.Duration
	decisions, connections := 0, 0
	for b.Loop() {
		began := time.Now()
		p := planned(b, c)
		planning += time.Since(began)
		began = time.Now()
		results := suite.Runner{Harness: h, Kept: true}.Readings(b.Context(), p.Reading)
		asking += time.Since(began)
		if v := p.Judge(results[0]); !v.Holds() {
			b.Fatal(v.Err, len(v.Disagreements))
		}
		decisions += len(results[0].Requests)
		connections += callersOf(results[0].Requests)
	}
	if err := h.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(connections)/float64(b.N), "connections/op")
	envoys := usage(b, syscall.RUSAGE_CHILDREN)
	b.ReportMetric((cpuTime(envoys)-before).Seconds()*1000/float64(decisions), "envoy-cpu-ms/decision")
	if runtime.GOOS == "linux" {
		// Other systems have other units.
		b.ReportMetric(float64(usage(b, syscall.RUSAGE_SELF).Maxrss)/1024, "peak-MB")
		b.ReportMetric(float64(envoys.Maxrss)/1024, "envoy-peak-MB")
	}
	b.ReportMetric(planning.Seconds()/float64(b.N), "plan-s/op")
	b.ReportMetric(float64(decisions)/float64(b.N), "decisions/op")
	b.ReportMetric(float64(decisions)/asking.Seconds(), "decisions/s")
}

// callersOf counts the requests that need a connection of their own: those of another caller, address
// or server name.
func callersOf(requests []result.Request) int {
	keys := map[string]bool{}
	for _, q := range requests {
		keys[fmt.Sprint(q.From.Name, q.SNI, q.SourceIP)] = true
	}
	return len(keys)
}

// usage is what this process has used, or those that it started and that ended.
func usage(b *testing.B, whose int) syscall.Rusage {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(whose, &used); err != nil {
		b.Fatal(err)
	}
	return used
}

func cpuTime(used syscall.Rusage) time.Duration {
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkProofOfAttributes proves policies that ask for each attribute of an http request: the
// caller, its address, the server name, the port, the host, method and path, headers, and the
// claims of a token.
func BenchmarkProofOfAttributes(b *testing.B) {
	var policies strings.Builder
	for i := range 12 {
		fmt.Fprintf(&policies, `
  - apiVersion: security.istio.io/v1
    kind: AuthorizationPolicy
    metadata: {name: p%[1]d, namespace: default}
    spec:
      action: %[2]s
      rules:
        - from: [{source: {principals: ["trust-domain.mesh/ns/n%[1]d/sa/a*"], notIpBlocks: [10.%[1]d.0.0/16], requestPrincipals: ["https://a.example/u%[1]d*"]}}]
          to: [{operation: {methods: [GET, P*], paths: ["/p%[1]d/*"], hosts: ["h%[1]d.example"], ports: ["8080"]}}]
          when:
            - {key: "request.headers[x-role]", values: ["r%[1]d*"]}
            - {key: "request.auth.claims[group]", values: ["g%[1]d"]}
            - {key: connection.sni, notValues: ["s%[1]d.example"]}`, i, []string{"ALLOW", "DENY"}[i%2])
	}
	prove(b, casetest.Parse(b, `
case: attributes
workloads: [{name: backend, inbounds: [{port: 8080, protocol: http}]}]
requests: [{from: anonymous, to: backend/8080, want: handshake-failure}]
policies:
  - apiVersion: security.istio.io/v1
    kind: RequestAuthentication
    metadata: {name: tokens, namespace: default}
    spec: {jwtRules: [{issuer: "https://a.example"}]}`+policies.String()+"\n"))
}

// BenchmarkProof5000 proves 5,000 policies on one inbound.
func BenchmarkProof5000(b *testing.B) {
	var policies strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&policies, "  - {type: MeshTrafficPermission, mesh: default, name: p%d, spec: {default: {allow: [{spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/ns/n%d/sa/a}}]}}}\n", i, i)
	}
	prove(b, casetest.Parse(b, "case: many\nworkloads: [{name: backend, inbounds: [{port: 8080, protocol: http}]}]\nrequests: [{from: anonymous, to: backend/8080, want: handshake-failure}]\npolicies:\n"+policies.String()))
}

// BenchmarkAdvisories asks each pinned version for all advisories, from a cold start.
func BenchmarkAdvisories(b *testing.B) {
	known, err := advisory.BuiltIn()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for _, version := range pin.Versions() {
			h, err := harness.Start(b.Context(), harness.WithRuntime(envoy.Process), harness.WithEnvoy(version))
			if err != nil {
				b.Fatal(err)
			}
			ran := suite.Runner{Harness: h, Kept: true}.Run(b.Context(), advisory.CasesOf(known)...)
			if err := suite.Outage(ran); err != nil {
				b.Fatal(err)
			}
			if report := advisory.NewReport(known, ran); len(report.Findings) != len(known) {
				b.Fatalf("%d of %d advisories were asked", len(report.Findings), len(known))
			}
			if err := h.Close(); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(len(pin.Versions())), "versions/op")
}
