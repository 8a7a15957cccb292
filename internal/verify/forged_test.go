package verify

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/sidecar"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/xds/lift"
)

// outcome is what becomes of a dump before an Envoy is asked.
type outcome string

const (
	verified outcome = "verified"
	// unverified is a dump with something that could not be proven: exit status 1.
	unverified outcome = "unverified"
	// differs is a dump whose filters decide a class otherwise than the policies.
	differs outcome = "differs"
)

// edit changes a dump.
type edit func(dump any) any

// forged is a row: the example's dump after some edits.
type forged struct {
	name  string
	want  outcome
	edits []edit
}

// forgeries are dumps that let callers past the policies, and honest dumps beside them.
var forgeries = slices.Concat([]forged{{"as it is", verified, nil}}, forgedWays, forgedFilters, forgedRules)

// TestForgedDumps reads each dump and says what becomes of it, with package policy in the
// place of an Envoy: the filters that are read whole decide as their program does.
func TestForgedDumps(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, tt := range slices.Concat(forgeries, forgedForms, forgedRequests, forgedSurroundings, forgedFresh, forgedIdle, forgedAttacks, forgedLater, forgedFirst, forgedWorkloads, forgedNames, forgedWalk, forgedMet, forgedBootstraps, forgedHomes, forgedTrusted, forgedMachine, forgedPatches) {
		if seen[tt.name] {
			t.Fatalf("two rows %q", tt.name)
		}
		seen[tt.name] = true
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v := matched(t, tt.edits...)
			if got := outcomeOf(v); got != tt.want {
				t.Errorf("%s, want %s: %q, unknown %q", got, tt.want, lines(v.Unverified), lines(v.sidecar.Unknown))
			}
		})
	}
}

// matched holds the example's dump, after some edits, against the example's policies.
func matched(t *testing.T, edits ...edit) *Verification {
	t.Helper()
	return matchedTo(t, "", edits...)
}

// matchedTo holds one inbound of it, or all where none is named.
func matchedTo(t *testing.T, to string, edits ...edit) *Verification {
	t.Helper()
	all, files := exampleCases(t)
	return matchedDump(t, all, files, to, exampleDump(t), append(slices.Clip(edits), completed)...)
}

// exampleCases reads the example's policies, for the trust domain of its mesh.
func exampleCases(t *testing.T) ([]lab.Case, *lab.Files) {
	t.Helper()
	files, err := lab.Open(lab.Choice{}, "../../examples/sidecar/policies")
	if err != nil {
		t.Fatal(err)
	}
	all, err := files.CasesFor(lab.Surroundings{Options: language.Options{TrustDomain: spiffeid.RequireTrustDomainFromString("default.zone-1.mesh.local")}}, files.Inbounds())
	if err != nil {
		t.Fatal(err)
	}
	return all, files
}

// matchedDump holds one inbound of a dump, or all where none is named, after some edits against cases. It plans a proof only
// where nothing is unverified without one: a plan takes nothing back, and is half of the time.
func matchedDump(t *testing.T, all []lab.Case, files *lab.Files, to string, dump any, edits ...edit) *Verification {
	t.Helper()
	for _, e := range edits {
		dump = e(dump)
	}
	text, err := json.Marshal(dump)
	if err != nil {
		t.Fatal(err)
	}
	found, err := sidecar.Dump(text)
	if err != nil {
		t.Fatal(err)
	}
	v, replays, err := pair(t.Context(), all, files, false, to, nil, found)
	if err == nil && len(v.Unverified) == 0 {
		err = v.plan(t.Context(), replays)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func exampleDump(t *testing.T) any {
	t.Helper()
	text, err := os.ReadFile("../../examples/sidecar/config_dump.json")
	if err != nil {
		t.Fatal(err)
	}
	// The clusters are put back by completed.
	return editAt(value(string(text)), "configs", func(old any) any { return old.([]any)[:1] })
}

func outcomeOf(v *Verification) outcome {
	if len(v.Unverified) > 0 {
		return unverified
	}
	for _, replay := range v.Replays {
		enforced, _ := lift.Program(replay.Filters, replay.Proof.Inbounds[0].Port)
		for _, asked := range replay.Proof.Asked() {
			if policy.Decide(enforced, asked.Seen).Effect != policy.Decide(replay.Proof.Inbounds[0].Program, asked.Seen).Effect {
				return differs
			}
		}
	}
	return verified
}
