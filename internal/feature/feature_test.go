package feature_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/feature"
)

func TestRegistry(t *testing.T) {
	t.Parallel()
	spelling := regexp.MustCompile(`^[A-Z][A-Za-z0-9]+$`)
	seen := map[feature.Name]bool{}
	count := 0
	for _, p := range feature.Profiles() {
		cores, extended := 0, false
		for _, f := range feature.All() {
			if f.Profile != p {
				continue
			}
			if f.Level == feature.Extended {
				extended = true
			} else if cores++; extended {
				t.Errorf("%s: the core feature %s stands behind an extended one", p, f.Name)
			}
			count++
			if got, ok := feature.Lookup(f.Name); !ok || got != f || seen[f.Name] || !spelling.MatchString(string(f.Name)) || f.Profile != p {
				t.Errorf("%+v: found %+v, %t; seen before: %t", f, got, ok, seen[f.Name])
			}
			seen[f.Name] = true
			if !strings.HasSuffix(f.About, ".") || len(f.About) < 20 {
				t.Errorf("%s: %q is no sentence", f.Name, f.About)
			}
		}
		if cores == 0 {
			t.Errorf("%s has no core", p)
		}
	}
	if all := feature.All(); len(all) != count {
		t.Errorf("%d features, %d of them in a profile", len(all), count)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	var name feature.Name
	if err := name.UnmarshalText([]byte("MTPShadow")); err != nil || name != "MTPShadow" {
		t.Errorf("%s, %v", name, err)
	}
	if err := name.UnmarshalText([]byte("MTPshadow")); err == nil || !strings.Contains(err.Error(), `feature "MTPshadow" is unknown`) || name != "MTPShadow" {
		t.Errorf("%s, %v", name, err)
	}
	var profile feature.Profile
	if err := profile.UnmarshalText([]byte("GEP-3779")); err != nil || profile != feature.GEP3779 {
		t.Errorf("%s, %v", profile, err)
	}
	if err := profile.UnmarshalText([]byte("MESH")); err == nil || !strings.Contains(err.Error(), "KUMA-MTP-LEGACY") {
		t.Errorf("%s, %v", profile, err)
	}
	if feature.Core != "core" || feature.Extended != "extended" {
		t.Error("the levels have other names in reports")
	}
}

func ExampleLookup() {
	f, ok := feature.Lookup("AuthorizationPolicyPorts")
	fmt.Println(ok, f.Profile, f.Level)
	fmt.Println(f.About)
	// Output:
	// true GEP-3779 core
	// Ports narrow a rule.
}
