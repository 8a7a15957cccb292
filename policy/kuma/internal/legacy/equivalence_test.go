package legacy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/internal/rewrite"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/legacy"
)

// client is the content of a certificate from a control plane: a mesh, a service, and at
// most one value for each key.
type client struct {
	mesh, service string
	tags          map[string]string
}

func (c client) uris() []string {
	out := []string{"spiffe://" + c.mesh + "/" + c.service}
	for key, value := range c.tags {
		out = append(out, "kuma://"+key+"/"+value)
	}
	return out
}

// lastWins is the third opinion: the action of the last item that matches the certificate of
// the client.
func lastWins(items []legacy.Item, uris []string) legacy.Action {
	action := legacy.Deny
	for _, item := range items {
		met := true
		for _, tag := range item.Tags {
			san := tag.String()
			met = met && slices.ContainsFunc(uris, func(uri string) bool {
				return uri == san || strings.HasSuffix(san, "/") && strings.HasPrefix(uri, san)
			})
		}
		if met {
			action = item.Action
		}
	}
	return action
}

// compile returns the compiler's program.
func compile(t interface{ Fatal(...any) }, items []legacy.Item, opts legacy.Options) policy.Program {
	gate, shadows := legacy.Gates(items, opts)
	program := policy.Program{Gates: []policy.Gate{gate}, Shadows: shadows}
	if err := program.Check(); err != nil {
		t.Fatal(err)
	}
	return program
}

// decide asks the compiler's program.
func decide(t interface{ Fatal(...any) }, items []legacy.Item, opts legacy.Options, uris []string) policy.Decision {
	return policy.Decide(compile(t, items, opts), policy.Request{URIs: uris})
}

// want is the decision of the third opinion.
func want(items []legacy.Item, precise bool, uris []string) policy.Decision {
	var d policy.Decision
	action := lastWins(items, uris)
	if action == legacy.Allow || action == legacy.AllowWithShadowDeny {
		d.Verdict = policy.Verdict{Effect: policy.Allow, Origin: "MeshTrafficPermission"}
	}
	for _, item := range items {
		if item.Action == legacy.AllowWithShadowDeny || item.Action == legacy.DenyWithShadowAllow {
			d.Shadowed = true
		}
	}
	if d.Shadowed && (action == legacy.DenyWithShadowAllow || precise && action == legacy.Allow) {
		d.Shadow = policy.Verdict{Effect: policy.Allow, Origin: "ShadowMeshTrafficPermission"}
	}
	return d
}

// clients returns every client that drawn items can distinguish, and clients with one value
// of each key that no item names.
func clients() []client {
	var out []client
	for _, mesh := range []string{"default", "other", "third"} {
		for _, service := range []string{"web", "api", "unnamed"} {
			for _, env := range []string{"", "dev", "prod"} {
				for _, zone := range []string{"", "east", "west"} {
					c := client{mesh: mesh, service: service, tags: map[string]string{}}
					if env != "" {
						c.tags["env"] = env
					}
					if zone != "" {
						c.tags["kuma.io/zone"] = zone
					}
					out = append(out, c)
				}
			}
		}
	}
	return out
}

func drawItem(t *rapid.T) legacy.Item {
	item := legacy.Item{Action: rapid.SampledFrom([]legacy.Action{legacy.Deny, legacy.Allow, legacy.AllowWithShadowDeny, legacy.DenyWithShadowAllow}).Draw(t, "action")}
	if value := rapid.SampledFrom([]string{"", "dev", "prod"}).Draw(t, "env"); value != "" {
		item.Tags = append(item.Tags, legacy.Label("env", value))
	}
	if value := rapid.SampledFrom([]string{"", "", "east", "west"}).Draw(t, "zone"); value != "" {
		item.Tags = append(item.Tags, legacy.Label("kuma.io/zone", value))
	}
	mesh := rapid.SampledFrom([]string{"default", "other"}).Draw(t, "mesh")
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		item.Tags = append(item.Tags, legacy.Service(mesh, rapid.SampledFrom([]string{"web", "api"}).Draw(t, "service")))
	case 1:
		item.Tags = append(item.Tags, legacy.Member(mesh))
	}
	return item
}

// TestCompilersAgree compares both compilers with the third opinion, for every client that
// the items can distinguish.
func TestCompilersAgree(t *testing.T) {
	t.Parallel()
	all := clients()
	property.Check(t, func(r *rapid.T) {
		items := rapid.SliceOfN(rapid.Custom(drawItem), 0, 6).Draw(r, "items")
		for _, precise := range []bool{false, true} {
			for _, compiler := range []legacy.Compiler{legacy.Compact, legacy.Full} {
				opts := legacy.Options{Compiler: compiler, Precise: precise}
				program := compile(r, items, opts)
				for _, c := range all {
					uris := c.uris()
					if got, want := policy.Decide(program, policy.Request{URIs: uris}), want(items, precise, uris); got != want {
						r.Fatalf("%s, precise %t, client %v: got %+v, want %+v\n%s", compiler, precise, uris, got, want, program)
					}
				}
			}
		}
	})
}

// TestCompactTakesTheLastItem has certificates that no control plane issues, and more items
// than can be nested.
func TestCompactTakesTheLastItem(t *testing.T) {
	t.Parallel()
	property.Check(t, func(r *rapid.T) {
		items := rapid.SliceOfN(rapid.Custom(drawItem), 0, 120).Draw(r, "items")
		uris := rapid.SliceOfDistinct(rapid.SampledFrom([]string{
			"spiffe://default/web", "spiffe://other/api", "spiffe://other/x", "kuma://env/dev", "kuma://env/prod", "kuma://kuma.io/zone/east",
		}), func(s string) string { return s }).Draw(r, "uris")
		if got, want := decide(r, items, legacy.Options{}, uris), want(items, false, uris); got != want {
			r.Fatalf("client %v: got %+v, want %+v", uris, got, want)
		}
	})
}

// TestManyRuns has more runs of items than can be nested, and clients with each pair of
// neighbouring tags.
func TestManyRuns(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 23, 24, 25, 26, 48, 50, 51, 100, 1000} {
		var items []legacy.Item
		for i := range n {
			items = append(items, legacy.Item{Tags: []legacy.Tag{label(i)}, Action: legacy.Action(i % 2)})
		}
		program := compile(t, items, legacy.Options{})
		for i := range n {
			for _, uris := range [][]string{{label(i).String()}, {label(i).String(), label(max(0, i-1)).String()}, {label(i).String(), label(n / 2).String()}} {
				if got, want := policy.Decide(program, policy.Request{URIs: uris}), want(items, false, uris); got != want {
					t.Errorf("%d items, client %v: got %+v, want %+v", n, uris, got, want)
				}
			}
		}
	}
}

// levels counts the nested messages of a condition as a principal. An And or Or is a
// set in a principal, and a leaf is a string matcher in an authenticated principal.
func levels(c policy.Condition) int {
	list := func(of []int) int { return 2 + slices.Max(append(of, 0)) }
	return rewrite.Condition(c, rewrite.Shape[int]{
		And:  list,
		Or:   list,
		Not:  func(of int) int { return 1 + of },
		Leaf: func(policy.Condition) int { return 3 },
	})
}

// TestCompactStaysShallow keeps the filter below 100 levels. Measured on Envoy
// 1.40: 46 alternating items of two tags nested in each other, which are 98
// levels, are taken; 48, which are 102, are refused as a filter that cannot be
// unpacked. The filter, its policies and a policy are three levels.
func TestCompactStaysShallow(t *testing.T) {
	t.Parallel()
	const around, limit = 3, 100
	for _, n := range []int{1, 24, 25, 48, 100, 1_000, 100_000} {
		gate, _ := legacy.Gates(manyItems(n), legacy.Options{})
		for _, rule := range gate.Rules {
			if got := around + levels(rule.When); got >= limit {
				t.Errorf("%d items: %d levels", n, got)
			}
		}
	}
}

// TestCompactGrowsWithTheItems counts the leaves: each item once while the runs
// can be nested, and a few times more beyond.
func TestCompactGrowsWithTheItems(t *testing.T) {
	t.Parallel()
	for n, most := range map[int]int{16: 2 * 16, 500: 2 * 500 * 4, 10_000: 2 * 10_000 * 7} {
		gate, _ := legacy.Gates(manyItems(n), legacy.Options{})
		if got := leaves(gate.Rules[0].When); got > most {
			t.Errorf("%d items: %d leaves, want %d at most", n, got, most)
		}
	}
}

func leaves(c policy.Condition) int {
	sum := func(of []int) (sum int) {
		for _, n := range of {
			sum += n
		}
		return sum
	}
	return rewrite.Condition(c, rewrite.Shape[int]{
		And:  sum,
		Or:   sum,
		Not:  func(of int) int { return of },
		Leaf: func(policy.Condition) int { return 1 },
	})
}

// TestDenied shows where the full compiler denies a certificate that the items admit: exactly
// where one of the certificates with two services, or two values of a key, is decided otherwise
// by the two compilers.
func TestDenied(t *testing.T) {
	t.Parallel()
	web, api, other := legacy.Service("default", "web"), legacy.Service("default", "api"), legacy.Service("other", "web")
	dev, prod, member := legacy.Label("env", "dev"), legacy.Label("env", "prod"), legacy.Member("default")
	item := func(a legacy.Action, tags ...legacy.Tag) legacy.Item { return legacy.Item{Tags: tags, Action: a} }
	for name, tt := range map[string]struct {
		items []legacy.Item
		want  string
	}{
		"two services":             {[]legacy.Item{item(legacy.Allow, web), item(legacy.Allow, api)}, "1 spiffe://default/web spiffe://default/api"},
		"two values":               {[]legacy.Item{item(legacy.Allow, dev), item(legacy.Deny, prod), item(legacy.Allow, dev)}, "2 kuma://env/dev kuma://env/prod"},
		"a shadow admits":          {[]legacy.Item{item(legacy.Deny, dev), item(legacy.DenyWithShadowAllow, prod)}, "1 kuma://env/dev kuma://env/prod"},
		"the last item denies":     {[]legacy.Item{item(legacy.Allow, dev), item(legacy.Deny, prod)}, ""},
		"one value of a key":       {[]legacy.Item{item(legacy.Allow), item(legacy.Allow, dev), item(legacy.Allow, web)}, ""},
		"services of two meshes":   {[]legacy.Item{item(legacy.Allow, web), item(legacy.Allow, other)}, ""},
		"services of a whole mesh": {[]legacy.Item{item(legacy.Allow, member), item(legacy.Deny, web), item(legacy.Allow, api)}, "2 spiffe://default/web spiffe://default/api"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if by, a, b, ok := legacy.Full.Denied(tt.items); ok {
				got = fmt.Sprint(by, " ", a, " ", b)
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if _, _, _, ok := legacy.Compact.Denied(tt.items); ok {
				t.Error("the compact compiler denies it too")
			}
			differ := false
			for _, uris := range [][]string{
				{web.String(), api.String()}, {web.String(), dev.String(), prod.String()}, {api.String(), web.String(), dev.String(), prod.String()},
				{"spiffe://default/cart", dev.String(), prod.String()},
			} {
				for _, precise := range []bool{false, true} {
					full := decide(t, tt.items, legacy.Options{Compiler: legacy.Full, Precise: precise}, uris)
					compact := decide(t, tt.items, legacy.Options{Precise: precise}, uris)
					differ = differ || full != compact
					if compact != want(tt.items, precise, uris) {
						t.Errorf("%q: compact says %v, the last item %v", uris, compact, want(tt.items, precise, uris))
					}
				}
			}
			if differ != (tt.want != "") {
				t.Errorf("the compilers differ: %t", differ)
			}
		})
	}
}
