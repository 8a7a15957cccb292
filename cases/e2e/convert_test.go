package e2e_test

import (
	"slices"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/policy/kuma"
	"github.com/meshproof/meshproof/policy/manifest"
)

// What is written for one design of MeshTrafficPermission lets in and refuses the
// same requests in the others.
func TestConvertedCases(t *testing.T) {
	t.Parallel()
	for _, to := range []kuma.Option{kuma.Option2, kuma.Option3} {
		t.Run(to.String(), func(t *testing.T) {
			t.Parallel()
			all := builtIn(t, isOfAcceptedDesign)
			for i, c := range all {
				all[i] = convert(t, c, to)
			}
			if len(all) == 0 {
				t.Fatal("no case is of the accepted design")
			}
			runSuite(t, harness.Process, all)
		})
	}
}

func isOfAcceptedDesign(c cases.Case) bool {
	legacyOrForeign := func(doc manifest.Document) bool {
		_, legacy := doc.At("spec.from")
		return legacy || !kuma.Owns(doc)
	}
	return c.ExpectError == "" && len(c.Requests) > 0 && len(c.Policies) > 0 &&
		c.Options.Kuma.Option == kuma.Option1 && !slices.ContainsFunc(c.Policies, legacyOrForeign)
}

// convert converts the policies of a case. It drops what the case states of what differs by design: the name of a
// policy, and in Option 3 the accepted form of the shadow.
func convert(t *testing.T, c cases.Case, to kuma.Option) cases.Case {
	t.Helper()
	policies, err := kuma.ParseAll(c.Policies)
	if err != nil {
		t.Fatalf("%s: %v", c.Place, err)
	}
	conversion, err := kuma.Convert(policies, to)
	if err != nil {
		t.Fatalf("%s: %v", c.Place, err)
	}
	c.Policies, err = manifest.Parse("converted.yaml", conversion.YAML)
	if err != nil {
		t.Fatalf("%s: %v", c.Place, err)
	}
	c.Options.Kuma.Option = to
	c.ExpectWarnings = nil
	otherShadow := to == kuma.Option3 && c.Options.Kuma.ShadowForm == kuma.Accepted
	c.Requests, c.Counters = slices.Clone(c.Requests), slices.Clone(c.Counters)
	for i := range c.Requests {
		q := &c.Requests[i]
		if q.By != nil && *q.By != "default" {
			q.By = nil
		}
		q.ShadowBy = nil
		if otherShadow && q.Shadow != nil && *q.Shadow != cases.ShadowNone {
			q.Shadow = nil
		}
	}
	for i := range c.Counters {
		if otherShadow {
			c.Counters[i].ShadowAllowed, c.Counters[i].ShadowDenied = nil, nil
		}
	}
	return c
}
