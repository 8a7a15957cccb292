package proof_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/proof"
)

// one is a case with one inbound and the spec of one policy.
func one(t *testing.T, protocol, spec string) cases.Case {
	t.Helper()
	return parse(t, `
case: x
workloads: [{name: backend, labels: {app: a}, inbounds: [{name: in, port: 80, protocol: `+protocol+`}]}]
requests: [{from: anonymous, to: backend/in, want: handshake-failure}]
policies:
  - `+spec+"\n")
}

func TestCompare(t *testing.T) {
	t.Parallel()
	const (
		allowA   = `{type: MeshTrafficPermission, name: p, spec: {default: {allow: [{spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/a}}]}}}`
		allowAll = `{type: MeshTrafficPermission, name: p, spec: {default: {allow: [{spiffeId: {type: Prefix, value: spiffe://trust-domain.mesh/}}]}}}`
		denyA    = `{type: MeshTrafficPermission, name: p, spec: {default: {deny: [{spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/a}}]}}}`
		otherA   = `{type: MeshTrafficPermission, name: q, spec: {default: {allow: [{spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/a}}]}}}`
		shadowA  = `{type: MeshTrafficPermission, name: p, spec: {default: {allowWithShadowDeny: [{spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/a}}]}}}`
		gateway  = `{apiVersion: gateway.networking.k8s.io/v1, kind: AuthorizationPolicy, metadata: {name: p}, spec: {targetRefs: [{kind: Pod, selector: {matchLabels: {app: a}}}], action: ALLOW, enforcementLevel: Network, rules: [{sources: [{type: SPIFFE, spiffe: spiffe://trust-domain.mesh/a}]}]}}`
	)
	for name, tt := range map[string]struct {
		before, after string
		want          map[proof.Kind]int
	}{
		"nothing":                    {allowA, allowA, map[proof.Kind]int{}},
		"wider":                      {allowA, allowAll, map[proof.Kind]int{proof.Widened: 1}},
		"narrower":                   {allowAll, allowA, map[proof.Kind]int{proof.Narrowed: 1}},
		"one in, one out":            {allowA, strings.Replace(allowA, "mesh/a", "mesh/b", 1), map[proof.Kind]int{proof.Widened: 1, proof.Narrowed: 1}},
		"by another policy":          {allowA, otherA, map[proof.Kind]int{proof.OriginChanged: 1}},
		"a deny without consequence": {strings.Replace(denyA, "deny:", "deny: [], allow:", 1), allowA, map[proof.Kind]int{}},
		"a shadow":                   {allowA, shadowA, map[proof.Kind]int{proof.ShadowChanged: 2}},
		// The refusal comes from another layer, and nobody names it.
		"another dialect": {allowA, gateway, map[proof.Kind]int{proof.OriginChanged: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after := one(t, "http", tt.before), one(t, "http", tt.after)
			found, err := proof.Compare(before, after)
			if err != nil {
				t.Fatal(err)
			}
			got := map[proof.Kind]int{}
			for _, change := range found[0].Changes {
				got[change.Kind()]++
				if change.Old.Decision == change.New.Decision || change.Old.Reason == "" || change.Text == "" || change.Request.To != "backend/in" {
					t.Errorf("%+v", change)
				}
			}
			// Classes with no name at all, and neighbours of other schemes, come with AuthorizationPolicy.
			if name == "another dialect" {
				if got[proof.Widened]+got[proof.Narrowed] != 0 || got[proof.OriginChanged] < 2 {
					t.Errorf("%v", got)
				}
				return
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCompareRefuses(t *testing.T) {
	t.Parallel()
	const bad = `{type: MeshTrafficPermission, name: p, spec: {default: {allow: [{}]}}}`
	good := `{type: MeshTrafficPermission, name: p, spec: {default: {deny: []}}}`
	for _, pair := range [][2]string{{good, bad}, {bad, good}} {
		if _, err := proof.Compare(one(t, "tcp", pair[0]), one(t, "tcp", pair[1])); err == nil || !strings.Contains(err.Error(), "default.allow[0]") {
			t.Errorf("error %v", err)
		}
	}
}

// What is shown on an Envoy are the same requests under either set, each with what that
// set wants.
func TestConfirm(t *testing.T) {
	t.Parallel()
	before := one(t, "tcp", `{type: MeshTrafficPermission, name: p, spec: {default: {allow: [{spiffeId: {type: Exact, value: spiffe://other.mesh/a}}]}}}`)
	after := one(t, "tcp", `{type: MeshTrafficPermission, name: p, spec: {default: {allow: [{spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/b}}]}}}`)
	found, err := proof.Compare(before, after)
	if err != nil {
		t.Fatal(err)
	}
	old, recent := proof.Confirm(before, after, found)
	if len(old.Requests) != 2 || len(recent.Requests) != 2 {
		t.Fatalf("%d and %d requests", len(old.Requests), len(recent.Requests))
	}
	for i := range old.Requests {
		was, is := old.Requests[i], recent.Requests[i]
		if was.From.Name != is.From.Name || was.Want == is.Want {
			t.Errorf("%s: %s; %s: %s", was.From.Name, was.Want, is.From.Name, is.Want)
		}
	}
	if diff := cmp.Diff(len(old.TrustDomains), 2); diff != "" || len(recent.TrustDomains) != 2 {
		t.Errorf("trusted are %v and %v", old.TrustDomains, recent.TrustDomains)
	}
}
