package suite

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

// refuser refuses whatever it is asked.
var refuser Compiler = CompilerFunc(func(context.Context, policy.Inbound, []manifest.Document, language.Options) (xds.Filters, error) {
	return xds.Filters{}, errors.New("no")
})

// outOfOrder is an error of a compiler that has refused nothing.
type outOfOrder struct{}

func (outOfOrder) Error() string { return "default.allow[0]: out of order" }
func (outOfOrder) Broken() bool  { return true }

// Refusals are negative controls too: a compiler that takes everything passes no case
// that wants one, and a compiler that refuses everything passes no other case.
func TestNegativeControlsOfRefusals(t *testing.T) {
	t.Parallel()
	all, err := cases.Stories()
	if err != nil {
		t.Fatal(err)
	}
	var refused []cases.Case
	for _, c := range all {
		if c.ExpectError != "" {
			refused = append(refused, c)
		}
	}
	for _, r := range (Runner{Harness: shared(t)}).Run(t.Context(), refused...) {
		if !r.Passed() {
			t.Errorf("%s: meshproof's own: %v", r.Case.Place, r.Err)
		}
	}
	for _, r := range (Runner{Harness: shared(t), Compiler: AllowEverything}).Run(t.Context(), refused...) {
		if r.Passed() || r.Fault || r.Err == nil || !strings.Contains(r.Err.Error(), "the compiler accepts policies that must be refused") {
			t.Errorf("%s: AllowEverything: passed %t, fault %t, error %v", r.Case.Place, r.Passed(), r.Fault, r.Err)
		}
	}
	for _, r := range (Runner{Harness: shared(t), Compiler: refuser}).Run(t.Context(), all...) {
		if r.Passed() != (r.Case.ExpectError != "") || r.Fault {
			t.Errorf("%s: one that refuses everything: passed %t, fault %t, error %v", r.Case.Place, r.Passed(), r.Fault, r.Err)
		}
	}
	if len(refused) < 20 || len(refused) == len(all) {
		t.Errorf("%d of %d cases want a refusal", len(refused), len(all))
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	const (
		policies = "policies: [{type: MeshTrafficPermission, name: p, spec: {default: {allow: [{}]}}}]\nexpectError: default.allow[0]\n"
		one      = "case: c\nworkloads: [{name: w, inbounds: [{port: 80}]}]\n" + policies
		two      = "case: c\nworkloads: [{name: w, inbounds: [{port: 80}, {port: 81}]}]\n" + policies
		none     = "case: c\nworkloads: [{name: w}]\n" + policies
	)
	asked := func(port uint16, err error) Compiler {
		return CompilerFunc(func(_ context.Context, in policy.Inbound, _ []manifest.Document, _ language.Options) (xds.Filters, error) {
			if in.Port == port {
				return xds.Filters{}, err
			}
			return xds.Filters{}, nil
		})
	}
	for name, tt := range map[string]struct {
		text     string
		compiler Compiler
		fault    bool
		want     []string
	}{
		"meshproof's own":                    {one, nil, false, nil},
		"refused in other words":             {one, refuser, false, nil},
		"accepted":                           {one, AllowEverything, false, []string{"the compiler accepts policies that must be refused"}},
		"refused on one inbound of two":      {two, asked(81, errors.New("no")), false, nil},
		"accepted on both":                   {two, asked(82, errors.New("no")), false, []string{"the compiler accepts policies that must be refused"}},
		"without an inbound, refused":        {none, refuser, false, nil},
		"without an inbound, accepted":       {none, AllowEverything, false, []string{"the compiler accepts policies that must be refused"}},
		"out of order":                       {one, asked(80, outOfOrder{}), true, []string{"out of order"}},
		"accepted here, out of order there":  {two, asked(81, outOfOrder{}), true, []string{"out of order"}},
		"a text that meshproof does not say": {strings.Replace(one, "allow[0]\n", "allow[1]\n", 1), asked(80, errors.New("default.allow[1]")), false, []string{`an error that contains "default.allow[1]" was expected, but: `}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Runner{Harness: shared(t), Compiler: tt.compiler}.Case(t.Context(), parse(t, tt.text))
			checkErr(t, r.Err, tt.want...)
			if r.Fault != tt.fault || r.Passed() != (tt.want == nil) {
				t.Errorf("fault %t, passed %t", r.Fault, r.Passed())
			}
		})
	}
}

// A case that was cut off before its compiler was asked has proven nothing.
func TestRefusalThatIsCutOff(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	waits := CompilerFunc(func(ctx context.Context, _ policy.Inbound, _ []manifest.Document, _ language.Options) (xds.Filters, error) {
		return xds.Filters{}, context.Cause(ctx)
	})
	c := parse(t, "case: c\nworkloads: [{name: w, inbounds: [{port: 80}]}]\npolicies: [{type: Nothing}]\nexpectError: unknown\n")
	if r := (Runner{Harness: shared(t), Compiler: waits}).Case(ctx, c); r.Passed() || !r.Fault {
		t.Errorf("passed %t, fault %t: %v", r.Passed(), r.Fault, r.Err)
	}
}
