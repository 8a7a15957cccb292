package policyset_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casewriter"
	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/internal/plugin"
	"github.com/meshproof/meshproof/internal/policyset"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/xds"
	"github.com/meshproof/meshproof/xds/lift"
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

// A set is valid, and its case file means the same as the set.
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
		out[fmt.Sprint(in, in.Protocol, in.MTLS == mtls.Permissive, in.Identity, in.Address())] = set.Program(in.Inbound).String()
	}
	return out
}

// optionsOf are the options of a case with their defaults.
func optionsOf(t testing.TB, c cases.Case) (out struct {
	KumaOption                 int
	ShadowForm, LegacyCompiler string
}) {
	t.Helper()
	text, err := plugin.OptionsJSON(c.Options)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The alphabets give sets of each kind, rules that never decide, and decisions of both
// effects.
func TestSetsCollide(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: the classes of 700 sets")
	}
	met := map[string]int{}
	for number := range uint64(700) {
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
		case strings.HasPrefix(c.Policies[0].Type().APIVersion, "security.istio.io/"):
			kind = "istio"
		case strings.HasPrefix(c.Policies[0].Type().APIVersion, "cilium.io/"):
			kind = "cilium"
		case strings.HasPrefix(c.Policies[0].Type().APIVersion, "policy.linkerd.io/"):
			kind = "linkerd"
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
			cover := classes.Cut(classes.Surface{Protocol: in.Protocol}, p)
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
		for _, kind := range []string{"option1", "option2", "option3", "legacy compact", "legacy full", "gateway", "istio", "cilium", "linkerd"} {
			if key := kind + " on " + protocol.String(); met[key] < 10 {
				t.Errorf("%s: %d inbounds", key, met[key])
			}
		}
	}
	for _, key := range []string{"shadow accepted", "shadow precise", "routes", "several origins"} {
		if met[key] < 20 {
			t.Errorf("%s: %d inbounds", key, met[key])
		}
	}
	if allowed, denied := met["allow"], met["deny"]; allowed < denied/4 || denied < allowed/4 {
		t.Errorf("%d classes are allowed and %d denied", allowed, denied)
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	for _, want := range []policyset.Form{policyset.KumaOption1, policyset.KumaOption2, policyset.KumaOption3, policyset.KumaFrom, policyset.GatewayAPI, policyset.Istio, policyset.Cilium, policyset.Linkerd} {
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
			case strings.HasPrefix(c.Policies[0].Type().APIVersion, "security.istio.io/"):
				got = policyset.Istio
			case strings.HasPrefix(c.Policies[0].Type().APIVersion, "cilium.io/"):
				got = policyset.Cilium
			case strings.HasPrefix(c.Policies[0].Type().APIVersion, "policy.linkerd.io/"):
				got = policyset.Linkerd
			case c.Policies[0].Type().Kind != "" && c.Policies[0].Type().Kind != "MeshTrafficPermission":
				got = policyset.GatewayAPI
			}
			if got != want {
				t.Errorf("%s: set %d is of form %s:\n%s", want, number, got, casewriter.YAML(c))
			}
		}
	}
	if err := new(policyset.Form).UnmarshalText([]byte("option4")); err == nil || err.Error() != `form "option4" is unknown: use one of option1, option2, option3, from, gateway, istio, cilium, linkerd` {
		t.Error(err)
	}
}

// mostAsked bounds the classes of an inbound that are asked with their neighbours.
const mostAsked = 200

// agree compares three opinions on every class of a set and its neighbours: the program, the
// text of the policies, and the lifted filters.
func agree(t testing.TB, c cases.Case) (asked int) {
	t.Helper()
	set, err := dialect.Parse(c.Policies, c.Options)
	if err != nil {
		t.Fatalf("%v:\n%s", err, casewriter.YAML(c))
	}
	for _, in := range c.Inbounds {
		if err := set.Check(in.Inbound); err != nil {
			t.Fatalf("%v:\n%s", err, casewriter.YAML(c))
		}
		program := set.Program(in.Inbound).Program
		filters, err := xds.Compile(program)
		if err != nil {
			t.Fatalf("%v:\n%s", err, casewriter.YAML(c))
		}
		back, lost := lift.Program(filters, 0)
		if len(lost) > 0 {
			t.Fatalf("%s: lost %q of\n%s", in, lost, program)
		}
		cover, evaluate := classes.Cut(classes.Surface{Protocol: in.Protocol}, program, back), set.Evaluate(in.Inbound)
		ask := func(r policy.Request) {
			asked++
			first, second, third := policy.Decide(program, r), evaluate(r), policy.Decide(back, r)
			if first != second || first != third {
				t.Fatalf("%s: %+v (-program +text):\n%s(-program +filters):\n%s%s\n%s", in, r, cmp.Diff(first, second), cmp.Diff(first, third), program, casewriter.YAML(c))
			}
		}
		for i, class := range cover.Classes[:min(len(cover.Classes), mostAsked)] {
			ask(class.Witness)
			for _, n := range cover.Neighbours(i) {
				ask(n.Request)
			}
		}
	}
	return asked
}

func TestOpinionsAgree(t *testing.T) {
	t.Parallel()
	asked, sets := 0, setsOf(500, 50)
	for number := range uint64(sets) {
		asked += agree(t, policyset.Draw(4, number))
	}
	if asked < 20*sets {
		t.Errorf("%d requests were asked of %d sets", asked, sets)
	}
}

// FuzzOpinions searches sets of policies on which the opinions in Go disagree. A byte of the
// corpus is a choice of the generator.
func FuzzOpinions(f *testing.F) {
	f.Add([]byte(nil))
	for seed := range uint64(32) {
		choices := make([]byte, 200)
		r := rand.New(rand.NewPCG(seed, 0))
		for i := range choices {
			choices[i] = byte(r.UintN(256))
		}
		f.Add(choices)
	}
	f.Fuzz(func(t *testing.T, choices []byte) { agree(t, policyset.DrawFrom(choices)) })
}

func BenchmarkAsk(b *testing.B) {
	n, decisions := uint64(0), 0
	for b.Loop() {
		s, err := policyset.Ask(policyset.Draw(1, n), 1, n)
		if err != nil {
			b.Fatal(err)
		}
		n++
		decisions += len(s.Case.Requests)
	}
	b.ReportMetric(float64(decisions)/float64(n), "decisions/set")
}

func BenchmarkDraw(b *testing.B) {
	n := uint64(0)
	for b.Loop() {
		policyset.Draw(1, n)
		n++
	}
}
