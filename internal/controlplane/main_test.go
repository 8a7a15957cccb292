package controlplane

import (
	"encoding/base64"
	"encoding/pem"
	"testing"

	"go.uber.org/goleak"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// redact replaces PEM data by the types of its blocks.
func redact(value any) {
	switch value := value.(type) {
	case map[string]any:
		if encoded, ok := value["inlineBytes"].(string); ok {
			raw, _ := base64.StdEncoding.DecodeString(encoded)
			types := []string{}
			for block, rest := pem.Decode(raw); block != nil; block, rest = pem.Decode(rest) {
				types = append(types, block.Type)
			}
			value["inlineBytes"] = types
		}
		for _, v := range value {
			redact(v)
		}
	case []any:
		for _, v := range value {
			redact(v)
		}
	}
}

func mustCompile(t testing.TB, p policy.Program) xds.Filters {
	t.Helper()
	f, err := xds.Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func allow(origin string, when policy.Condition) policy.Rule {
	return policy.Rule{Verdict: policy.Verdict{Effect: policy.Allow, Origin: origin}, When: when}
}

func deny(origin string, when policy.Condition) policy.Rule {
	return policy.Rule{Verdict: policy.Verdict{Origin: origin}, When: when}
}

func is(identity string) policy.Condition { return attribute.Identity.Exact(identity) }

func under(prefix string) policy.Condition {
	return attribute.Identity.Prefix(prefix)
}

var byDefault = policy.Verdict{Origin: "default"}

func enforce(layer policy.Layer, rules ...policy.Rule) policy.Program {
	return policy.Program{Gates: []policy.Gate{{Layer: layer, Rules: rules, Default: byDefault}}}
}

// twoPolicies is a mesh operator's deny and a service owner's deny, allow and
// allow-with-shadow-deny. The shadow comes in two forms: accepted denies what has
// a shadow deny and everything else by default, precise tells the rest apart.
func twoPolicies(layer policy.Layer, precise bool) policy.Program {
	const operator, owner = "kri_mtp_default___by-mesh-operator_", "kri_mtp_default___by-service-owner_"
	frontend, gateway := is("spiffe://trust-domain.mesh/ns/default/sa/frontend"), is("spiffe://trust-domain.mesh/ns/default/sa/api-gateway")
	legacy, everyone := under("spiffe://trust-domain.mesh/ns/legacy"), under("spiffe://trust-domain.mesh/")
	p := enforce(layer,
		deny(operator, policy.Or{frontend}),
		deny(owner, policy.Or{gateway}),
		allow(owner, policy.Or{everyone, legacy}),
	)
	shadow := policy.Gate{Layer: layer, Rules: []policy.Rule{deny(owner, policy.Or{legacy})}, Default: byDefault}
	if precise {
		shadow.Rules = []policy.Rule{
			deny(operator, policy.Or{frontend}),
			deny(owner, policy.Or{gateway}),
			deny(owner, policy.Or{legacy}),
			allow(owner, policy.Or{everyone}),
		}
	}
	p.Shadows = []policy.Gate{shadow}
	return p
}

// severalGates has what a layer can have several of, and a route with other filters.
func severalGates() policy.Program {
	named := func(layer policy.Layer, fallback policy.Effect, rules ...policy.Rule) policy.Gate {
		return policy.Gate{Layer: layer, Form: policy.Named, Default: policy.Verdict{Effect: fallback}, Rules: rules}
	}
	shadow := func(name string, behind int, g policy.Gate) policy.Gate {
		g.Name, g.Behind = name, behind
		return g
	}
	mallory, admin := attribute.URISAN.Exact("spiffe://td.mesh/mallory"), attribute.Path.Segments("/admin")
	audit := named(policy.L7, policy.Log, policy.Rule{Verdict: policy.Verdict{Effect: policy.Log, Origin: "audit"}, When: admin})
	reads := named(policy.L7, policy.Deny, allow("reads", attribute.Method.Exact("GET")))
	return policy.Program{
		Gates: []policy.Gate{
			named(policy.L4, policy.Allow, deny("wall", mallory)),
			enforce(policy.L4, allow("mesh", under("spiffe://td.mesh/"))).Gates[0],
			audit,
			named(policy.L7, policy.Allow, deny("no-admin", admin)),
			reads,
		},
		Shadows: []policy.Gate{
			shadow("dry_run_deny_", 3, named(policy.L7, policy.Allow, deny("dry", attribute.Method.Exact("PUT")))),
			shadow("dry_run_allow_", 3, named(policy.L7, policy.Deny, allow("wet", policy.Always))),
		},
		Routes: []policy.Route{{
			Name: "public", When: attribute.Path.Exact("/public"),
			Gates:   []policy.Gate{reads, audit},
			Shadows: []policy.Gate{shadow("dry_run_allow_", 2, named(policy.L7, policy.Deny))},
		}},
	}
}
