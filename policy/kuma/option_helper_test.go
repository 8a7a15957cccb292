package kuma_test

import (
	"testing"

	"github.com/meshproof/meshproof/policy/kuma"
)

var everyOption = []kuma.Option{kuma.Option1, kuma.Option2, kuma.Option3}

// convert rewrites policies and reads what came out.
func convert(t testing.TB, ps []kuma.Policy, to kuma.Option) []kuma.Policy {
	t.Helper()
	converted, err := kuma.Convert(ps, to)
	if err != nil {
		t.Fatal(err)
	}
	out := parseAll(t, string(converted.YAML))
	if err := kuma.CheckForms(out, kuma.Options{Option: to}); err != nil {
		t.Fatalf("%v\n%s", err, converted.YAML)
	}
	return out
}
