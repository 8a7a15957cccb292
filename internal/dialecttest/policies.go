// Package dialecttest reads policies for the tests of a dialect.
//
// It guarantees that a text which is not read fails the test. It knows no dialect: each test gives
// the function that reads its policies.
package dialecttest

import (
	"errors"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Documents returns the documents of a text, as of the file p.yaml.
func Documents(t testing.TB, yaml string) []manifest.Document {
	t.Helper()
	docs, err := manifest.Parse("p.yaml", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

// Policies returns the policies of a text.
func Policies[P any](t testing.TB, parse func([]manifest.Document) ([]P, error), yaml string) []P {
	t.Helper()
	ps, err := parse(Documents(t, yaml))
	if err != nil {
		t.Fatalf("%v:\n%s", err, yaml)
	}
	return ps
}

// Refusal returns the function that golden.Refusals asks for the error of policies. The error has
// a place, and no policy stands beside it.
func Refusal[P any](parse func([]manifest.Document) ([]P, error)) func(t *testing.T, name, body string) string {
	return func(t *testing.T, name, body string) string {
		t.Helper()
		ps, err := parse(Documents(t, body))
		if err == nil {
			t.Fatalf("%s: not refused:\n%s", name, body)
		}
		if ps != nil {
			t.Errorf("%s: policies beside an error: %v", name, ps)
		}
		if e := new(manifest.Error); !errors.As(err, &e) || e.Line == 0 {
			t.Errorf("%s: error has no place: %v", name, err)
		}
		return strings.ReplaceAll(err.Error(), "\n", " and ")
	}
}

// Inbounds returns two inbounds of one workload, one of another, and one of another namespace.
// Each has another protocol.
func Inbounds() []policy.Inbound {
	backend := policy.Workload{Name: "backend", Namespace: "default", Labels: map[string]string{"app": "backend", "tier": "data"}}
	return []policy.Inbound{
		{Workload: backend, Name: "http-port", Port: 8080, Protocol: policy.HTTP},
		{Workload: backend, Name: "tcp-port", Port: 5432, Protocol: policy.TCP},
		{Workload: policy.Workload{Name: "frontend", Labels: map[string]string{"app": "frontend"}}, Port: 9090, Protocol: policy.GRPC},
		{Workload: policy.Workload{Name: "ledger", Namespace: "finance", Labels: map[string]string{"app": "backend"}}, Port: 8080, Protocol: policy.HTTP2},
	}
}
