package cases_test

import (
	"fmt"
	"log"
	"slices"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/pin"
)

func TestGateAdmits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		gate              cases.Gate
		text              string
		admitted, refused []string
	}{
		{cases.Gate{}, "", []string{"1.0.0", "1.40.0"}, nil},
		{cases.Gate{From: "1.39.3"}, "from 1.39.3", []string{"1.39.3", "1.40.0", "1.100.0"}, []string{"1.39.2", "1.9.0"}},
		{cases.Gate{Before: "1.39.3"}, "before 1.39.3", []string{"1.39.2", "1.9.0"}, []string{"1.39.3", "1.40.0"}},
		{cases.Gate{From: "1.37.0", Before: "1.39.3"}, "from 1.37.0 and before 1.39.3", []string{"1.37.0", "1.38.3"}, []string{"1.36.4", "1.39.3"}},
		{cases.Gate{AnyOf: []cases.Gate{{From: "1.36.10", Before: "1.37.0"}, {From: "1.37.6"}}}, "from 1.36.10 and before 1.37.0, or from 1.37.6",
			[]string{"1.36.10", "1.36.11", "1.37.6", "1.40.0"}, []string{"1.36.9", "1.37.0", "1.37.5"}},
		{cases.Gate{Behaves: []behavior.Condition{{Behavior: behavior.DotParameters, Fixed: true}}}, "where dotParameters is resolved", []string{"1.36.4", "1.40.0"}, nil},
		{cases.Gate{Behaves: []behavior.Condition{{Behavior: behavior.DotParameters}}}, "where dotParameters is kept", nil, []string{"1.36.4", "1.40.0"}},
	} {
		if got := tt.gate.String(); got != tt.text {
			t.Errorf("text %q, want %q", got, tt.text)
		}
		for _, version := range slices.Concat(tt.admitted, tt.refused) {
			if got, want := tt.gate.Admits(version, behavior.Set{}), slices.Contains(tt.admitted, version); got != want {
				t.Errorf("%q admits %s: %t, want %t", tt.text, version, got, want)
			}
		}
	}
}

// TestGatesAreTried shows that each gate admits some versions of the matrix and refuses others.
// Otherwise no run tries it.
func TestGatesAreTried(t *testing.T) {
	t.Parallel()
	all := casetest.Stories(t)
	versions := pin.Versions()
	for _, c := range all {
		// The harness tests that the versions differ in each behaviour.
		if c.Gate.String() == "" || len(c.Gate.Behaves) > 0 {
			continue
		}
		admitted := 0
		for _, version := range versions {
			if c.Gate.Admits(version, behavior.Set{}) {
				admitted++
			}
		}
		if admitted == 0 || admitted == len(versions) {
			t.Errorf("%s: of %d versions the gate admits %d (%s): it is never tried", c.Place, len(versions), admitted, c.Gate)
		}
	}
}

func TestWant(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]cases.Want{
		"allow": cases.Allow, "deny": cases.Deny, "close": cases.Close, "handshake-failure": cases.HandshakeFailure,
		"400": cases.Status(400), "403": cases.Status(403), "404": cases.Status(404), "504": cases.Status(504),
	} {
		for _, spelling := range []string{text, "'" + text + "'"} {
			got := parse(t, prelude+"  - {from: w, to: w/80, want: "+spelling+"}").Requests[0].Want
			if got != want || got.String() != text {
				t.Errorf("want: %s reads as %s", spelling, got)
			}
		}
		code, ok := want.Status()
		if isStatus := text[0] <= '9'; ok != isStatus || ok && cases.Status(code) != want || !ok && code != 0 {
			t.Errorf("%s.Status() = %d, %t", want, code, ok)
		}
	}
	if zero := (cases.Want{}); zero != cases.Deny {
		t.Errorf("a want that was forgotten is %s", zero)
	}
}

func TestShadow(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]cases.Shadow{"none": cases.ShadowNone, "allow": cases.ShadowAllow, "deny": cases.ShadowDeny} {
		got := parse(t, prelude+"  - {from: w, to: w/80, want: allow, shadow: "+text+"}").Requests[0].Shadow
		if got == nil || *got != want || got.String() != text {
			t.Errorf("shadow: %s reads as %v", text, got)
		}
	}
}

// The lists of a request are crossed: two callers and two paths are four requests.
func ExampleParse() {
	all, err := cases.Parse("case.yaml", []byte(`
case: observability may scrape /metrics and nothing else
workloads: [{name: backend, inbounds: [{name: http-port, port: 8080, protocol: http}]}]
policies:
  - type: MeshTrafficPermission
    name: by-mesh-operator
    spec: {default: {allow: [{spiffeId: {type: Prefix, value: spiffe://trust-domain.mesh/ns/observability/}, path: {type: Prefix, value: /metrics}}]}}
requests:
  - {from: spiffe://trust-domain.mesh/ns/observability/sa/prometheus, to: backend/http-port, path: [/metrics, /metrics/x], want: allow}
  - {from: anonymous, to: backend/http-port, path: /metrics, want: handshake-failure}
`))
	if err != nil {
		log.Fatal(err)
	}
	for _, q := range all[0].Requests {
		fmt.Println(q.From.Name, q.Path, q.Want)
	}
	// Output:
	// spiffe://trust-domain.mesh/ns/observability/sa/prometheus /metrics allow
	// spiffe://trust-domain.mesh/ns/observability/sa/prometheus /metrics/x allow
	// anonymous /metrics handshake-failure
}

// A refusal names file, line and field.
func ExampleParse_refused() {
	_, err := cases.Parse("case.yaml", []byte("case: a\nworkloads: [{name: w, inbounds: [{port: 80}]}]\nrequests:\n  - {from: w, to: w/81, want: deny}\n"))
	fmt.Println(err)
	// Output: cases: case.yaml:4: requests[0].to: there is no inbound "w/81": the case has w/80
}
