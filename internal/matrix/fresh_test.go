package matrix_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/matrix"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

// honest is meshproof's own compiler, as an importer would plug it in.
func honest(ctx context.Context, in policy.Inbound, docs []manifest.Document, opts language.Options) (xds.Filters, error) {
	return suite.CompileOne(ctx, suite.Reference, in, docs, opts)
}

// open lets every caller in where a compiler is dishonest.
func open(ctx context.Context, in policy.Inbound, docs []manifest.Document, opts language.Options) (xds.Filters, error) {
	return suite.CompileOne(ctx, suite.AllowEverything, in, docs, opts)
}

// ofProfiles returns a case of each profile.
func ofProfiles(t *testing.T) []cases.Case {
	out := []cases.Case{few(t)[0], few(t)[2]}
	for _, c := range casetest.Stories(t) {
		if len(c.Requests) > 0 && slices.Equal(c.Features, []feature.Name{"LegacyFrom"}) {
			return append(out, c)
		}
	}
	t.Fatal("no case is about LegacyFrom alone")
	return nil
}

// A compiler is asked for policies that it cannot know, and for everything twice.
func TestFreshPolicies(t *testing.T) {
	t.Parallel()
	gateway := matrix.Selection{Profiles: []feature.Profile{feature.GEP3779}}
	known := func(docs []manifest.Document) bool {
		return len(docs) == 0 || !strings.Contains(docs[0].Place(""), "seed")
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
		"honest": {honest, matrix.Selection{}, 60, "", "", false, false},
		"right for known policies": {func(ctx context.Context, in policy.Inbound, docs []manifest.Document, opts language.Options) (xds.Filters, error) {
			if known(docs) {
				return honest(ctx, in, docs, opts)
			}
			return open(ctx, in, docs, opts)
		}, matrix.Selection{}, 10, "", "not as the policies say", false, false},
		"right for the usual trust domain": {func(ctx context.Context, in policy.Inbound, docs []manifest.Document, opts language.Options) (xds.Filters, error) {
			if td := opts.TrustDomain.Name(); td == "trust-domain.mesh" || td == "default" || td == "" {
				return honest(ctx, in, docs, opts)
			}
			return open(ctx, in, docs, opts)
		}, gateway, 10, "", "not as the policies say", false, false},
		"right the first time": {from("first", 2, open), gateway, 5, "", "asked again, the compiler gives other filters", false, false},
		"right two times, for callers in plaintext": {from("second", 3, func(ctx context.Context, in policy.Inbound, docs []manifest.Document, opts language.Options) (xds.Filters, error) {
			f, err := honest(ctx, in, docs, opts)
			for i, filter := range f.Network {
				f.Network[i] = proto.CloneOf(filter)
				for _, p := range f.Network[i].Rules.GetPolicies() {
					p.Principals = append(p.Principals, &rbacv3.Principal{Identifier: &rbacv3.Principal_NotId{
						NotId: &rbacv3.Principal{Identifier: &rbacv3.Principal_Authenticated_{Authenticated: &rbacv3.Principal_Authenticated{}}},
					}})
				}
			}
			return f, err
		}), gateway, 20, "", "callers in plaintext", false, false},
		"no sets":           {honest, matrix.Selection{}, -1, "", "", true, false},
		"exempt features":   {honest, matrix.Selection{Profiles: []feature.Profile{feature.GEP3779}, Exempt: []feature.Name{"AuthorizationPolicyTargetRefs"}}, 5, "", "", true, false},
		"the second shard":  {honest, matrix.Selection{}, 5, "2/2", "", false, true},
		"the first shard":   {honest, matrix.Selection{}, 5, "1/2", "", false, false},
		"not asked for any": {honest, matrix.Selection{}, 0, "", "", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
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
			conformant := report.NewConformance(results[0].Report).Profiles[0].Core.Result == "success"
			if want := tt.problem == "" && !tt.skipped; conformant != want || (len(last.Drawn.Problems) > 0) != (tt.problem != "") {
				t.Errorf("conformant is %t, problems %q", conformant, last.Drawn.Problems)
			}
		})
	}
}
