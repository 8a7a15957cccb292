package suite

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

// readings reads the policies of cases that are not refused.
func readings(t *testing.T, cs []cases.Case) []*verdict.Reading {
	t.Helper()
	var out []*verdict.Reading
	for _, c := range cs {
		if reading, err := verdict.Read(c); err == nil {
			out = append(out, reading)
		}
	}
	return out
}

// outcome is the result of a case without the parts that differ from run to run.
type outcome struct {
	Name, Err, Skipped string
	Passed, Fault      bool
	Counters           any
	Problems           [][]string
	Findings           []any
}

func outcomes(results []result.Case) []outcome {
	var out []outcome
	for _, r := range results {
		o := outcome{Name: r.Case.Name, Skipped: r.Skipped, Passed: r.Passed(), Fault: r.Fault, Counters: r.Counters}
		if r.Err != nil {
			o.Err = r.Err.Error()
		}
		for _, q := range r.Requests {
			o.Problems = append(o.Problems, q.ProblemTexts())
			o.Findings = append(o.Findings, q.Finding)
		}
		out = append(out, o)
	}
	return out
}

// The built-in cases have the same results together and one by one, with a right compiler
// and with a wrong one. With -short there are twenty cases.
func TestTogetherIsAsAlone(t *testing.T) {
	t.Parallel()
	number := 80
	if testing.Short() {
		number = 20
	}
	all, err := cases.Stories()
	if err != nil {
		t.Fatal(err)
	}
	var small []cases.Case
	for _, c := range all {
		if len(c.Requests) < 40 {
			small = append(small, c)
		}
	}
	read := readings(t, small)
	read = read[:min(len(read), number)]
	for name, compiler := range map[string]Compiler{"reference": Reference, "allow everything": AllowEverything} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Runner{Harness: shared(t), Compiler: compiler, Kept: true}
			alone, together := outcomes(r.Readings(t.Context(), read...)), outcomes(r.Together(t.Context(), read...))
			if diff := cmp.Diff(alone, together); diff != "" || len(together) < number {
				t.Errorf("%d cases (-alone +together):\n%s", len(together), diff)
			}
		})
	}
}

// Envoy refuses a push because of one case. Only that case has the error.
func TestTogetherTellsWhatEnvoyRefuses(t *testing.T) {
	t.Parallel()
	ask := func(to, more string) string {
		return "requests: [{from: " + frontend + ", to: " + to + ", want: allow}]\n" + more
	}
	good, bad := parse(t, grpc+ask("backend/grpc-port", "")), parse(t, head+ask("backend/tcp-port", ""))
	for i, r := range (Runner{Harness: shared(t), Compiler: spoilt}).Together(t.Context(), readings(t, []cases.Case{good, bad, good})...) {
		if refused := i == 1; errors.Is(r.Err, xds.ErrNACK) != refused || r.Fault || !refused && len(r.Requests) != 1 {
			t.Errorf("case %d: fault %t, %d requests: %v", i, r.Fault, len(r.Requests), r.Err)
		}
	}
}

// The policies of a case are parsed once, whatever the number of its inbounds.
func TestPoliciesAreParsedOnce(t *testing.T) {
	t.Parallel()
	parsed := 0
	r := Runner{Harness: shared(t), Read: func(c cases.Case) (*verdict.Reading, error) {
		parsed++
		return verdict.Read(c)
	}}
	if got := r.Case(t.Context(), parse(t, head+ask)); !got.Passed() || len(got.Case.Inbounds) != 2 || parsed != 1 {
		t.Errorf("passed: %t, %d inbounds, parsed %d times: %v", got.Passed(), len(got.Case.Inbounds), parsed, got.Err)
	}
	// What was read before is not read again.
	reading, err := verdict.Read(parse(t, head+ask))
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Reading(t.Context(), reading); !got.Passed() || parsed != 1 {
		t.Errorf("passed: %t, parsed %d times", got.Passed(), parsed)
	}
	// The reference compiler takes what was parsed: it does not see the documents.
	in := Input{Inbounds: policyInbounds(reading.Case), Options: reading.Case.Options, Parsed: reading.Set()}
	in.Policies = []manifest.Document{{}}
	if filters, err := Reference.Compile(context.Background(), in); err != nil || len(filters) != 2 {
		t.Errorf("%d filters: %v", len(filters), err)
	}
	in.Parsed = nil
	if _, err := Reference.Compile(context.Background(), in); err == nil {
		t.Error("documents that are no policies compile")
	}
}

// Certificates that say the same and have the same signer are one, whatever the names of
// their callers.
func TestCredentialsAreKeyedByWhatTheyAre(t *testing.T) {
	t.Parallel()
	c := parse(t, `
case: callers
trustDomains: [trust-domain.mesh, other.mesh]
workloads: [{name: backend, inbounds: [{name: tcp-port, port: 5432, protocol: tcp}]}]
callers:
  one: {uris: [`+frontend+`]}
  same: {uris: [`+frontend+`]}
  more: {uris: [`+frontend+`, `+intruder+`]}
  foreign: {uris: [`+frontend+`], signedBy: other.mesh}
policies: []
requests:
  - {from: [one, same, `+frontend+`, more], to: backend/tcp-port, want: deny}
  - {from: [foreign, plaintext], to: backend/tcp-port, want: handshake-failure}
`)
	r := Runner{Harness: shared(t)}.Case(t.Context(), c)
	if !r.Passed() {
		t.Fatal(strings.Join(r.Failures(), "\n"))
	}
	shown := map[any]string{}
	for _, q := range r.Requests {
		shown[q.Evidence.Call.Credential] += q.From.Name + " "
	}
	if len(shown) != 4 {
		t.Errorf("%d credentials: %v", len(shown), shown)
	}
}
