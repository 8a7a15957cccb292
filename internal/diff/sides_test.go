package diff

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/manifestdiff"
	"github.com/meshproof/meshproof/policy/classes"
)

// TestSidesFailures has each reason for which two sides are not shown to decide alike.
func TestSidesFailures(t *testing.T) {
	t.Parallel()
	asked := Comparison{Cover: &classes.Cover{Classes: []classes.Class{{}}}, classes: 1}
	with := func(change func(*Difference, *Comparison)) Sides {
		found := asked
		found.Cover = &classes.Cover{Classes: []classes.Class{{}}}
		d := &Difference{}
		change(d, &found)
		if d.Cases == nil {
			d.Cases = []Case{{Comparisons: []Comparison{found}}}
		}
		return Sides{Difference: d}
	}
	names := func(_ *Difference, c *Comparison) {
		c.Cover.SampledNames, c.Cover.Sampled = "several names", []string{"several names"}
	}
	for name, tt := range map[string]struct {
		change func(*Difference, *Comparison)
		want   string
	}{
		"nothing":  {func(*Difference, *Comparison) {}, ""},
		"no class": {func(_ *Difference, c *Comparison) { c.classes = 0 }, "no request was asked"},
		"an inbound": {func(d *Difference, c *Comparison) {
			d.Cases = []Case{{Inbounds: []InboundChange{{Text: "mtls"}}, Comparisons: []Comparison{*c}}}
		}, "inbound mtls"},
		"beyond the lab":    {func(_ *Difference, c *Comparison) { c.Unsendable = []string{"more"} }, "requests that the lab cannot send: more"},
		"a case of A alone": {func(d *Difference, _ *Comparison) { d.OnlyOld = []string{"x"} }, "only one side has x"},
		"a case of B alone": {func(d *Difference, _ *Comparison) { d.OnlyNew = []string{"x"} }, "only one side has x"},
		"an unread one":     {func(d *Difference, _ *Comparison) { d.Unread = []manifestdiff.Change{{Place: "p.yaml:1"}} }, "meshproof does not read p.yaml:1"},
		"an unshown one":    {func(d *Difference, _ *Comparison) { d.Opens = []string{"a node gets in"} }, "a node gets in"},
		"an unasked one":    {func(d *Difference, _ *Comparison) { d.Unasked = []lab.Unasked{{Policy: "p"}} }, "not asked: "},
		"an inert one":      {func(d *Difference, _ *Comparison) { d.Unasked = []lab.Unasked{{Policy: "p", Inert: true}} }, ""},
		"a sampled cover":   {func(_ *Difference, c *Comparison) { c.Cover.Sampled = []string{"x"} }, "the cover is sampled: x"},
		"several names":     {names, "the cover is sampled: several names"},
		"too many":          {func(d *Difference, _ *Comparison) { d.Truncated = true }, "there are too many"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := with(tt.change)
			if got := strings.Join(s.Failures(), "; "); !strings.Contains(got, tt.want) || (tt.want == "") != (got == "") {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if s := with(names); true {
		if s.SVIDs = true; len(s.Failures()) > 0 || !strings.Contains(strings.Join(s.remarks(), "\n"), "several names") {
			t.Errorf("with --svids: %v, %v", s.Failures(), s.remarks())
		}
	}
}

// TestOpenSide refuses files of workloads that describe none.
func TestOpenSide(t *testing.T) {
	t.Parallel()
	if _, err := OpenSide(lab.Choice{}, "../../examples/dialects/istio", "../../examples/dialects/istio"); err == nil || !strings.HasPrefix(err.Error(), "--workloads: ") {
		t.Error(err)
	}
	files, err := OpenSide(lab.Choice{}, "../../examples/dialects/istio", "../../examples/dialects/shop.yaml")
	if err != nil || len(files.Cases) != 1 || len(files.Cases[0].Policies) != 1 || len(files.Cases[0].Options.Peers) != 3 {
		t.Errorf("%+v, %v", files, err)
	}
}

// What the lab does not play is not alike where one side alone has it, whichever side that is. Between two
// dialects only what both can speak of counts.
func TestSidesBeyondTheLab(t *testing.T) {
	t.Parallel()
	cnp := func(rules string) string {
		return "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p, namespace: x}, spec: {endpointSelector: {matchLabels: {app: b}}, ingress: [{fromEndpoints: [{}], toPorts: [{ports: [{port: '8080'}]}]" + rules + "}]}}\n"
	}
	const istio = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: x}, spec: {selector: {matchLabels: {app: b}}}}\n"
	linkerd := func(more string) string {
		return "{apiVersion: policy.linkerd.io/v1alpha1, kind: MeshTLSAuthentication, metadata: {name: m, namespace: x}, spec: {identities: [a.x.serviceaccount.identity.linkerd.cluster.local" + more + "]}}\n---\n" +
			"{apiVersion: policy.linkerd.io/v1beta3, kind: Server, metadata: {name: s, namespace: x}, spec: {podSelector: {matchLabels: {app: b}}, port: 8080}}\n"
	}
	trusting := func(domains string) string {
		return "case: c\ntrustDomains: [" + domains + "]\nworkloads: [{name: web, inbounds: [{name: in, port: 8080, protocol: http}]}]\npolicies:\n- " + istio + "requests: [{from: spiffe://a.mesh/ns/a/sa/b, to: web/in, want: allow}]\n"
	}
	for name, tt := range map[string]struct {
		a, b string
		want bool
	}{
		"a trust domain":                {trusting("a.mesh"), trusting("a.mesh, b.mesh"), true},
		"alike":                         {cnp(""), cnp(""), false},
		"a node":                        {cnp(""), cnp("}, {fromEntities: [host]"), true},
		"pods of another cluster":       {cnp(""), cnp("}, {fromEndpoints: [{matchExpressions: [{key: io.cilium.k8s.policy.cluster, operator: Exists}]}], toPorts: [{ports: [{port: '8080'}]}]"), true},
		"proof":                         {cnp(", authentication: {mode: required}"), cnp(""), true},
		"an identity of another mesh":   {linkerd(""), linkerd(", a.x.serviceaccount.identity.linkerd.other"), true},
		"a node, and another dialect":   {cnp("}, {fromEntities: [host]"), istio, true},
		"a port of every protocol, too": {cnp(""), istio, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, pair := range [][2]string{{tt.a, tt.b}, {tt.b, tt.a}} {
				d, err := DiffBeside(sideOf(t, pair[0]), sideOf(t, pair[1]), "")
				if err != nil {
					t.Fatal(err)
				}
				if (len(d.Opens) > 0) != tt.want {
					t.Errorf("from\n%s\nto\n%s\n%q", pair[0], pair[1], d.Opens)
				}
			}
		})
	}
}
