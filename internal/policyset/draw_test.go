package policyset_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casewriter"
	"github.com/meshproof/meshproof/internal/policyset"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
	"github.com/meshproof/meshproof/policy/dialect"
)

// setsOf returns how many sets a test draws: all, or with -short some of them.
func setsOf(all, some int) int {
	if testing.Short() {
		return some
	}
	return all
}

func TestDrawIsAFunctionOfSeedAndNumber(t *testing.T) {
	t.Parallel()
	one, again := policyset.Draw(3, 17), policyset.Draw(3, 17)
	if diff := cmp.Diff(string(casewriter.YAML(one)), string(casewriter.YAML(again))); diff != "" {
		t.Errorf("(-first +second):\n%s", diff)
	}
	seen := map[string]string{}
	for seed := range uint64(20) {
		for number := range uint64(20) {
			c := policyset.Draw(seed, number)
			name := c.Name
			c.Name = ""
			text := string(casewriter.YAML(c))
			if other, ok := seen[text]; ok {
				t.Errorf("%s is %s", name, other)
			}
			seen[text] = name
		}
	}
}

// A set is valid, and says as a case file what it says in memory.
func TestSetsAreWhatTheirCaseFilesSay(t *testing.T) {
	t.Parallel()
	for number := range uint64(setsOf(500, 50)) {
		c := policyset.Draw(1, number)
		programs := programsOf(t, c)
		// A case file has to state something.
		c.ExpectWarnings = []string{}
		read, err := cases.Parse("set.yaml", casewriter.YAML(c))
		if err != nil || len(read) != 1 {
			t.Fatalf("%d cases, %v:\n%s", len(read), err, casewriter.YAML(c))
		}
		if diff := cmp.Diff(programs, programsOf(t, read[0])); diff != "" {
			t.Fatalf("%s (-drawn +read):\n%s\n%s", c.Name, diff, casewriter.YAML(c))
		}
	}
}

// programsOf are the programs of all inbounds as text.
func programsOf(t testing.TB, c cases.Case) map[string]string {
	t.Helper()
	set, err := dialect.Parse(c.Policies, c.Options)
	if err != nil {
		t.Fatalf("%v:\n%s", err, casewriter.YAML(c))
	}
	out := map[string]string{}
	for _, in := range c.Inbounds {
		if err := set.Check(in.Inbound); err != nil {
			t.Fatalf("%v:\n%s", err, casewriter.YAML(c))
		}
		out[fmt.Sprint(in, in.Protocol, in.Permissive, in.Identity, in.Address())] = set.Program(in.Inbound).String()
	}
	return out
}

// optionsOf are the options of a case with their defaults.
func optionsOf(t testing.TB, c cases.Case) (out struct {
	KumaOption                 int
	ShadowForm, LegacyCompiler string
}) {
	t.Helper()
	text, err := dialect.OptionsJSON(c.Options)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What the alphabets are for happens: sets of each kind, with rules that are asked in
// vain, and decisions of either effect.
func TestSetsCollide(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: the classes of 500 sets")
	}
	met := map[string]int{}
	for number := range uint64(500) {
		c := policyset.Draw(2, number)
		set, err := dialect.Parse(c.Policies, c.Options)
		if err != nil {
			t.Fatal(err)
		}
		options := optionsOf(t, c)
		kind := fmt.Sprint("option", options.KumaOption)
		switch {
		case c.TrustDomains[0].Name() == "default":
			kind = "legacy " + options.LegacyCompiler
		case set.Program(c.Inbounds[0].Inbound).JudgesPlaintext:
			kind = "gateway"
		}
		for _, in := range c.Inbounds {
			p := set.Program(in.Inbound).Program
			met[kind+" on "+in.Protocol.String()]++
			if len(p.Shadows) > 0 {
				met["shadow "+options.ShadowForm]++
			}
			if len(p.Routes) > 0 {
				met["routes"]++
			}
			cover := classes.Of(classes.Surface{Protocol: in.Protocol}, p)
			origins := map[policy.Verdict]bool{}
			for _, class := range cover.Classes {
				v := policy.Decide(p, class.Witness).Verdict
				origins[v] = true
				met[v.Effect.String()]++
			}
			if len(origins) > 2 {
				met["several origins"]++
			}
		}
	}
	for _, protocol := range []policy.Protocol{policy.HTTP, policy.HTTP2, policy.GRPC, policy.TCP} {
		for _, kind := range []string{"option1", "option2", "option3", "legacy compact", "legacy full", "gateway"} {
			if key := kind + " on " + protocol.String(); met[key] < 10 {
				t.Errorf("%s: %d inbounds", key, met[key])
			}
		}
	}
	for _, key := range []string{"shadow accepted", "shadow precise", "routes", "several origins"} {
		if met[key] < 30 {
			t.Errorf("%s: %d inbounds", key, met[key])
		}
	}
	if allowed, denied := met["allow"], met["deny"]; allowed < denied/4 || denied < allowed/4 {
		t.Errorf("%d classes are allowed and %d denied", allowed, denied)
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	for _, want := range []policyset.Form{policyset.KumaOption1, policyset.KumaOption2, policyset.KumaOption3, policyset.KumaFrom, policyset.GatewayAPI} {
		var read policyset.Form
		if err := read.UnmarshalText([]byte(want.String())); err != nil || read != want {
			t.Errorf("%s reads as %s, %v", want, read, err)
		}
		for number := range uint64(50) {
			c := policyset.Draw(1, number, want)
			got := policyset.KumaOption1 + policyset.Form(optionsOf(t, c).KumaOption-1)
			switch {
			case c.TrustDomains[0].Name() == "default":
				got = policyset.KumaFrom
			case c.Policies[0].Type().Kind != "" && c.Policies[0].Type().Kind != "MeshTrafficPermission":
				got = policyset.GatewayAPI
			}
			if got != want {
				t.Errorf("%s: set %d is of form %s:\n%s", want, number, got, casewriter.YAML(c))
			}
		}
	}
	if err := new(policyset.Form).UnmarshalText([]byte("option4")); err == nil || err.Error() != `form "option4" is unknown: use one of option1, option2, option3, from, gateway` {
		t.Error(err)
	}
}
