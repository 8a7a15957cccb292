package e2e_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/internal/plugin"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// TestConvertedCases shows that a policy that is converted to another design of
// MeshTrafficPermission decides the same requests in the same way.
func TestConvertedCases(t *testing.T) {
	t.Parallel()
	for _, to := range []int{2, 3} {
		t.Run(fmt.Sprint("option", to), func(t *testing.T) {
			t.Parallel()
			all := slices.DeleteFunc(builtIn(t, inThisTier), func(c cases.Case) bool { return !isOfAcceptedDesign(c) })
			shadowed := map[string]bool{}
			for i, c := range all {
				all[i] = convert(t, c, to)
				for _, of := range all[i].Counters {
					shadowed[c.Story] = shadowed[c.Story] || of.Allowed != nil && of.Denied != nil && of.ShadowAllowed != nil && of.ShadowDenied != nil && *of.ShadowAllowed > 0
				}
			}
			for _, story := range userStories {
				if !shadowed[story] {
					t.Errorf("no case of %s states what its shadow allows", story)
				}
			}
			if len(all) == 0 {
				t.Fatal("no case is of the accepted design")
			}
			runSuite(t, harness.Process, all)
		})
	}
}

// options are Kuma's options of a case, with their defaults.
type options struct {
	KumaOption int
	ShadowForm string
}

func optionsOf(c cases.Case) (out options, err error) {
	text, err := plugin.OptionsJSON(c.Options)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	return out, err
}

func isOfAcceptedDesign(c cases.Case) bool {
	legacyOrForeign := func(doc manifest.Document) bool {
		_, legacy := doc.Lookup("spec.from")
		return legacy || !dialects.Having[capability.Converter]()[0].(language.Dialect).Owns(doc)
	}
	options, err := optionsOf(c)
	return err == nil && c.ExpectError == "" && len(c.Requests) > 0 && len(c.Policies) > 0 &&
		options.KumaOption == 1 && !slices.ContainsFunc(c.Policies, legacyOrForeign)
}

// convert converts the policies of a case. It drops the statements that differ by design: the name of a policy, and in
// Option 3 the accepted form of the shadow.
func convert(t *testing.T, c cases.Case, to int) cases.Case {
	t.Helper()
	written, err := optionsOf(c)
	if err != nil {
		t.Fatalf("%s: %v", c.Place, err)
	}
	otherShadow := to == 3 && written.ShadowForm == "accepted"
	conversion, err := dialects.Having[capability.Converter]()[0].Convert(c.Policies, fmt.Sprint("option", to), spiffeid.TrustDomain{})
	if err != nil {
		t.Fatalf("%s: %v", c.Place, err)
	}
	c.Policies, err = manifest.Parse("converted.yaml", conversion.YAML)
	if err != nil {
		t.Fatalf("%s: %v", c.Place, err)
	}
	options, err := manifest.Parse("options.yaml", fmt.Appendf(c.Options.Document.WithoutKey("kumaOption").YAML(), "kumaOption: %d\n", to))
	if err != nil {
		t.Fatalf("%s: %v", c.Place, err)
	}
	c.Options.Document = options[0]
	c.ExpectWarnings = nil
	c.Requests = slices.Clone(c.Requests)
	c.Counters = slices.DeleteFunc(slices.Clone(c.Counters), func(of cases.Counters) bool { return of.Rule != "" && of.Rule != "default" })
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
