package suite

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy"
)

// rename gives every verdict another origin.
func rename(p *policy.Program) {
	for i := range p.Gates[0].Rules {
		p.Gates[0].Rules[i].Origin = "somebody"
	}
}

// Each way in which a request can go wrong has a problem of its own: the compiler is wrong,
// or the case wants the wrong thing of a compiler that is right.
func TestProblems(t *testing.T) {
	t.Parallel()
	toHTTP := func(from, more string) string {
		return "requests: [{from: " + from + ", to: backend/http-port, " + more + "}]"
	}
	toTCP := func(from, more string) string {
		return "requests: [{from: " + from + ", to: backend/tcp-port, " + more + "}]"
	}
	for name, tt := range map[string]struct {
		text     string
		compiler Compiler
		want     []string
	}{
		"allow":             {head + toHTTP(frontend, "want: allow, by: "+friends+", shadow: none"), nil, nil},
		"deny":              {head + toHTTP(intruder, "want: deny, by: default"), nil, nil},
		"403":               {head + toHTTP(intruder, "want: 403"), nil, nil},
		"close":             {head + toTCP(intruder, "want: close"), nil, nil},
		"400":               {head + toHTTP(frontend, "path: /a%2fb, want: 400"), nil, nil},
		"handshake failure": {head + toHTTP("plaintext", "want: handshake-failure"), nil, nil},
		"shadow deny":       {shadowed + toTCP(frontend, "want: allow, shadow: deny, shadowBy: "+friends), nil, nil},
		"shadow allow":      {precise + toHTTP(intruder, "want: allow, shadow: allow, shadowBy: "+friends), nil, nil},

		"grpc":         {grpc + "requests: [{from: " + frontend + ", to: backend/grpc-port, grpc: orders.Orders/List, want: allow, by: " + friends + "}]", nil, nil},
		"grpc, denied": {grpc + "requests: [{from: " + frontend + ", to: backend/grpc-port, grpc: orders.Orders/Drop, want: deny, by: default}]", nil, nil},
		"permissive":   {grpc + "requests: [{from: plaintext, to: backend/grpc-port, grpc: orders.Orders/Drop, want: allow}]", nil, nil},

		"a deny that is allowed": {head + toHTTP(intruder, "want: deny, by: default"), AllowEverything, []string{
			"the case wants deny, Envoy says served (allow by default)",
			"the policies say deny by default, Envoy says served (allow by default)",
		}},
		"an allow that is denied": {head + toHTTP(frontend, "want: allow, by: "+friends), DenyEverything, []string{
			"the case wants allow, Envoy says refused (deny by default)",
			"the policies say allow by " + friends + ", Envoy says refused (deny by default)",
			"the case wants it decided by " + friends + ", Envoy names default",
		}},
		"another policy": {head + toTCP(frontend, "want: allow, by: "+friends), altered(rename), []string{
			"the policies say allow by " + friends + ", Envoy says served (allow by somebody)",
			"the case wants it decided by " + friends + ", Envoy names somebody",
		}},
		"no filter at all": {head + toHTTP(frontend, "want: allow"), altered(func(p *policy.Program) { *p = policy.Program{} }), []string{
			"the policies say allow by " + friends + ", Envoy says served",
		}},
		"another layer": {head + toHTTP(intruder, "want: 403"), altered(func(p *policy.Program) { p.Gates[0].Layer = policy.L4 }), []string{
			"the case wants 403, Envoy says refused (deny by default)",
			"the refusal should come from an L7 filter, Envoy refused on L4",
		}},
		"no shadow": {shadowed + toHTTP(frontend, "want: allow, shadow: deny, shadowBy: "+friends), altered(func(p *policy.Program) { p.Shadows = nil }), []string{
			"a shadow should run: true, a shadow ran: false",
			"the case wants shadow deny, Envoy says none",
			"the case wants the shadow decided by " + friends + ", Envoy names nobody",
		}},
		"a shadow too many": {head + toTCP(frontend, "want: allow, shadow: none"), altered(func(p *policy.Program) { p.Shadows = p.Gates }), []string{
			"a shadow should run: false, a shadow ran: true",
			"the case wants shadow none, Envoy says allow",
		}},
		"another shadow": {shadowed + toTCP(frontend, "want: allow, shadow: deny"), altered(func(p *policy.Program) { p.Shadows = p.Gates }), []string{
			"the shadow should say deny by " + friends + ", Envoy's says allow by " + friends,
			"the case wants shadow deny, Envoy says allow",
		}},

		"wanted: deny":              {head + toHTTP(frontend, "want: deny"), nil, []string{"the case wants deny, Envoy says served (allow by " + friends + ")"}},
		"wanted: allow":             {head + toTCP(intruder, "want: allow"), nil, []string{"the case wants allow, Envoy says refused (deny by default)"}},
		"wanted: 403":               {head + toHTTP(frontend, "want: 403"), nil, []string{"the case wants 403, Envoy says served (allow by " + friends + ")"}},
		"wanted: 404 for a refusal": {head + toHTTP(intruder, "want: 404"), nil, []string{"the case wants 404, Envoy says refused (deny by default)"}},
		"wanted: 404 for a 400":     {head + toHTTP(intruder, "path: /a%2fb, want: 404"), nil, []string{"the case wants 404, Envoy says rejected with 400"}},
		"wanted: deny for a 400":    {head + toHTTP(intruder, "path: /a%2fb, want: deny"), nil, []string{"the case wants deny, Envoy says rejected with 400"}},
		"wanted: close":             {head + toHTTP(intruder, "want: close"), nil, []string{"the case wants close, Envoy says refused (deny by default)"}},
		"wanted: handshake-failure": {head + toHTTP(intruder, "want: handshake-failure"), nil, []string{"the case wants handshake-failure, Envoy says refused (deny by default)"}},
		"wanted: deny of plaintext": {head + toTCP("plaintext", "want: deny"), nil, []string{"the case wants deny, Envoy says handshake failed"}},
		"wanted: another policy":    {head + toHTTP(frontend, "want: allow, by: default"), nil, []string{"the case wants it decided by default, Envoy names " + friends}},
		"wanted: a shadow":          {head + toHTTP(frontend, "want: allow, shadow: allow"), nil, []string{"the case wants shadow allow, Envoy says none"}},
		"wanted: no shadow":         {shadowed + toHTTP(frontend, "want: allow, shadow: none"), nil, []string{"the case wants shadow none, Envoy says deny"}},
		"wanted: another shadow": {shadowed + toHTTP(frontend, "want: allow, shadowBy: default"), nil, []string{
			"the case wants the shadow decided by default, Envoy names " + friends,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := Runner{Harness: shared(t), Compiler: tt.compiler}.Case(t.Context(), parse(t, tt.text))
			if result.Err != nil || result.Fault {
				t.Fatalf("error %v, fault %t; want neither", result.Err, result.Fault)
			}
			got := result.Requests[0].ProblemTexts()
			slices.Sort(tt.want)
			slices.Sort(got)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if want := len(tt.want) == 0; result.Passed() != want {
				t.Errorf("passed: %t, want %t", result.Passed(), want)
			}
		})
	}
}
