package suite

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy"
)

// renameAll gives every verdict and every verdict of the shadow a name of its own.
func renameAll(p *policy.Program) {
	for _, gates := range [][]policy.Gate{p.Gates, p.Shadows} {
		for i := range gates {
			for j := range gates[i].Rules {
				gates[i].Rules[j].Origin = "somebody"
			}
		}
	}
}

// With AnyNames the decisions are compared, and the names are not.
func TestAnyNames(t *testing.T) {
	t.Parallel()
	const asked = "requests: [{from: " + frontend + ", to: backend/http-port, want: allow, by: " + friends + ", shadow: deny, shadowBy: " + friends + "}]\n"
	for name, tt := range map[string]struct {
		text     string
		compiler Compiler
		any      bool
		want     []string
	}{
		"compared": {shadowed + asked, altered(renameAll), false, []string{
			"the policies say allow by " + friends + ", Envoy says served (allow by somebody)",
			"the shadow should say deny by " + friends + ", Envoy's says deny by somebody",
			"the case wants it decided by " + friends + ", Envoy names somebody",
			"the case wants the shadow decided by " + friends + ", Envoy names somebody",
		}},
		"any": {shadowed + asked, altered(renameAll), true, nil},
		"any, and allowed instead": {head + "requests: [{from: " + intruder + ", to: backend/http-port, want: deny}]\n", AllowEverything, true, []string{
			"the case wants deny, Envoy says served (allow by default)",
			"the policies say deny by default, Envoy says served (allow by default)",
		}},
		"any, and another shadow": {shadowed + asked, altered(func(p *policy.Program) { p.Shadows = p.Gates }), true, []string{
			"the shadow should say deny by " + friends + ", Envoy's says allow by " + friends,
			"the case wants shadow deny, Envoy says allow",
		}},
		"any, and no shadow": {shadowed + asked, altered(func(p *policy.Program) { p.Shadows = nil }), true, []string{
			"a shadow should run: true, a shadow ran: false",
			"the case wants shadow deny, Envoy says none",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Runner{Harness: shared(t), Compiler: tt.compiler, AnyNames: tt.any}.Case(t.Context(), parse(t, tt.text))
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			if diff := cmp.Diff(tt.want, r.Requests[0].ProblemTexts()); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}
