package kuma_test

import (
	"testing"

	"github.com/meshproof/meshproof/policy/kuma/internal/conversion"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
)

var everyOption = []permission.Option{permission.Option1, permission.Option2, permission.Option3}

// convert rewrites policies and reads the result.
func convert(t testing.TB, ps []permission.Policy, to permission.Option) []permission.Policy {
	t.Helper()
	converted, err := conversion.Convert(ps, to)
	if err != nil {
		t.Fatal(err)
	}
	out := parseAll(t, string(converted.YAML))
	if err := permission.CheckForms(out, permission.Options{Option: to}); err != nil {
		t.Fatalf("%v\n%s", err, converted.YAML)
	}
	return out
}
