package matrix_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/cases/feature"
	"github.com/meshproof/meshproof/internal/matrix"
)

func needs(names ...feature.Name) cases.Case { return cases.Case{Name: "c", Features: names} }

func TestSelection(t *testing.T) {
	t.Parallel()
	var (
		story    = needs("MeshOperator2")
		shadow   = needs("MeshOperator2", "MTPPreciseShadow")
		option   = needs("MTPOption2")
		gateway  = needs("AuthorizationPolicyPorts")
		plain    = needs("AuthorizationPolicyAllow", "AuthorizationPolicyPermissiveMTLS")
		ownCase  = needs()
		kumaOnly = []feature.Profile{feature.KumaMTP}
	)
	for name, tt := range map[string]struct {
		selection     matrix.Selection
		c             cases.Case
		covers        bool
		skip          string
		notApplicable bool
	}{
		"everything by default":           {matrix.Selection{}, shadow, true, "", false},
		"a case without features":         {matrix.Selection{}, ownCase, true, "", false},
		"it belongs to no profile":        {matrix.Selection{Profiles: kumaOnly}, ownCase, false, "", false},
		"a case of the profile":           {matrix.Selection{Profiles: kumaOnly}, story, true, "", false},
		"a case of another profile":       {matrix.Selection{Profiles: kumaOnly}, gateway, false, "it needs AuthorizationPolicyPorts of GEP-3779, which is not among the profiles", false},
		"core goes without saying":        {matrix.Selection{Supported: []feature.Name{"MTPOption2"}}, story, true, "", false},
		"an extended feature, claimed":    {matrix.Selection{Supported: []feature.Name{"MTPOption2"}}, option, true, "", false},
		"an extended feature, not":        {matrix.Selection{Supported: []feature.Name{"MTPOption2"}}, shadow, true, "it needs MTPPreciseShadow, which is not among the supported features", true},
		"no extended feature at all":      {matrix.Selection{Supported: []feature.Name{}}, plain, true, "it needs AuthorizationPolicyPermissiveMTLS, which is not among the supported features", true},
		"exempt, extended":                {matrix.Selection{Exempt: []feature.Name{"MTPOption2"}}, option, true, "it needs MTPOption2, which is exempt", true},
		"exempt, core: something missing": {matrix.Selection{Exempt: []feature.Name{"MeshOperator2"}}, story, true, "it needs MeshOperator2, which is exempt", false},
		"two reasons": {
			matrix.Selection{Exempt: []feature.Name{"MeshOperator2", "MTPPreciseShadow"}}, shadow, true,
			"it needs MeshOperator2, which is exempt; it needs MTPPreciseShadow, which is exempt", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tt.selection.Covers(tt.c); got != tt.covers {
				t.Errorf("covers: %t, want %t", got, tt.covers)
			}
			if skip, notApplicable := tt.selection.Skip(tt.c); skip != tt.skip || notApplicable != tt.notApplicable {
				t.Errorf("skip %q, not applicable: %t; want %q, %t", skip, notApplicable, tt.skip, tt.notApplicable)
			}
		})
	}
}

func TestUnsupported(t *testing.T) {
	t.Parallel()
	s := matrix.Selection{Profiles: []feature.Profile{feature.GEP3779}, Supported: []feature.Name{}, Exempt: []feature.Name{"AuthorizationPolicyPorts", "MTPShadow"}}
	want := []feature.Name{"AuthorizationPolicyPorts", "AuthorizationPolicyPermissiveMTLS"}
	if diff := cmp.Diff(want, s.Unsupported()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseFeatures(t *testing.T) {
	t.Parallel()
	got, err := matrix.ParseFeatures([]string{"MTPShadow", "AuthorizationPolicyCoreFeatures"})
	if err != nil || got[0] != "MTPShadow" || len(got) != 8 || !slices.Contains(got, "AuthorizationPolicyPorts") {
		t.Errorf("got %v, %v", got, err)
	}
	for _, name := range got[1:] {
		if f, _ := feature.Lookup(name); f.Profile != feature.GEP3779 || f.Level != feature.Core || !strings.HasPrefix(string(name), "AuthorizationPolicy") {
			t.Errorf("%+v", f)
		}
	}
	_, err = matrix.ParseFeatures([]string{"Nope", "MTPShadow", "mtpshadow"})
	if err == nil || strings.Count(err.Error(), "\n") != 1 || !strings.Contains(err.Error(), `"Nope" is unknown`) || !strings.Contains(err.Error(), `"mtpshadow" is unknown`) {
		t.Errorf("error %v", err)
	}
	if got, err := matrix.ParseFeatures(nil); got != nil || err != nil {
		t.Errorf("of nothing: %v, %v; nil means that all are supported", got, err)
	}
}

// Each built-in case says what it needs, and each feature has a case that needs it:
// one that nothing tests cannot be claimed.
func TestEveryFeatureHasACase(t *testing.T) {
	t.Parallel()
	all, err := cases.Stories()
	if err != nil {
		t.Fatal(err)
	}
	tested := map[feature.Name]bool{}
	for _, c := range all {
		profiles := map[feature.Profile]bool{}
		for _, name := range c.Features {
			tested[name] = true
			f, _ := feature.Lookup(name)
			profiles[f.Profile] = true
		}
		if len(profiles) != 1 {
			t.Errorf("%s: %s: it is about %d profiles", c.Place, c.Name, len(profiles))
		}
	}
	for _, f := range feature.All() {
		if !tested[f.Name] {
			t.Errorf("no case needs %s", f.Name)
		}
	}
}
