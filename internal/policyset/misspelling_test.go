package policyset

import (
	"regexp"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casewriter"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/policyset/tree"
)

// TestMisspell draws misspelt sets of each profile. Most sound cases have a value that can be misspelt, and the sets of
// eight runs have a third of the reasons of the profile between them: the others need a sound field that few cases have.
func TestMisspell(t *testing.T) {
	t.Parallel()
	stories, err := cases.Stories()
	if err != nil {
		t.Fatal(err)
	}
	sound, refused := map[feature.Profile][]cases.Case{}, map[feature.Profile][]cases.Case{}
	for _, c := range stories {
		switch {
		case len(c.Policies) == 0:
		case c.ExpectError != "":
			refused[tree.Profile(c.Policies[0])] = append(refused[tree.Profile(c.Policies[0])], c)
		default:
			sound[tree.Profile(c.Policies[0])] = append(sound[tree.Profile(c.Policies[0])], c)
		}
	}
	for profile, wants := range map[feature.Profile][]string{
		feature.KumaMTP:       {"trust domain characters", "empty segments", "dot segments", `match type "prefix" is not supported`, "unknown field"},
		feature.KumaMTPLegacy: {`action ".*" is unknown`, "is no value of a tag"},
		feature.GEP3779:       {"trust domain characters", `serviceAccount.name: ".*" is neither`, `"Allow" is not supported`},
		feature.IstioAuthz:    {"ipBlocks.* is neither", `"istio.io/dry-run".: ".*" is neither`, `ports.*: ".*" is no port`, "unknown field"},
		feature.CiliumIngress: {"fromCIDR.* is no block", `fromEntities.*: ".*" is unknown`, `protocol: ".*" is unknown`},
		feature.LinkerdAuthz:  {"identities.* is no identity", "hostnames.* is no name of a host", "does not begin with a slash"},
	} {
		t.Run(string(profile), func(t *testing.T) {
			t.Parallel()
			var messages []string
			known, all := NewMisspellings(refused[profile]).reasons, map[refusal]bool{}
			const sets = 60
			seeds := 8
			if testing.Short() {
				seeds = 2
			}
			for seed := range uint64(seeds) {
				misspellings := NewMisspellings(refused[profile])
				for number := range uint64(sets) {
					c := sound[profile][(seed*sets+number)%uint64(len(sound[profile]))]
					out, ok := misspellings.Next(c, seed, number)
					if !ok {
						continue
					}
					if why, refused := refusalOf(out); !refused || !known[why] {
						t.Fatalf("seed %d, set %d: %v is no reason of a case:\n%s", seed, number, why, casewriter.YAML(out))
					}
					messages = append(messages, out.ExpectError)
					if again, _ := NewMisspellings(refused[profile]).Next(c, seed, number); number == 0 && again.ExpectError != out.ExpectError {
						t.Errorf("seed %d, set %d: %s, then %s", seed, number, out.ExpectError, again.ExpectError)
					}
				}
				for is := range misspellings.told {
					all[is.refusal] = true
				}
			}
			if len(messages) < seeds*sets*3/4 || len(all) < len(known)/5 || !testing.Short() && len(all) < len(known)/3 {
				t.Errorf("%d of %d sets are made, and %d of %d reasons told", len(messages), seeds*sets, len(all), len(known))
			}
			if testing.Short() {
				return
			}
			for _, want := range wants {
				of := regexp.MustCompile(want)
				found := 0
				for _, message := range messages {
					if of.MatchString(message) {
						found++
					}
				}
				if found == 0 {
					t.Errorf("no set is refused for %s", want)
				}
			}
		})
	}
}

// A sound case that is refused after all, or one without a written reason, makes no set.
func TestMisspellNeedsReasons(t *testing.T) {
	t.Parallel()
	stories, err := cases.Stories()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range stories[:20] {
		if out, ok := NewMisspellings(nil).Next(c, 1, 1); ok {
			t.Errorf("%s: without a reason, %s", c.Name, out.ExpectError)
		}
	}
}
