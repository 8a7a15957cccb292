package matrix_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/matrix"
	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/internal/policyset"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/folder"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

// ofProfiles returns cases of each profile, and some whose policies must be refused.
func ofProfiles(t *testing.T) []cases.Case {
	out := []cases.Case{few(t)[0], few(t)[2]}
	left := map[string]int{"LegacyFrom": 1, "AuthorizationPolicySPIFFESource": 2, "AuthorizationPolicyValidation": 2}
	for _, c := range casetest.Stories(t) {
		for _, name := range c.Features {
			if left[string(name)] > 0 && (len(c.Features) == 1 || len(c.Policies) > 0 && name == "AuthorizationPolicySPIFFESource") {
				left[string(name)]--
				out = append(out, c)
				break
			}
		}
	}
	if len(out) != 7 {
		t.Fatalf("%d cases", len(out))
	}
	return out
}

// textOf returns what a policy says, with its values changed; nil for no change.
func textOf(t *testing.T, doc manifest.Document, change func(string) string) string {
	var of func(v any) any
	of = func(v any) any {
		switch v := v.(type) {
		case string:
			if change != nil {
				return change(v)
			}
		case []any:
			for i := range v {
				v[i] = of(v[i])
			}
		case map[string]any:
			for key := range v {
				v[key] = of(v[key])
			}
		}
		return v
	}
	var v any
	if err := doc.Decode(&v); err != nil {
		t.Error(err)
	}
	return fmt.Sprint(of(v))
}

// A compiler is asked for policies that it cannot know, and for everything twice.
func TestCompilersAreAskedForDrawnPolicies(t *testing.T) {
	t.Parallel()
	gateway := matrix.Selection{Profiles: []feature.Profile{feature.GEP3779}}
	// The policies of the cases, by everything that they say.
	written := map[string]bool{}
	for _, c := range ofProfiles(t) {
		for _, doc := range c.Policies {
			written[textOf(t, doc, nil)] = true
		}
	}
	shapes := map[string]bool{}
	for _, c := range ofProfiles(t) {
		for _, doc := range c.Policies {
			shapes[textOf(t, doc, func(string) string { return "" })] = true
		}
	}
	known := func(docs []manifest.Document) bool {
		return !slices.ContainsFunc(docs, func(doc manifest.Document) bool { return !written[textOf(t, doc, nil)] })
	}
	where := func(honestly func(policy.Inbound, []manifest.Document, language.Options) bool) suite.CompilerFunc {
		return func(ctx context.Context, in policy.Inbound, docs []manifest.Document, opts language.Options) (xds.Filters, error) {
			if honestly(in, docs, opts) {
				return honest(ctx, in, docs, opts)
			}
			return open(ctx, in, docs, opts)
		}
	}
	// times counts how often a compiler was asked a question.
	var mu sync.Mutex
	times := map[string]int{}
	from := func(name string, nth int, later suite.CompilerFunc) suite.CompilerFunc {
		return func(ctx context.Context, in policy.Inbound, docs []manifest.Document, opts language.Options) (xds.Filters, error) {
			key := name + in.String()
			for _, doc := range docs {
				key += doc.Place("")
			}
			mu.Lock()
			times[key]++
			late := times[key] >= nth
			mu.Unlock()
			if late {
				return later(ctx, in, docs, opts)
			}
			return honest(ctx, in, docs, opts)
		}
	}
	many := 60
	if testing.Short() {
		many = 15
	}
	slow := []string{"right for known policies", "right for two policies at most", "right for known ports",
		"right but for policies that look like those of the cases", "right two times, for callers in plaintext",
		"right but where nobody calls", "right but for workloads with one first letter", "exempt features",
		"right but for policies about the account of the workload itself", "right but for a change of labels",
		"right but for a workload in another namespace", "the first shard"}
	for name, tt := range map[string]struct {
		compile suite.CompilerFunc
		select_ matrix.Selection
		sets    int
		shard   string
		// problem is in the result of the policies that were drawn; "" for none.
		problem string
		skipped bool
		missing bool
	}{
		"honest": {honest, matrix.Selection{}, many, "", "", false, false},
		"right for known policies": {where(func(_ policy.Inbound, docs []manifest.Document, _ language.Options) bool { return known(docs) }),
			matrix.Selection{}, 10, "", "not as the policies say", false, false},
		"right for the usual trust domain": {where(func(_ policy.Inbound, _ []manifest.Document, opts language.Options) bool {
			td := opts.TrustDomain.Name()
			return td == "trust-domain.mesh" || td == "default" || td == ""
		}), gateway, 10, "", "not as the policies say", false, false},
		"right for two policies at most": {where(func(_ policy.Inbound, docs []manifest.Document, _ language.Options) bool { return len(docs) <= 2 }),
			gateway, 20, "", "not as the policies say", false, false},
		"right for known ports": {where(func(in policy.Inbound, _ []manifest.Document, _ language.Options) bool {
			return slices.Contains([]uint16{8080, 8081, 5432, 9090}, in.Port)
		}), gateway, 10, "", "not as the policies say", false, false},
		"right but for policies that look like those of the cases": {where(func(_ policy.Inbound, docs []manifest.Document, _ language.Options) bool {
			blank := func(string) string { return "" }
			return known(docs) || !slices.ContainsFunc(docs, func(doc manifest.Document) bool { return shapes[textOf(t, doc, blank)] })
		}), gateway, many, "", "not as the policies say", false, false},
		"right but for refusals of other names": {func(ctx context.Context, in policy.Inbound, docs []manifest.Document, opts language.Options) (xds.Filters, error) {
			f, err := honest(ctx, in, docs, opts)
			if err != nil && !known(docs) {
				return open(ctx, in, docs, opts)
			}
			return f, err
		}, gateway, 5, "", "the compiler accepts policies that must be refused", false, false},
		"right but for workloads with one first letter": {where(func(in policy.Inbound, _ []manifest.Document, _ language.Options) bool {
			return !strings.HasPrefix(in.Workload.Name, "z")
		}), gateway, 40, "", "not as the policies say", false, false},
		"right but for policies about the account of the workload itself": {where(func(in policy.Inbound, docs []manifest.Document, _ language.Options) bool {
			return !slices.ContainsFunc(docs, func(doc manifest.Document) bool {
				own := false
				textOf(t, doc, func(text string) string { own = own || text == in.Workload.Name; return text })
				return own
			})
		}), gateway, 10, "", "not as the policies say", false, false},
		"right but where nobody calls": {where(func(_ policy.Inbound, _ []manifest.Document, opts language.Options) bool {
			return len(opts.Peers) > 0
		}), gateway, 40, "", "not as the policies say", false, false},
		"right but for a change of what policies say": {kept(func(in policy.Inbound, docs []manifest.Document, opts language.Options) string {
			key := fmt.Sprint(in, in.Workload.Namespace, in.Workload.Labels, opts.TrustDomain)
			for _, doc := range docs {
				key += metadata.IdentityOf(doc).String()
			}
			return key
		}), gateway, 5, "", "not as the policies say", false, false},
		"right but for a change of labels": {kept(func(in policy.Inbound, docs []manifest.Document, opts language.Options) string {
			key := fmt.Sprint(in, in.Workload.Namespace, opts.TrustDomain)
			for _, doc := range docs {
				key += doc.Flow()
			}
			return key
		}), gateway, 5, "", "not as the policies say", false, false},
		"right but for a workload in another namespace": {kept(func(in policy.Inbound, docs []manifest.Document, opts language.Options) string {
			key := fmt.Sprint(in, in.Port, in.Protocol, in.Workload.Labels, opts.TrustDomain)
			for _, doc := range docs {
				key += doc.Flow()
			}
			return key
		}), gateway, 5, "", "not as the policies say", false, false},
		"right but for callers in plaintext beside three policies": {func(ctx context.Context, in policy.Inbound, docs []manifest.Document, opts language.Options) (xds.Filters, error) {
			f, err := honest(ctx, in, docs, opts)
			if len(docs) < 3 {
				return f, err
			}
			return openInPlaintext(f), err
		}, gateway, 5, "", "callers in plaintext", false, false},
		"right the first time": {from("first", 2, open), gateway, 5, "", "asked again, the compiler gives other filters", false, false},
		"right two times, for callers in plaintext": {from("second", 3, func(ctx context.Context, in policy.Inbound, docs []manifest.Document, opts language.Options) (xds.Filters, error) {
			f, err := honest(ctx, in, docs, opts)
			return openInPlaintext(f), err
		}), gateway, 20, "", "callers in plaintext", false, false},
		"no sets":           {honest, matrix.Selection{}, -1, "", "", true, false},
		"exempt features":   {honest, matrix.Selection{Profiles: []feature.Profile{feature.GEP3779}, Exempt: []feature.Name{"AuthorizationPolicyTargetRefs"}}, 1, "", "", true, false},
		"the second shard":  {honest, matrix.Selection{}, 5, "2/2", "", false, true},
		"the first shard":   {honest, matrix.Selection{}, 5, "1/2", "", false, false},
		"not asked for any": {honest, matrix.Selection{}, 0, "", "", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && slices.Contains(slow, name) {
				t.Skip("slow: policies that are drawn show its mistake as they show that of another compiler here")
			}
			s := matrix.Suite{Cases: ofProfiles(t), Runtime: harness.Process, Compiler: &suite.Foreign{CompilerFunc: tt.compile}, Selection: tt.select_, Sets: tt.sets, Seed: 11}
			if tt.shard != "" {
				if err := s.Shard.UnmarshalText([]byte(tt.shard)); err != nil {
					t.Fatal(err)
				}
			}
			results, err := s.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			all := results[0].Report.Cases
			last := all[len(all)-1]
			if missing := last.Case != matrix.FreshCase; missing != tt.missing {
				t.Fatalf("the last case is %q", last.Case)
			} else if missing {
				return
			}
			if (last.Skipped != "") != tt.skipped || !strings.Contains(last.Error, tt.problem) || last.Drawn == nil || last.Drawn.Seed != 11 {
				t.Errorf("skipped %q, drawn %+v, error %s", last.Skipped, last.Drawn, last.Error)
			}
			if d := last.Drawn; (d.Again > 0) == tt.skipped || (d.Others > 0) != strings.HasPrefix(name, "right t") {
				t.Errorf("%d answers to questions asked again, %d others", d.Again, d.Others)
			}
			published := report.NewConformance(results[0].Report)
			conformant := published.Profiles[0].Core.Result == "success"
			if said := fmt.Sprintf("%d sets of policies (seed 11), and about no others", last.Drawn.Sets+last.Drawn.ReadBack); !tt.skipped &&
				(!strings.Contains(published.Meshproof.Shows, said) || !strings.Contains(strings.Join(last.Notes, "\n"), said)) {
				t.Errorf("the report says %q, the notes say %q, want %q", published.Meshproof.Shows, last.Notes, said)
			}
			if conformant && last.Drawn.ReadBack == 0 {
				t.Errorf("no set was read back: %+v", last.Drawn)
			}
			if want := tt.problem == "" && !tt.skipped; conformant != want || (len(last.Drawn.Problems) > 0) != (tt.problem != "") {
				t.Errorf("conformant is %t, problems %q", conformant, last.Drawn.Problems)
			}
		})
	}
}

// A shard that draws no policies asks for its own cases again.
func TestEachShardAsksAgain(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked := map[string]bool{}
	twice := func(ctx context.Context, in policy.Inbound, docs []manifest.Document, opts language.Options) (xds.Filters, error) {
		key := in.String()
		for _, doc := range docs {
			key += doc.Place("")
		}
		mu.Lock()
		again := asked[key]
		asked[key] = true
		mu.Unlock()
		if again {
			return open(ctx, in, docs, opts)
		}
		return honest(ctx, in, docs, opts)
	}
	for name, tt := range map[string]struct {
		compile suite.CompilerFunc
		failed  bool
	}{"honest": {honest, false}, "right the first time": {twice, true}} {
		s := matrix.Suite{Cases: ofProfiles(t), Runtime: harness.Process, Compiler: &suite.Foreign{CompilerFunc: tt.compile}, Sets: 5, Seed: 11}
		if err := s.Shard.UnmarshalText([]byte("2/2")); err != nil {
			t.Fatal(err)
		}
		results, err := s.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		failed := false
		for _, c := range results[0].Report.Cases {
			if c.Error != "" && !strings.Contains(c.Error, c.Case+": asked again, the compiler gives other filters") {
				t.Errorf("%s: %s: %s", name, c.Case, c.Error)
			}
			failed = failed || c.Error != ""
		}
		if failed != tt.failed {
			t.Errorf("%s: a case failed: %t", name, failed)
		}
	}
}

// TestEachProfileIsDrawn shows that a compiler is asked for policies that it cannot know, whatever
// profile it claims. One of a profile whose policies cannot be drawn is not conformant: the report has
// a skipped case with a core feature of the profile.
func TestEachProfileIsDrawn(t *testing.T) {
	t.Parallel()
	for _, p := range feature.Profiles() {
		if p == feature.KumaRoutes {
			continue
		}
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			// The other tests here draw for the GEP.
			if testing.Short() && p != feature.KumaMTP && p != feature.CiliumIngress {
				t.Skip("slow: it asks an Envoy for decisions about drawn policies of each dialect")
			}
			one := slices.IndexFunc(casetest.Stories(t), func(c cases.Case) bool {
				return c.ExpectError == "" && len(c.Requests) > 0 && slices.Contains(c.Features, policyset.Core(p))
			})
			s := matrix.Suite{
				Cases: casetest.Stories(t)[one : one+1], Runtime: harness.Process, Compiler: &suite.Foreign{CompilerFunc: honest},
				Selection: matrix.Selection{Profiles: []feature.Profile{p}}, Sets: 4, Seed: 11,
			}
			results, err := s.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			all := results[0].Report.Cases
			last := all[len(all)-1]
			if !strings.HasPrefix(last.Case, matrix.FreshCase) || last.Error != "" || !slices.Contains(last.Features, policyset.Core(p)) {
				t.Fatalf("the last case is %+v", last)
			}
			if drawn := len(policyset.Forms(p)) > 0; drawn != (last.Skipped == "") || drawn && last.Drawn.Decisions == 0 {
				t.Errorf("the last case is %+v", last)
			}
		})
	}
}

// A test of another module asks for drawn policies behind its subtests, when its context has ended.
func TestRunDrawsBehindTheSubtests(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "report")
	matrix.Run(t, matrix.Suite{
		Cases: ofProfiles(t), Runtime: harness.Process, Compiler: &suite.Foreign{CompilerFunc: honest}, Sets: 2, Seed: 11, ReportDir: dir,
		Implementation: report.Implementation{Organization: "example", Project: "mesh", URL: "https://example.com/mesh", Version: "v1", Contact: []string{"@example"}},
	})
	runs, err := folder.Load(dir)
	if err != nil || len(runs) != 1 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	cs := runs[0].Cases
	if last := cs[len(cs)-1]; !last.Passed || last.Drawn == nil || last.Drawn.Sets != 2 {
		t.Errorf("%+v", last)
	}
}

// A set whose filters cannot be read back is told: it shows nothing.
func TestUnreadSetsAreTold(t *testing.T) {
	t.Parallel()
	notes := strings.Join(matrix.NotesOf(&result.Drawn{Seed: 7, Sets: 40, ReadBack: 478, Unread: 2}), "\n")
	for _, want := range []string{"478 more sets read back (2 left out: their filters cannot be read back whole)", "518 sets of policies (seed 7), and about no others"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes lack %q:\n%s", want, notes)
		}
	}
}
