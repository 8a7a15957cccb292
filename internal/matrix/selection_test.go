package matrix_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/matrix"
	"github.com/meshproof/meshproof/internal/property"
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
		"which every compiler claims":     {matrix.Selection{Supported: []feature.Name{"MTPOption2"}}, story, true, "", false},
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
	if err != nil || got[0] != "MTPShadow" || len(got) != 9 || !slices.Contains(got, "AuthorizationPolicyPorts") {
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

// Each built-in case names its features, and each feature has a case: no compiler can claim a
// feature without a test.
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

func shard(t interface{ Fatal(...any) }, text string) matrix.Shard {
	var s matrix.Shard
	if err := s.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestShardReads(t *testing.T) {
	for text, want := range map[string]string{
		"":        `shard "" is none: write 2/5 for the second part of five`,
		"2":       `shard "2" is none: write 2/5 for the second part of five`,
		"2/0":     `shard "2/0" is none: write 2/5 for the second part of five`,
		"0/3":     `shard "0/3": the parts are 1 to 3`,
		"4/3":     `shard "4/3": the parts are 1 to 3`,
		"x/3":     `shard "x/3" is none: write 2/5 for the second part of five`,
		"02/3":    `shard "02/3" is none: write 2/5 for the second part of five`,
		"1/10001": `shard "1/10001": there are 10000 parts at most`,
		"job/3":   `shard "job/3": JOB_COMPLETION_INDEX is not set: is this a pod of an Indexed Job?`,
	} {
		var s matrix.Shard
		if err := s.UnmarshalText([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if got := shard(t, "3/3").String(); got != "3/3" {
		t.Errorf("got %s", got)
	}
	if got := (matrix.Shard{}).String(); got != "" {
		t.Errorf("the whole is called %q", got)
	}
	t.Setenv("JOB_COMPLETION_INDEX", "0")
	if got := shard(t, "job/3").String(); got != "1/3" {
		t.Errorf("the first pod takes %s", got)
	}
	t.Setenv("JOB_COMPLETION_INDEX", "3")
	var s matrix.Shard
	if err := s.UnmarshalText([]byte("job/3")); err == nil {
		t.Errorf("a fourth pod of three takes %s", s)
	}
}

// For any number of parts, each case is in one part, in its order, and the parts differ by at
// most the cost of one case.
func TestShardsAreTheWhole(t *testing.T) {
	t.Parallel()
	property.Check(t, func(t *rapid.T) {
		costs := map[string]time.Duration{}
		var all []cases.Case
		longest := time.Duration(0)
		for i, ms := range rapid.SliceOfN(rapid.IntRange(1, 500), 0, 40).Draw(t, "milliseconds") {
			name := fmt.Sprintf("case %d", i)
			costs[name] = time.Duration(ms) * time.Millisecond
			longest = max(longest, costs[name])
			all = append(all, cases.Case{Name: name})
		}
		cost := func(c cases.Case) time.Duration { return costs[c.Name] }
		of := rapid.IntRange(1, 60).Draw(t, "parts")
		seen := map[string]int{}
		var loads []time.Duration
		for i := range of {
			part := shard(t, fmt.Sprintf("%d/%d", i+1, of)).Pick(all, cost)
			load, last := time.Duration(0), -1
			for _, c := range part {
				at := slices.IndexFunc(all, func(a cases.Case) bool { return a.Name == c.Name })
				if at <= last {
					t.Fatalf("part %d has %s out of order", i+1, c.Name)
				}
				last = at
				seen[c.Name]++
				load += cost(c)
			}
			loads = append(loads, load)
		}
		for _, c := range all {
			if seen[c.Name] != 1 {
				t.Fatalf("%s is in %d parts", c.Name, seen[c.Name])
			}
		}
		if slices.Max(loads)-slices.Min(loads) > longest {
			t.Fatalf("the parts take %v, the longest case %v", loads, longest)
		}
	})
}

// With more parts than cases, the last parts are empty.
func TestShardsOfFewCases(t *testing.T) {
	t.Parallel()
	all := []cases.Case{{Name: "a"}, {Name: "b"}}
	cost := func(cases.Case) time.Duration { return time.Second }
	for text, want := range map[string]int{"1/10000": 1, "2/10000": 1, "3/10000": 0, "10000/10000": 0} {
		if got := shard(t, text).Pick(all, cost); len(got) != want {
			t.Errorf("%s: %d cases, want %d", text, len(got), want)
		}
	}
	if got := shard(t, "1/1").Pick(nil, cost); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

// The parts depend on the names and costs of the cases, not on their order.
func TestShardIsDeterministic(t *testing.T) {
	t.Parallel()
	all := []cases.Case{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}}
	same := func(cases.Case) time.Duration { return time.Second }
	pick := func(all []cases.Case) []string {
		var names []string
		for _, c := range shard(t, "1/2").Pick(all, same) {
			names = append(names, c.Name)
		}
		slices.Sort(names)
		return names
	}
	first := pick(all)
	slices.Reverse(all)
	if diff := cmp.Diff(first, pick(all)); diff != "" || len(first) != 2 {
		t.Errorf("(-first +second):\n%s", diff)
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	times, err := matrix.ParseTimes([]byte(`{"quick": 0, "slow": 1500}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := times.Cost(cases.Case{Name: "slow"}); got != 1500*time.Millisecond {
		t.Errorf("the slow case costs %s", got)
	}
	if got := times.Cost(cases.Case{Name: "quick"}); got <= 0 {
		t.Errorf("the quick case costs %s: a part could have all of its kind", got)
	}
	small, large := times.Cost(cases.Case{Name: "new"}), times.Cost(cases.Case{Name: "newer", Requests: make([]cases.Request, 100)})
	if small <= 0 || large <= small {
		t.Errorf("unmeasured cases cost %s, and with a hundred requests %s", small, large)
	}
	for _, bad := range []string{"", "[]", `{"a": -1}`, `{"a": "1s"}`, `{"a": 1e300}`} {
		if times, err := matrix.ParseTimes([]byte(bad)); err == nil {
			t.Errorf("%s: %v", bad, times)
		}
	}
}

// The measured times are of existing cases, and of nearly all of them.
func TestMeasured(t *testing.T) {
	t.Parallel()
	all, err := cases.Stories()
	if err != nil {
		t.Fatal(err)
	}
	times := matrix.Measured()
	known := 0
	names := map[string]bool{}
	for _, c := range all {
		names[c.Name] = true
		if _, ok := times[c.Name]; ok {
			known++
		}
	}
	for name := range times {
		if !names[name] {
			t.Errorf("there is no case %q any more: run make times", name)
		}
	}
	if known < len(all)*9/10 {
		t.Errorf("of %d cases %d are measured: run make times", len(all), known)
	}
}
