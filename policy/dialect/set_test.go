package dialect_test

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/language"
)

func TestProgram(t *testing.T) {
	t.Parallel()
	const ignored = `kri_mtp_default__finance_elsewhere_: it is of namespace "finance", the workload of namespace "shop"`
	for _, tt := range []struct {
		inbound           int
		program           string
		ignored, warnings []string
	}{
		{inbound: 0, ignored: []string{ignored}, program: `gate L7
  deny by kri_mtp_default___operator_ when identity starts with "spiffe://td/evil/" or path under "/admin" and method = "DELETE"
  allow by kri_mtp_default___operator_ when path = "/health"
  allow by kri_mtp_default__shop_owner_ when identity starts with "spiffe://td/" and method = "GET" or identity = "spiffe://td/web"
  allow by kri_mtp_default__shop_owner_ when identity starts with "spiffe://td/legacy"
  else deny by default
shadow L7
  deny by kri_mtp_default__shop_owner_ when identity starts with "spiffe://td/legacy"
  else deny by default
`},
		{inbound: 2, ignored: []string{ignored}, program: `gate L4
  deny by kri_mtp_default___operator_ when always
  allow by kri_mtp_default__shop_owner_ when identity = "spiffe://td/web"
  allow by kri_mtp_default__shop_owner_ when identity starts with "spiffe://td/legacy"
  else deny by default
shadow L4
  deny by kri_mtp_default__shop_owner_ when identity starts with "spiffe://td/legacy"
  else deny by default
`, warnings: []string{
			"p.yaml:8: spec.default.deny[1]: tcp inbound backend/5432 sees neither path nor method: there this denies everybody [http-on-tcp]",
			"p.yaml:11: spec.default.allow[0]: tcp inbound backend/5432 sees neither path nor method: there this allows nothing [http-on-tcp]",
			"p.yaml:21: spec.rules[0].default.allow[0]: tcp inbound backend/5432 sees neither path nor method: there this allows nothing [http-on-tcp]",
		}},
		{inbound: 3, ignored: []string{`kri_mtp_default__shop_owner_: it is of namespace "shop", the workload of namespace "finance"`}, program: `gate L7
  deny by kri_mtp_default___operator_ when identity starts with "spiffe://td/evil/" or path under "/admin" and method = "DELETE"
  allow by kri_mtp_default___operator_ when path = "/health"
  allow by kri_mtp_default__finance_elsewhere_ when identity starts with "spiffe://td/"
  else deny by default
`},
	} {
		in := inbounds()[tt.inbound]
		t.Run(in.String(), func(t *testing.T) {
			t.Parallel()
			set := parse(t, fixture, language.Options{})
			got := set.Program(in)
			if diff := cmp.Diff(tt.program, got.Program.String()); diff != "" {
				t.Errorf("program (-want +got):\n%s", diff)
			}
			if err := got.Check(); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(tt.ignored, set.Ignored(in)); diff != "" {
				t.Errorf("ignored (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.warnings, texts(got.Warnings)); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func texts(warnings []policy.Warning) (out []string) {
	for _, w := range warnings {
		out = append(out, w.String())
	}
	return out
}

// TestOptionsReachTheDialect shows that the options of Parse hold for all methods of the set.
func TestOptionsReachTheDialect(t *testing.T) {
	t.Parallel()
	in := inbounds()[0]
	legacy := policy.Request{URIs: []string{"spiffe://td/legacy/x"}, Method: "GET", Path: "/"}
	web := policy.Request{URIs: []string{"spiffe://td/web"}, Method: "GET", Path: "/"}
	for form, want := range map[string]policy.Effect{"shadowForm: accepted": policy.Deny, "shadowForm: precise": policy.Allow} {
		set := parse(t, fixture, options(t, form))
		for name, d := range map[string]policy.Decision{"Evaluate": set.Evaluate(in)(web), "Program": policy.Decide(set.Program(in).Program, web)} {
			if d.Effect != policy.Allow || !d.Shadowed || d.Shadow.Effect != want {
				t.Errorf("%s: %s of an allowed caller: %+v", form, name, d)
			}
		}
		if d := set.Evaluate(in)(legacy); d.Shadow != (policy.Verdict{Effect: policy.Deny, Origin: "kri_mtp_default__shop_owner_"}) {
			t.Errorf("%s: of a caller that is to be denied: %+v", form, d)
		}
	}
	system := parse(t, fixture, options(t, "systemNamespace: finance"))
	if ignored := system.Ignored(in); len(ignored) > 0 {
		t.Errorf("a policy of the system namespace is ignored: %q", ignored)
	}
	if w := texts(system.Lint(inbounds()[:1])); len(w) != 1 {
		t.Errorf("lint with every policy in use: %q", w)
	}
}

// TestDecideAgreesWithEvaluate asks both opinions for every request of the fixture.
func TestDecideAgreesWithEvaluate(t *testing.T) {
	t.Parallel()
	for name, yaml := range map[string]string{"nothing": "", "fixture": fixture} {
		for _, form := range []string{"shadowForm: accepted", "shadowForm: precise"} {
			set := parse(t, yaml, options(t, form))
			for _, in := range inbounds() {
				program := set.Program(in).Program
				effects := map[policy.Effect]int{}
				for _, r := range requests(in) {
					want := policy.Decide(program, r)
					if diff := cmp.Diff(want, set.Evaluate(in)(r)); diff != "" {
						t.Errorf("%s, %s, %s: %+v (-Decide +Evaluate):\n%s", name, form, in, r, diff)
					}
					effects[want.Effect]++
				}
				// On tcp the operator's deny of a method denies every caller.
				if mixed := name == "fixture" && in.Protocol != policy.TCP; effects[policy.Deny] == 0 || (effects[policy.Allow] > 0) != mixed {
					t.Errorf("%s, %s: %v: the requests prove nothing", name, in, effects)
				}
			}
		}
	}
}

// TestEmptySet shows that Kuma without policies denies every caller, without warnings.
func TestEmptySet(t *testing.T) {
	t.Parallel()
	zero := parse(t, "", language.Options{})
	for _, in := range inbounds() {
		p := zero.Program(in)
		want := policy.Program{Gates: []policy.Gate{{Layer: in.Protocol.Layer(), Default: policy.Verdict{Effect: policy.Deny, Origin: "default"}}}}
		if diff := cmp.Diff(want.String(), p.Program.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", in, diff)
		}
		if ignored := zero.Ignored(in); len(p.Warnings)+len(ignored) > 0 {
			t.Errorf("%s: %+v, %q", in, p, ignored)
		}
		for _, r := range requests(in) {
			if diff := cmp.Diff(policy.Decide(want, r), zero.Evaluate(in)(r)); diff != "" {
				t.Errorf("%s: %+v (-want +got):\n%s", in, r, diff)
			}
		}
	}
	if w := zero.Lint(inbounds()); len(w) > 0 {
		t.Errorf("lint: %q", texts(w))
	}
}

func TestLint(t *testing.T) {
	t.Parallel()
	const prefix = "p.yaml:26: spec.rules[1].default.allowWithShadowDeny[0]: prefix spiffe://td/legacy does not end in a slash: " +
		"it also admits spiffe://td/legacy-evil/...; write spiffe://td/legacy/, or Exact for each identity: Kuma up to 2.14 refuses a slash at the end [prefix-inside-name]"
	const unused = `p.yaml:28: MeshTrafficPermission elsewhere applies to no inbound (backend/api: it is of namespace "finance", the workload of namespace "shop") [selects-nothing]`
	for name, tt := range map[string]struct {
		inbounds []policy.Inbound
		want     []string
	}{
		"no inbound":        {nil, []string{prefix}},
		"one inbound":       {inbounds()[:1], []string{prefix, unused}},
		"two of a workload": {inbounds()[:2], []string{prefix, unused}},
		"a tcp inbound and another workload": {inbounds()[2:], []string{
			"p.yaml:8: spec.default.deny[1]: tcp inbound backend/5432 sees neither path nor method: there this denies everybody [http-on-tcp]",
			"p.yaml:11: spec.default.allow[0]: tcp inbound backend/5432 sees neither path nor method: there this allows nothing [http-on-tcp]",
			prefix,
			"p.yaml:21: spec.rules[0].default.allow[0]: tcp inbound backend/5432 sees neither path nor method: there this allows nothing [http-on-tcp]",
			"p.yaml:21: spec.rules[0].default.allow[0]: never allows: kri_mtp_default___operator_ denies everybody [hidden-by-deny]",
			"p.yaml:23: spec.rules[0].default.allow[1]: never allows: kri_mtp_default___operator_ denies everybody [hidden-by-deny]",
			"p.yaml:26: spec.rules[1].default.allowWithShadowDeny[0]: never allows: kri_mtp_default___operator_ denies everybody [hidden-by-deny]",
		}},
	} {
		got := texts(parse(t, fixture, language.Options{}).Lint(tt.inbounds))
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestSetIsSafeForConcurrentUse is for the race detector.
func TestSetIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	set := parse(t, fixture, options(t, "shadowForm: precise"))
	in := inbounds()[0]
	want := set.Program(in).Program
	var users sync.WaitGroup
	for range 8 {
		users.Go(func() {
			if got := set.Program(in).Program; !got.Equal(want) {
				t.Errorf("another program:\n%s", got)
			}
			for _, r := range requests(in) {
				if got := set.Evaluate(in)(r); got != policy.Decide(want, r) {
					t.Errorf("%+v: another decision: %+v", r, got)
				}
			}
			set.Lint(inbounds())
		})
	}
	users.Wait()
}

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
		if diff := cmp.Diff(want.ignored, set.Ignored(in)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", in, diff)
		}
		if tree, err := set.(capability.Grower).Tree(in); err == nil {
			t.Errorf("%s: a tree of named rules: %v", in, tree)
		}
		for _, r := range append(requests(in), policy.Request{URIs: []string{"spiffe://td/ns/shop/sa/web"}}) {
			if want, got := policy.Decide(got.Program, r), set.Evaluate(in)(r); want != got {
				t.Errorf("%s: %+v: Decide says %+v, Evaluate %+v", in, r, want, got)
			}
		}
	}
	want := []string{
		"p.yaml:15: spec.rules: there is no rule: no caller gets in by this policy, and no caller at all where no other policy selects the pod [no-rules]",
		`p.yaml:12: the policy selects no workload (backend: it is of namespace "other", the workload of namespace "shop") [selects-nothing]`,
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
