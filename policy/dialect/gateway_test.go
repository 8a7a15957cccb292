package dialect_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/language"
)

const ofGateway = `apiVersion: gateway.networking.x-k8s.io/v1alpha1
kind: XAuthorizationPolicy
metadata: {name: owner, namespace: shop}
spec:
  targetRefs: [{kind: Pod, selector: {matchLabels: {app: backend}}}]
  action: ALLOW
  enforcementLevel: Network
  rules:
    - sources: [{type: ServiceAccount, serviceAccount: {name: web}}]
      networkAttributes: {ports: [8080, 5432]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: AuthorizationPolicy
metadata: {name: elsewhere, namespace: other}
spec: {targetRefs: [{kind: Pod, selector: {}}], action: ALLOW, enforcementLevel: Network}
`

func TestGateway(t *testing.T) {
	t.Parallel()
	set := parse(t, ofGateway, language.Options{TrustDomain: spiffeid.RequireTrustDomainFromString("td")})
	const elsewhere = `other/elsewhere: it is of namespace "other", the workload of namespace `
	for i, want := range []struct {
		program string
		ignored []string
	}{
		{"gate of named rules L4\n  allow by shop/owner/000 when a URI SAN = \"spiffe://td/ns/shop/sa/web\"\n  else deny\n", []string{elsewhere + `"shop"`}},
		{"gate of named rules L4\n  allow by shop/owner/000 when never\n  else deny\n", []string{elsewhere + `"shop"`}},
		{"gate of named rules L4\n  allow by shop/owner/000 when a URI SAN = \"spiffe://td/ns/shop/sa/web\"\n  else deny\n", []string{elsewhere + `"shop"`}},
		{"", []string{`shop/owner: it is of namespace "shop", the workload of namespace "finance"`, elsewhere + `"finance"`}},
	} {
		in := inbounds()[i]
		if err := set.Check(in); err != nil {
			t.Errorf("%s: %v", in, err)
		}
		got := set.Program(in)
		if diff := cmp.Diff(want.program, got.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", in, diff)
		}
		if diff := cmp.Diff(want.ignored, got.Ignored); diff != "" {
			t.Errorf("%s (-want +got):\n%s", in, diff)
		}
		if tree, err := set.(capability.Grower).Tree(in); err == nil {
			t.Errorf("%s: a tree of named rules: %v", in, tree)
		}
		for _, r := range append(requests(in), policy.Request{URIs: []string{"spiffe://td/ns/shop/sa/web"}}) {
			if want, got := policy.Decide(got.Program, r), set.Evaluate(in, r); want != got {
				t.Errorf("%s: %+v: Decide says %+v, Evaluate %+v", in, r, want, got)
			}
		}
	}
	want := []string{
		"p.yaml:15: spec.rules: there is no rule: nobody gets in by this policy, and nobody at all where no other policy selects the pod",
		"p.yaml:12: the policy selects no workload",
	}
	var got []string
	for _, w := range set.Lint(inbounds()) {
		got = append(got, w.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTwoDialectsAreRefused(t *testing.T) {
	t.Parallel()
	const want = "p.yaml:36: XAuthorizationPolicy stands beside MeshTrafficPermission (p.yaml:1): what policies of two dialects mean together is not defined, use one of them"
	_, err := dialect.Parse(documents(t, fixture+"---\n"+ofGateway), language.Options{})
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}
