package dialect_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	const known = "the known kinds are type MeshTrafficPermission, kind MeshTrafficPermission of kuma.io/v1alpha1, " +
		"kind XAuthorizationPolicy of gateway.networking.x-k8s.io, kind AuthorizationPolicy of gateway.networking.k8s.io, kind AuthorizationPolicy of security.istio.io, kind RequestAuthentication of security.istio.io, kind PeerAuthentication of security.istio.io, kind CiliumNetworkPolicy of cilium.io, kind CiliumClusterwideNetworkPolicy of cilium.io, " +
		"kind Server of policy.linkerd.io, kind ServerAuthorization of policy.linkerd.io, kind AuthorizationPolicy of policy.linkerd.io, kind MeshTLSAuthentication of policy.linkerd.io, kind NetworkAuthentication of policy.linkerd.io"
	const written = "the known ones of this name are type MeshTrafficPermission, kind MeshTrafficPermission of kuma.io/v1alpha1"
	for name, tt := range map[string]struct{ yaml, want string }{
		"an unknown type": {"name: p\ntype: MeshTimeout\n", `p.yaml:2: type: kind "MeshTimeout" is unknown: ` + known},
		"an unknown kind": {"apiVersion: v1\nkind: ConfigMap\n", `p.yaml:2: kind: kind "ConfigMap" of apiVersion "v1" is unknown: ` + known},
		"a known kind of a foreign group": {"apiVersion: example.org/v1\nkind: MeshTrafficPermission\n",
			`p.yaml:2: kind: kind "MeshTrafficPermission" of apiVersion "example.org/v1" is unknown: ` + written},
		"a known kind without a group": {"kind: MeshTrafficPermission\n", `p.yaml:1: kind: kind "MeshTrafficPermission" of apiVersion "" is unknown: ` + written},
		"a misspelt type":              {"type: MeshTrafficPermision\n", `p.yaml:1: type: kind "MeshTrafficPermision" is unknown: did you mean MeshTrafficPermission?`},
		"a misspelt kind": {"apiVersion: kuma.io/v1alpha1\nkind: meshtrafficpermissions\n",
			`p.yaml:2: kind: kind "meshtrafficpermissions" of apiVersion "kuma.io/v1alpha1" is unknown: did you mean MeshTrafficPermission?`},
		"a type beside a kind":   {"type: MeshTimeout\nkind: ConfigMap\n", `p.yaml:1: type: kind "MeshTimeout" is unknown: ` + known},
		"no head":                {"name: p\n", "p.yaml:1: the policy has neither type nor apiVersion and kind: " + known},
		"a group alone":          {"apiVersion: kuma.io/v1alpha1\n", "p.yaml:1: the policy has neither type nor apiVersion and kind: " + known},
		"a head that is no text": {"type: [MeshTrafficPermission]\n", "p.yaml:1: the policy has neither type nor apiVersion and kind: " + known},
		"a list":                 {"- type: MeshTrafficPermission\n", "p.yaml:1: the policy has neither type nor apiVersion and kind: " + known},
		"a scalar":               {"MeshTrafficPermission\n", "p.yaml:1: the policy has neither type nor apiVersion and kind: " + known},
		"an unknown version":     {"apiVersion: kuma.io/v2\nkind: MeshTrafficPermission\n", `p.yaml:1: apiVersion: version "kuma.io/v2" is not supported: use kuma.io/v1alpha1`},
		"what the dialect refuses": {"type: MeshTrafficPermission\nname: p\nspec:\n  default:\n    allow: [{}]\n",
			"p.yaml:5: spec.default.allow[0]: an empty matcher is not allowed: set spiffeId, sni, path or method"},
		"a policy twice": {fixture + "---\n" + fixture[:len("type: MeshTrafficPermission\nmesh: default\nname: operator\n")],
			"p.yaml:38: name: kri_mtp_default___operator_ is defined twice, first at p.yaml:1: delete one of the two, or write out what is applied, such as by kustomize build"},
		// Documents without a dialect come first: the user may have left them in by mistake.
		"sound, malformed and unknown ones": {"{type: MeshTrafficPermission, name: sound}\n---\n{type: MeshTrafficPermission}\n---\n{type: MeshTimeout}\n---\n{type: MeshTrafficPermission, name: p, sepc: {}}\n---\n{}\n",
			`p.yaml:5: type: kind "MeshTimeout" is unknown: ` + known + "\n" +
				"p.yaml:9: the policy has neither type nor apiVersion and kind: " + known + "\n" +
				"p.yaml:3: name: a name is required\n" +
				"p.yaml:7: sepc: unknown field: did you mean spec?"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, err := dialect.Parse(documents(t, tt.yaml), language.Options{})
			if err == nil {
				t.Fatal("not refused")
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !errors.As(err, new(*manifest.Error)) {
				t.Errorf("error has no place: %v", err)
			}
			if set != nil {
				t.Errorf("policies beside an error: %v", set)
			}
		})
	}
}

// TestParseTakesBothForms parses a mixed file without its unknown kinds.
func TestParseTakesBothForms(t *testing.T) {
	t.Parallel()
	docs := documents(t, "{type: MeshTimeout, name: x}\n---\n"+fixture+"---\n{apiVersion: v1, kind: Service}\n")
	if _, err := dialect.Parse(docs, language.Options{}); err == nil {
		t.Error("documents without a dialect were passed over")
	}
	set, err := dialect.Parse(docs[1:4], language.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := set.Program(inbounds()[0]).Program; !got.Equal(parse(t, fixture, language.Options{}).Program(inbounds()[0]).Program) {
		t.Errorf("another program than the fixture alone has:\n%s", got)
	}
}

// FuzzAgreement has any text as policies, and any request. If the policies are accepted, their
// program is valid and both opinions agree.
func FuzzAgreement(f *testing.F) {
	for _, yaml := range []string{
		"", fixture, ofGateway, "type: MeshTrafficPermission\nname: p\n", "type: MeshTimeout\n", "- a\n",
		"{type: MeshTrafficPermission, name: p, spec: {rules: [{default: {deny: [{method: GET}, {path: {type: Prefix, value: /}}], allowWithShadowDeny: []}}]}}",
		"{type: MeshTrafficPermission, name: p, spec: {targetRef: {kind: Dataplane, sectionName: api}, default: {allow: [{spiffeID: {type: Exact, value: spiffe://td}}]}}}",
	} {
		f.Add([]byte(yaml), "spiffe://td/web", "GET", "/health?x", true)
	}
	f.Fuzz(func(t *testing.T, yaml []byte, uri, method, path string, precise bool) {
		docs, err := manifest.Parse("f.yaml", yaml)
		if err != nil {
			return
		}
		form := "shadowForm: accepted"
		if precise {
			form = "shadowForm: precise"
		}
		set, err := dialect.Parse(docs, options(t, form))
		if err != nil {
			return
		}
		set.Lint(inbounds())
		for _, in := range inbounds() {
			program := set.Program(in).Program
			if err := program.Check(); err != nil {
				t.Fatal(err)
			}
			r := policy.Request{URIs: []string{uri}}
			if in.Protocol.Layer() == policy.L7 {
				r.Method, r.Path = method, path
			}
			if want, got := policy.Decide(program, r), set.Evaluate(in)(r); want != got {
				t.Fatalf("%s: %+v: Decide says %+v, Evaluate %+v:\n%s", in, r, want, got, program)
			}
		}
	})
}
