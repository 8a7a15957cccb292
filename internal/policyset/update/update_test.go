package update

import (
	"reflect"
	"slices"
	"testing"

	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/policyset"
	"github.com/meshproof/meshproof/internal/policyset/tree"
	"github.com/meshproof/meshproof/internal/verdict"
)

// inboundUpdate is the kind of update that changes the port of an inbound.
const inboundUpdate = 10

// Each kind of update changes decisions of each profile whose policies have such a part, and no name.
func TestUpdated(t *testing.T) {
	t.Parallel()
	// Of these kinds a profile has none: nothing of its policies or options can change so.
	none := map[feature.Profile][]int{
		feature.KumaMTP: {4, 13}, feature.KumaMTPLegacy: {4, 13}, feature.GEP3779: {4, 7, 11, 13}, feature.IstioAuthz: {4, 13}, feature.LinkerdAuthz: {4, 11, 13}, feature.CiliumIngress: {11},
	}
	// Some kinds find something to change in few sets.
	sets, most := uint64(400), uint64(4000)
	if testing.Short() {
		sets, most = 100, 100
	}
	for _, p := range feature.Profiles() {
		forms := policyset.Forms(p)
		if len(forms) == 0 {
			continue
		}
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			made := map[int]int{}
			for number := range most {
				if number >= sets && len(made) == len(updates)-len(none[p]) {
					break
				}
				before := policyset.Draw(7, number, forms...)
				after, ok := Draw(before, 7, number)
				if !ok {
					continue
				}
				made[int(number%uint64(len(updates)))]++
				was, errBefore := verdict.Read(before)
				is, errAfter := verdict.Read(after)
				if errBefore != nil || errAfter != nil {
					t.Fatalf("set %d: %v, %v", number, errBefore, errAfter)
				}
				same := true
				for i, in := range is.Inbounds() {
					old := was.Inbounds()[i]
					same = same && old.Program.Equal(in.Program.Program)
					if in.String() != old.String() || in.Identity != old.Identity || in.Port != old.Port && number%uint64(len(updates)) != inboundUpdate {
						t.Errorf("set %d: %s became %s", number, old, in)
					}
				}
				if same {
					t.Errorf("set %d: nothing is decided otherwise", number)
				}
			}
			for kind := range updates {
				expected := !testing.Short() || kind < 2
				expected = expected && !slices.Contains(none[p], kind)
				if made[kind] == 0 && expected || made[kind] > 0 && slices.Contains(none[p], kind) {
					t.Errorf("kind %d was made %d times", kind, made[kind])
				}
			}
			t.Log(made)
		})
	}
}

// A compiler that knows a policy by its uid and its version, and a spec by its generation, is sound: an API server counts them up.
func TestVersionsCountUp(t *testing.T) {
	t.Parallel()
	// Few updates move a policy, or make it older: only the long run has one of a policy with a uid.
	counted, sets, fields := map[string]int{}, uint64(300), []string{"resourceVersion", "generation", "uid"}
	if testing.Short() {
		sets, fields = 60, fields[:2]
	}
	for number := range sets {
		before := policyset.DrawFresh(7, number, policyset.Forms(feature.GEP3779)...)
		after, ok := Draw(before, 7, number)
		if !ok || len(after.Policies) != len(before.Policies) {
			continue
		}
		was, _, err := tree.Values(before)
		if err != nil {
			t.Fatal(err)
		}
		is, _, err := tree.Values(after)
		if err != nil {
			t.Fatal(err)
		}
		for i := range is {
			changed, old, recent := !reflect.DeepEqual(was[i], is[i]), tree.Metadata(was[i]), tree.Metadata(is[i])
			specs := !reflect.DeepEqual(tree.Specs(was[i]), tree.Specs(is[i]))
			for field, counts := range map[string]bool{"resourceVersion": changed, "generation": specs, "uid": old["namespace"] != recent["namespace"] || old["creationTimestamp"] != recent["creationTimestamp"]} {
				if old[field] != nil && (old[field] != recent[field]) != counts {
					t.Errorf("set %d: %s was %v and is %v, want another one: %t", number, field, old[field], recent[field], counts)
				}
				if old[field] != nil && counts {
					counted[field]++
				}
			}
		}
	}
	for _, field := range fields {
		if counted[field] == 0 {
			t.Errorf("no update asks for another %s", field)
		}
	}
}

// An empty uid is none: it stays so where the policy moves.
func TestNoUIDStaysNone(t *testing.T) {
	t.Parallel()
	policy := func(namespace string) any {
		return map[string]any{"metadata": map[string]any{"name": "p", "namespace": namespace, "uid": ""}}
	}
	moved := policy("other")
	countUp([]any{policy("shop")}, []any{moved})
	if uid := tree.Metadata(moved)["uid"]; uid != "" {
		t.Errorf("the uid is %q", uid)
	}
}
