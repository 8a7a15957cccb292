package kinds_test

import (
	"fmt"
	"testing"

	"github.com/meshproof/meshproof/internal/kinds"
	"github.com/meshproof/meshproof/policy/manifest"
)

// A document of another kind is left out. A document that may be a misspelt policy is refused.
func TestSplit(t *testing.T) {
	t.Parallel()
	const own, other = "own", "other"
	const known = "the known kinds are type MeshTrafficPermission, kind MeshTrafficPermission of kuma.io/v1alpha1, " +
		"kind XAuthorizationPolicy of gateway.networking.x-k8s.io, kind AuthorizationPolicy of gateway.networking.k8s.io, kind AuthorizationPolicy of security.istio.io, kind RequestAuthentication of security.istio.io, kind PeerAuthentication of security.istio.io, kind CiliumNetworkPolicy of cilium.io, kind CiliumClusterwideNetworkPolicy of cilium.io, " +
		"kind Server of policy.linkerd.io, kind ServerAuthorization of policy.linkerd.io, kind AuthorizationPolicy of policy.linkerd.io, kind MeshTLSAuthentication of policy.linkerd.io, kind NetworkAuthentication of policy.linkerd.io"
	const written = "the known ones of this name are type MeshTrafficPermission, kind MeshTrafficPermission of kuma.io/v1alpha1"
	const noName = "p.yaml:1: the document has requests and no name: write the name of the case under case; a policy has no requests"
	for yaml, want := range map[string]string{
		"{type: MeshTrafficPermission}":                                                  own,
		"{apiVersion: kuma.io/v1alpha1, kind: MeshTrafficPermission}":                    own,
		"{apiVersion: kuma.io/v2, kind: MeshTrafficPermission}":                          own,
		"{apiVersion: gateway.networking.x-k8s.io/v1alpha1, kind: XAuthorizationPolicy}": own,
		"{type: Dataplane}": own,
		"{apiVersion: kuma.io/v1alpha1, kind: Dataplane}":                           own,
		"{type: MeshTrafficPermision}":                                              `p.yaml:1: type: kind "MeshTrafficPermision" is unknown: did you mean MeshTrafficPermission?`,
		"{type: TrafficPermission}":                                                 `p.yaml:1: kind "TrafficPermission" is not read: meshproof knows its successor, MeshTrafficPermission: take it out of the files`,
		"{apiVersion: kuma.io/v1alpha1, kind: TrafficPermission}":                   `p.yaml:1: kind "TrafficPermission" is not read: meshproof knows its successor, MeshTrafficPermission: take it out of the files`,
		"{apiVersion: kuma.io/v1alpha1, kind: MeshTraficPermissions}":               `p.yaml:1: kind: kind "MeshTraficPermissions" of apiVersion "kuma.io/v1alpha1" is unknown: did you mean MeshTrafficPermission?`,
		"{apiVersion: kuma.oi/v1alpha1, kind: MeshTrafficPermission}":               `p.yaml:1: kind: kind "MeshTrafficPermission" of apiVersion "kuma.oi/v1alpha1" is unknown: ` + written,
		"{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy}":             own,
		"{apiVersion: security.istio.io/v1, kind: PeerAuthentication}":              own,
		"{apiVersion: security.istio.io/v1, kind: RequestAuthentication}":           own,
		"{apiVersion: auth.consul.hashicorp.com/v2beta1, kind: TrafficPermissions}": other,
		"{apiVersion: gateway.networking.k8s.io/v1, kind: AuthorisationPolicy}":     `p.yaml:1: kind: kind "AuthorisationPolicy" of apiVersion "gateway.networking.k8s.io/v1" is unknown: did you mean AuthorizationPolicy?`,
		"{apiVersion: v1, kind: MeshTrafficPermission}":                             `p.yaml:1: kind: kind "MeshTrafficPermission" of apiVersion "v1" is unknown: ` + written,
		"{tpye: MeshTrafficPermission}":                                             "p.yaml:1: the policy has neither type nor apiVersion and kind: " + known,
		"{kind: Deployment}":                                                        `p.yaml:1: kind: kind "Deployment" of apiVersion "" is unknown: ` + known,
		"{replicas: 2, authorizationPolicy: {enabled: true}}":                       other,
		"[{op: remove, path: /spec/rules/0}]":                                       other,
		"{replicas: 2, Kind: AuthorizationPolicy}":                                  "p.yaml:1: the policy has neither type nor apiVersion and kind: " + known,
		"{replicas: 2, specs: {}}":                                                  "p.yaml:1: the policy has neither type nor apiVersion and kind: " + known,
		"[{op: remove}, {metadata: {}, spec: {}}]":                                  "p.yaml:1: the policy has neither type nor apiVersion and kind: " + known,
		"{Case: a, workloads: [], requests: []}":                                    noName,
		"{caes: a, workloads: [], requests: []}":                                    noName,
		"{kind: Deployment, replicas: 2}":                                           other,
		"{kind: Deployment, replicas: 2, spec: {}}":                                 `p.yaml:1: kind: kind "Deployment" of apiVersion "" is unknown: ` + known,
		"{kind: AuthorizationPolicies, rules: []}":                                  `p.yaml:1: kind: kind "AuthorizationPolicies" of apiVersion "" is unknown: did you mean AuthorizationPolicy?`,
		"{apiVersion: apps/v1}":                                                     "p.yaml:1: the policy has neither type nor apiVersion and kind: " + known,
		"{apiVersion: 1, datasources: []}":                                          other,
		"{apiVersion: v2, name: web, version: 1.0.0}":                               other,
		"{apiVersion: score.dev/v1, metadata: {}, containers: {}}":                  other,
		"{apiVersion: score.dev/v1, metadata: {}, spec: {}}":                        "p.yaml:1: the policy has neither type nor apiVersion and kind: " + known,
		"{apiVersion: security.istio.io/v1, metadata: {name: a}}":                   "p.yaml:1: the policy has neither type nor apiVersion and kind: " + known,
		"{apiVersion: securty.istio.io/v1, metadata: {name: a}}":                    "p.yaml:1: the policy has neither type nor apiVersion and kind: " + known,
		"{spec: {dependsOn: []}}":                                                   other,
		"{apiVersion: v1, spec: {containers: [], hostPID: true}}":                   other,
		"{metadata: {name: a}, spec: {enforcementLevel: NetworkL4}}":                "p.yaml:1: the policy has neither type nor apiVersion and kind: " + known,
		"{metadata: {name: a}, spec: {log: {value: a}}}":                            "p.yaml:1: the policy has neither type nor apiVersion and kind: " + known,
		"{metadata: {name: a}, spec: {extension: {}, tls: {}}}":                     "p.yaml:1: the policy has neither type nor apiVersion and kind: " + known,
		"{metadata: {name: a}, spec: {template: {spec: {}}}}":                       other,
		"{metadata: {name: a}, spec: {}}":                                           "p.yaml:1: the policy has neither type nor apiVersion and kind: " + known,
		"{spec: {template: {}, selector: {}}}":                                      "p.yaml:1: the policy has neither type nor apiVersion and kind: " + known,
		"{spec: {endpointSelectr: {}}}":                                             "p.yaml:1: the policy has neither type nor apiVersion and kind: " + known,
		"{apiVersion: cilium.io/v2, spec: {template: {}}}":                          "p.yaml:1: the policy has neither type nor apiVersion and kind: " + known,
		"{items: [], spec: {template: {}}}":                                         "p.yaml:1: the policy has neither type nor apiVersion and kind: " + known,
		"{spec: [template]}":                                                        "p.yaml:1: the policy has neither type nor apiVersion and kind: " + known,
		"[a]":                                                                       other,
		"A=b\nC=d":                                                                  other,
		"[kind:AuthorizationPolicy]":                                                "p.yaml:1: the policy has neither type nor apiVersion and kind: " + known,
		"apiVersion:security.istio.io/v1 kind:AuthorizationPolicy":                  "p.yaml:1: the policy has neither type nor apiVersion and kind: " + known,
		"{apiVersion: apps/v1, kind: Deployment}":                                   other,
		"{apiVersion: v1, kind: Service}":                                           other,
		"{apiVersion: v1, kind: ServiceAccount}":                                    other,
		"{apiVersion: kustomize.config.k8s.io/v1beta1, kind: Kustomization}":        other,
		"{apiVersion: v1, kind: Secret, type: Opaque}":                              other,
		"{apiVersion: v1, kind: Secret, type: Dataplan}":                            other,
		"{apiVersion: v1, kind: Secret, type: MeshTrafficPermission}":               `p.yaml:1: type: "MeshTrafficPermission" is a kind that meshproof reads, and apiVersion and kind say v1 Secret: give the document one kind`,
		"{apiVersion: v1, kind: Secret, type: Dataplane}":                           `p.yaml:1: type: "Dataplane" is a kind that meshproof reads, and apiVersion and kind say v1 Secret: give the document one kind`,
		"{type: Mesh}":                                     other,
		"{type: MeshTimeout}":                              other,
		"{type: DataplaneInsight}":                         other,
		"{apiVersion: kuma.io/v1alpha1, kind: MeshTrace}":  other,
		"{type: Dataplan}":                                 `p.yaml:1: kind "Dataplan" is unknown: did you mean Dataplane?`,
		"{apiVersion: kuma.io/v1alpha1, kind: dataplanes}": `p.yaml:1: kind "dataplanes" is unknown: did you mean Dataplane?`,
	} {
		docs, err := manifest.Parse("p.yaml", []byte(yaml))
		if err != nil {
			t.Fatal(err)
		}
		mine, others, err := kinds.Split("p.yaml", docs)
		got := fmt.Sprint(err)
		switch {
		case err != nil:
		case len(mine) == 1 && len(others) == 0:
			got = own
		case len(mine) == 0 && len(others) == 1:
			got = other
		}
		if got != want {
			t.Errorf("%s: %s, want %s", yaml, got, want)
		}
	}
}

// A file of other tools may have what kubectl reads otherwise, and what no reader of policies takes.
func TestHasNoObject(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string]bool{
		"on: [push]\njobs: {}\n":                         true,
		"entries:\n- attrs: {flow: !Find [a, [b, c]]}\n": true,
		"- {hosts: all}\n- {hosts: db}\n":                true,
		`{"a": 1e999}`:                                   true,
		"on: a\n---\nkind: AuthorizationPolicy\n":        false,
		"on: a\nSpec: {}\n":                              false,
		"- {on: a}\n- {knid: {}}\n":                      false,
		"- {on: a}\n- Kind: a\n":                         false,
		"{\n// settings of an editor\n\"a\": 1}\n":       true,
		"{\n// tasks of an editor\n\"a\": [{\"type\": \"shell\", \"group\": {\"kind\": \"build\"}},]}\n": true,
		"{\n// a policy\n\"a\": [{\"type\": \"MeshTrafficPermision\"},]}\n":                              false,
		"a:\n  b: {{ .A }}\n  kind: ConfigMap\n":                                                         true,
		"a:\n  b: {{ .A }}\n  kind: AuthorizationPolicy\n":                                               false,
		"a:\n  b: {{ .A }}\n  kind: {{ .B }}\n":                                                          false,
		"a:\n  b: {{ .A }}\n  kind:\n    a: b\n":                                                         false,
		"- find: {paths: /a}\n  bind: a\n":                                                               true,
		"spec:\n\ta: {{ .Values.a }}\n":                                                                  false,
		"{{- if .Values.a }}\nkind : b\n":                                                                false,
		"case: a\nrequests: []\nrequests: []\n":                                                          false,
		"on: a\n---\ncase: b\nworkloads: [\n":                                                            false,
		"!Find {requests: {cpu: 1}}: [\n":                                                                true,
		"{{ include \"lib.policy\" . }}\n":                                                               false,
		"{{- range .Values.a }}\n---\n{{ tpl . $ }}\n{{- end }}\n":                                       false,
		"a: {{ .Values.a }}\n{{- if .Values.b }}\nb: {{ .Values.b }}\n{{- end }}\n":                      true,
	} {
		if got := kinds.HasNoObject([]byte(yaml)); got != want {
			t.Errorf("%q: %t", yaml, got)
		}
	}
}

// Neither kubectl nor kumactl applies a document without a kind. So it is left out where its
// file is known to be of another tool; elsewhere the kind may be misspelt.
func TestSplitWithoutKind(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a/kustomization.yaml": "1 without a kind",
		"kustomization.yml":    "1 without a kind",
		"a/package.json":       "1 without a kind",
		"a/values.yaml":        "",
	} {
		docs, err := manifest.Parse(name, []byte("{tpye: MeshTrafficPermission}"))
		if err != nil {
			t.Fatal(err)
		}
		_, others, err := kinds.Split(name, docs)
		if (err == nil) != (want != "") || others.String() != want {
			t.Errorf("%s: %q, %v, want %q", name, others, err, want)
		}
		if want != "" && others.Refusals().Error() != name+":1: a document without a kind is neither a policy nor a Dataplane" {
			t.Errorf("%s: %v", name, others.Refusals())
		}
		docs, err = manifest.Parse(name, []byte("{kind: MeshTrafficPermission}"))
		if err != nil {
			t.Fatal(err)
		}
		if _, others, err := kinds.Split(name, docs); err == nil {
			t.Errorf("%s: a kind alone is left out: %v", name, others)
		}
	}
}

func TestCountOfOtherKinds(t *testing.T) {
	t.Parallel()
	docs, err := manifest.Parse("p.yaml", []byte("{apiVersion: v1, kind: Service}\n---\n{apiVersion: apps/v1, kind: Deployment}\n---\n{type: Mesh}\n---\n{apiVersion: apps/v1, kind: Deployment}\n---\n{apiVersion: v1, kind: Secret, type: Opaque}\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, others, err := kinds.Split("p.yaml", docs)
	if err != nil || others.String() != "2 Deployment, 1 Mesh, 1 Secret, 1 Service" {
		t.Errorf("%q, %v", others, err)
	}
	const want = "p.yaml:1: a document of kind Service is neither a policy nor a Dataplane"
	if got := others[:1].Refusals(); got == nil || got.Error() != want {
		t.Errorf("%v, want %s", got, want)
	}
	if err := (kinds.Others)(nil).Refusals(); err != nil {
		t.Error(err)
	}
}
