package inspection_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/inspection"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/terminal"
)

// istio has one policy of each kind and action, and one that misses by each of its criteria.
const istio = `
case: all kinds
options: {istio: {extensionProviders: [{name: opa, envoyExtAuthzGrpc: {service: opa.opa.svc, port: 9191}}]}}
workloads:
  - {name: api, namespace: shop, labels: {app: api}, inbounds: [{port: 8080, protocol: http, mtls: permissive}, {port: 5432, protocol: tcp, mtls: permissive}]}
policies:
  - {apiVersion: security.istio.io/v1, kind: PeerAuthentication, metadata: {name: open, namespace: shop}, spec: {mtls: {mode: PERMISSIVE}}}
  - {apiVersion: security.istio.io/v1, kind: PeerAuthentication, metadata: {name: other, namespace: shop}, spec: {selector: {matchLabels: {app: web}}, mtls: {mode: STRICT}}}
  - {apiVersion: security.istio.io/v1, kind: RequestAuthentication, metadata: {name: tokens, namespace: shop}, spec: {jwtRules: [{issuer: "https://a.example"}]}}
  - {apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: ask, namespace: shop}, spec: {action: CUSTOM, provider: {name: opa}, rules: [{to: [{operation: {paths: [/pay]}}]}]}}
  - {apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: log, namespace: shop}, spec: {action: AUDIT, rules: [{to: [{operation: {methods: [PUT]}}]}]}}
  - {apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: wall, namespace: istio-system}, spec: {action: DENY, rules: [{from: [{source: {namespaces: [evil]}}]}]}}
  - {apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: try, namespace: shop, annotations: {istio.io/dry-run: "true"}}, spec: {action: DENY, rules: [{to: [{operation: {ports: ["8080"]}}]}]}}
  - {apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: nothing, namespace: shop}, spec: {}}
  - {apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: elsewhere, namespace: other}, spec: {}}
  - {apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: web, namespace: shop}, spec: {selector: {matchLabels: {app: web}}}}
requests: [{from: plaintext, to: api/8080, want: 403}]
`

// TestOrder holds the order of what applies, and the reason of each policy that does not.
func TestOrder(t *testing.T) {
	t.Parallel()
	got := inspect(t, istio)
	if len(got) != 2 {
		t.Fatalf("%d inbounds", len(got))
	}
	var text bytes.Buffer
	got.WriteText(&text, terminal.Paint(false))
	want := `all kinds: api/8080 (http)
  mTLS: permissive, by shop/open (a.yaml:6: policies[0])
  applies: shop/ask (a.yaml:9: policies[3])
  applies: shop/log (a.yaml:10: policies[4])
  applies: istio-system/wall (a.yaml:11: policies[5])
  applies: shop/try (a.yaml:12: policies[6])
  applies: shop/nothing (a.yaml:13: policies[7])
  applies: shop/tokens (a.yaml:8: policies[2])
  applies: shop/open (a.yaml:6: policies[0])
  1. asks the authorizer opa (L7)
       istio-ext-authz-opa-ns[shop]-policy[ask]-rule[0] when path = "/pay"
       any other: goes on
  2. verifies tokens (L7)
       https://a.example when a token of the issuer is sent
  3. logs (L7)
       ns[shop]-policy[log]-rule[0] when method = "PUT"
       any other: goes on
  4. denies (L7)
       ns[istio-system]-policy[wall]-rule[0] when a URI SAN matches the regex ".*/ns/evil/.*"
       any other: allow
  5. allows (L7)
       any other: deny
  6. dry run: denies (L7)
       ns[shop]-policy[try]-rule[0] when destination port = "8080"
       any other: allow
  does not apply: other/elsewhere: it is of namespace "other", the workload of namespace "shop"
  does not apply: shop/web: the policy asks for the label "app" with value "web", the workload has "api"
  does not apply: shop/other: the policy asks for the label "app" with value "web", the workload has "api"
`
	first, _, _ := strings.Cut(text.String(), "\n\n")
	if diff := cmp.Diff(want, first+"\n"); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if steps := got[1].Steps; len(steps) != 5 || steps[0].Rules[0].Effect != "ask" || steps[0].Layer != "L4" {
		t.Errorf("on tcp %+v", steps)
	}
	var read []map[string]any
	if raw, err := json.Marshal(got); err != nil || json.Unmarshal(raw, &read) != nil || len(read[0]["steps"].([]any)) != 6 || len(read[0]["applies"].([]any)) != 7 || len(read[0]["ignored"].([]any)) != 3 {
		t.Errorf("as JSON %v: %v", read, err)
	}
}

// TestOrdered holds rules of both effects in one gate, and an inbound that no policy selects.
func TestOrdered(t *testing.T) {
	t.Parallel()
	got := inspect(t, `
case: kuma
workloads: [{name: backend, inbounds: [{port: 8080, protocol: http}]}]
policies:
  - {type: MeshTrafficPermission, mesh: default, name: p, spec: {rules: [{default: {deny: [{spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/a}}], allow: [{spiffeId: {type: Prefix, value: spiffe://trust-domain.mesh}}]}}]}}
requests: [{from: spiffe://trust-domain.mesh/a, to: backend/8080, want: deny}]
`)
	if steps := got[0].Steps; len(steps) != 1 || steps[0].Does != "decides by the first rule" || steps[0].Rules[0].Effect != "deny" || steps[0].Rules[1].Effect != "allow" || steps[0].Otherwise != "deny" {
		t.Errorf("%+v", steps)
	}
	got = inspect(t, `
case: none
workloads: [{name: backend, namespace: shop, inbounds: [{port: 8080, protocol: http}]}]
policies:
  - {apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: elsewhere, namespace: other}, spec: {}}
requests: [{from: spiffe://trust-domain.mesh/a, to: backend/8080, want: allow}]
`)
	var text bytes.Buffer
	got.WriteText(&text, terminal.Paint(false))
	if !strings.Contains(text.String(), "no rule judges requests: every caller passes once its connection is taken") || len(got[0].Ignored) != 1 {
		t.Error(text.String())
	}
}

// inspect inspects the inbounds of a case.
func inspect(t *testing.T, text string) inspection.Inspections {
	t.Helper()
	file := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(file, []byte(text[1:]), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := lab.Open(lab.Choice{}, file)
	if err != nil {
		t.Fatal(err)
	}
	subjects, err := files.Subjects("", lab.Surroundings{})
	if err != nil {
		t.Fatal(err)
	}
	out := inspection.Inspect(subjects)
	for i := range out {
		out[i].MTLSBy = strings.Replace(out[i].MTLSBy, filepath.Dir(file)+"/", "", 1)
		for j, line := range out[i].Applies {
			out[i].Applies[j] = strings.Replace(line, filepath.Dir(file)+"/", "", 1)
		}
	}
	return out
}

// A policy that an older one displaces does not apply: it stands under one heading alone.
func TestYoungerPolicyDoesNotApply(t *testing.T) {
	t.Parallel()
	got := inspect(t, `
case: two of one namespace
workloads: [{name: api, namespace: shop, inbounds: [{port: 8080, protocol: http, mtls: strict}]}]
policies:
  - {apiVersion: security.istio.io/v1, kind: PeerAuthentication, metadata: {name: older, namespace: shop, creationTimestamp: "2024-01-01T00:00:00Z"}, spec: {mtls: {mode: STRICT}}}
  - {apiVersion: security.istio.io/v1, kind: PeerAuthentication, metadata: {name: younger, namespace: shop, creationTimestamp: "2025-01-01T00:00:00Z"}, spec: {mtls: {mode: PERMISSIVE}}}
requests: [{from: plaintext, to: api/8080, want: handshake-failure}]
`)
	if len(got) != 1 || !cmp.Equal(got[0].Applies, []string{"shop/older (a.yaml:4: policies[0])"}) || !cmp.Equal(got[0].Ignored, []string{"shop/younger: shop/older is older and about the same"}) {
		t.Errorf("applies %q, ignored %q", got[0].Applies, got[0].Ignored)
	}
}

// TestUnstatedMode holds that a mode which nobody states is named as such where the mesh has another default, and
// that files of policies have the default of their mesh.
func TestUnstatedMode(t *testing.T) {
	t.Parallel()
	const policies = "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: a}, spec: {endpointSelector: {}, ingress: [{}]}}"
	for text, want := range map[string]string{
		"case: modes\nworkloads: [{name: backend, inbounds: [{port: 8080}]}]\npolicies: [" + policies + "]\nrequests: [{from: anonymous, to: backend/8080, want: handshake-failure}]\n":               "mTLS: strict, as the case states none: the mesh itself takes plaintext by default\n",
		"case: modes\nworkloads: [{name: backend, inbounds: [{port: 8080, mtls: strict}]}]\npolicies: [" + policies + "]\nrequests: [{from: plaintext, to: backend/8080, want: handshake-failure}]\n": "mTLS: strict\n",
		policies + "\n---\n{type: Dataplane, mesh: default, name: backend, networking: {address: 10.0.0.1, inbound: [{port: 8080}]}}\n":                                                               "mTLS: permissive\n",
	} {
		var got bytes.Buffer
		inspect(t, "\n"+text).WriteText(&got, terminal.Paint(false))
		if !strings.Contains(got.String(), want) {
			t.Errorf("want %q:\n%s", want, got.String())
		}
	}
}
