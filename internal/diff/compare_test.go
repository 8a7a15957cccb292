package diff_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/diff"
)

// one is a case with one inbound and the spec of one policy.
func one(t *testing.T, protocol, spec string) cases.Case {
	t.Helper()
	return casetest.Parse(t, `
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
		old, recent string
		want        map[diff.Kind]int
	}{
		"nothing":                    {allowA, allowA, map[diff.Kind]int{}},
		"wider":                      {allowA, allowAll, map[diff.Kind]int{diff.Widened: 1}},
		"narrower":                   {allowAll, allowA, map[diff.Kind]int{diff.Narrowed: 1}},
		"one in, one out":            {allowA, strings.Replace(allowA, "mesh/a", "mesh/b", 1), map[diff.Kind]int{diff.Widened: 1, diff.Narrowed: 1}},
		"by another policy":          {allowA, otherA, map[diff.Kind]int{diff.OriginChanged: 1}},
		"a deny without consequence": {strings.Replace(denyA, "deny:", "deny: [], allow:", 1), allowA, map[diff.Kind]int{}},
		"a shadow":                   {allowA, shadowA, map[diff.Kind]int{diff.ShadowChanged: 2}},
		// The refusal comes from another layer, and has no name.
		"another dialect": {allowA, gateway, map[diff.Kind]int{diff.OriginChanged: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after := one(t, "http", tt.old), one(t, "http", tt.recent)
			found, err := diff.Compare(before, after)
			if err != nil {
				t.Fatal(err)
			}
			got := map[diff.Kind]int{}
			for _, change := range found[0].Changes {
				got[change.Kind()]++
				if change.Old.Decision == change.New.Decision || change.Old.Reason == "" || change.Text == "" || change.Request.To != "backend/in" {
					t.Errorf("%+v", change)
				}
			}
			// AuthorizationPolicy brings classes without a name, and neighbours with other schemes.
			if name == "another dialect" {
				if got[diff.Widened]+got[diff.Narrowed] != 0 || got[diff.OriginChanged] < 2 {
					t.Errorf("%v", got)
				}
				return
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestCompareRefuses(t *testing.T) {
	t.Parallel()
	const bad = `{type: MeshTrafficPermission, name: p, spec: {default: {allow: [{}]}}}`
	good := `{type: MeshTrafficPermission, name: p, spec: {default: {deny: []}}}`
	for _, pair := range [][2]string{{good, bad}, {bad, good}} {
		if _, err := diff.Compare(one(t, "tcp", pair[0]), one(t, "tcp", pair[1])); err == nil || !strings.Contains(err.Error(), "default.allow[0]") {
			t.Errorf("error %v", err)
		}
	}
}

// The same requests are sent to Envoy with both sets of policies, each with the decision of
// its set.
func TestConfirm(t *testing.T) {
	t.Parallel()
	before := one(t, "tcp", `{type: MeshTrafficPermission, name: p, spec: {default: {allow: [{spiffeId: {type: Exact, value: spiffe://other.mesh/a}}]}}}`)
	after := one(t, "tcp", `{type: MeshTrafficPermission, name: p, spec: {default: {allow: [{spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/b}}]}}}`)
	found, err := diff.Compare(before, after)
	if err != nil {
		t.Fatal(err)
	}
	old, recent := diff.Shown(before, after, found)
	if len(old.Requests) != 2 || len(recent.Requests) != 2 {
		t.Fatalf("%d and %d requests", len(old.Requests), len(recent.Requests))
	}
	for i := range old.Requests {
		was, is := old.Requests[i], recent.Requests[i]
		if was.From.Name != is.From.Name || was.Want == is.Want {
			t.Errorf("%s: %s; %s: %s", was.From.Name, was.Want, is.From.Name, is.Want)
		}
	}
	if d := cmp.Diff(len(old.TrustDomains), 2); d != "" || len(recent.TrustDomains) != 2 {
		t.Errorf("trusted are %v and %v", old.TrustDomains, recent.TrustDomains)
	}
}

// The mTLS mode and the dialect decide for every caller without TLS.
func TestComparePlaintext(t *testing.T) {
	t.Parallel()
	const (
		kuma    = `{type: MeshTrafficPermission, name: p, spec: {default: {allow: [{spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/a}}]}}}`
		other   = `{type: MeshTrafficPermission, name: p, spec: {default: {allow: [{spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/b}}]}}}`
		gateway = `{apiVersion: gateway.networking.k8s.io/v1, kind: AuthorizationPolicy, metadata: {name: p}, spec: {targetRefs: [{kind: Pod, selector: {matchLabels: {app: a}}}], action: ALLOW, enforcementLevel: Network, rules: [{sources: [{type: SPIFFE, spiffe: spiffe://trust-domain.mesh/a}]}]}}`
		open    = `{apiVersion: gateway.networking.k8s.io/v1, kind: AuthorizationPolicy, metadata: {name: p}, spec: {targetRefs: [{kind: Pod, selector: {matchLabels: {app: a}}}], action: ALLOW, enforcementLevel: Network, rules: [{}]}}`
		strict  = "tcp"
		lenient = "tcp, mtls: permissive"
	)
	type wants struct{ old, recent string }
	for name, tt := range map[string]struct {
		oldInbound, old, newInbound, recent string
		want                                []wants
	}{
		"no gate judges any more":      {lenient, gateway, lenient, kuma, []wants{{"deny", "allow"}}},
		"a gate judges now":            {lenient, kuma, lenient, gateway, []wants{{"allow", "deny"}}},
		"no gate judges before or now": {lenient, kuma, lenient, other, nil},
		"both judge":                   {lenient, gateway, lenient, open, []wants{{"deny", "allow"}}},
		"let in, unjudged":             {strict, kuma, lenient, kuma, []wants{{"handshake-failure", "allow"}}},
		"let in, and denied":           {strict, gateway, lenient, gateway, nil},
		"kept out":                     {lenient, kuma, strict, kuma, []wants{{"allow", "handshake-failure"}}},
		"strict":                       {strict, gateway, strict, kuma, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after := one(t, tt.oldInbound, tt.old), one(t, tt.newInbound, tt.recent)
			found, err := diff.Compare(before, after)
			if err != nil {
				t.Fatal(err)
			}
			old, recent := diff.Shown(before, after, found)
			if old.Inbounds[0].MTLS != before.Inbounds[0].MTLS || recent.Inbounds[0].MTLS != after.Inbounds[0].MTLS {
				t.Errorf("the inbounds are shown as %+v and %+v", old.Inbounds, recent.Inbounds)
			}
			var got []wants
			for i, q := range old.Requests {
				if q.From.Plaintext != recent.Requests[i].From.Plaintext {
					t.Errorf("%+v, then %+v", q, recent.Requests[i])
				}
				if q.From.Plaintext {
					got = append(got, wants{q.Want.String(), recent.Requests[i].Want.String()})
				}
			}
			if d := cmp.Diff(tt.want, got, cmp.AllowUnexported(wants{})); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			for _, change := range found[0].Changes {
				if wide := change.Kind() == diff.Widened; change.Text == "callers in plaintext" && wide != (change.Request.Want == cases.Allow) {
					t.Errorf("%s: %+v", change.Kind(), change)
				}
			}
		})
	}
}

// Other policies select a workload whose labels change, although no policy changes.
func TestCompareLabels(t *testing.T) {
	t.Parallel()
	const spec = `{type: MeshTrafficPermission, name: p, spec: {targetRef: {kind: Dataplane, labels: {app: a}}, default: {allow: [{spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/a}}]}}}`
	before, after := one(t, "tcp", spec), one(t, "tcp", spec)
	before.Inbounds[0].Workload.Labels = map[string]string{"app": "b"}
	found, err := diff.Compare(before, after)
	if err != nil {
		t.Fatal(err)
	}
	if changes := found[0].Changes; len(changes) == 0 || changes[0].Kind() != diff.Widened {
		t.Errorf("%+v", changes)
	}
}

// TestComparePorts finds what a new port changes: the old policies are asked about the old one.
func TestComparePorts(t *testing.T) {
	t.Parallel()
	before := one(t, "http", `{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: default}, spec: {action: DENY, rules: [{to: [{operation: {ports: ["80"], paths: ["*.html"]}}]}]}}`)
	after := before
	after.Inbounds = slices.Clone(before.Inbounds)
	after.Inbounds[0].Port = 8080
	found, err := diff.Compare(before, after)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, change := range found[0].Changes {
		got = append(got, change.Kind().String()+" "+change.Witness.Path)
	}
	if want := []string{diff.Widened.String() + " /a.html"}; !slices.Equal(got, want) || !found[0].Cover.Complete() {
		t.Errorf("changes %q, want %q, in %s", got, want, found[0].Cover)
	}
}

// No policy is asked about a caller whom the mode of the inbound keeps out, so that no line of one is named.
func TestCompareNamesNoPolicyOfMTLS(t *testing.T) {
	t.Parallel()
	const deny = `{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p}, spec: {action: DENY, rules: [{to: [{operation: {paths: [/a]}}]}]}}`
	found, err := diff.Compare(one(t, "http, mtls: strict", deny), one(t, "http, mtls: permissive", deny))
	if err != nil {
		t.Fatal(err)
	}
	places := map[string]bool{}
	for _, c := range found {
		for _, change := range c.Changes {
			if change.Old.Place != "" {
				t.Errorf("%s at %s", change.Old.Reason, change.Old.Place)
			}
			places[change.New.Place] = true
		}
	}
	if len(places) != 2 {
		t.Errorf("the new decisions are at %v", places)
	}
}
