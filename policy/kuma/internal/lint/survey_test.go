package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/kuma/internal/evaluation"
	"github.com/meshproof/meshproof/policy/kuma/internal/fixture"
	"github.com/meshproof/meshproof/policy/kuma/internal/lint"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
)

func TestSection(t *testing.T) {
	t.Parallel()
	for want, ref := range map[string]string{"": "{kind: Dataplane}", "http-port": "{kind: Dataplane, sectionName: http-port}"} {
		p := fixture.Parse(t, "{type: MeshTrafficPermission, name: p, spec: {targetRef: "+ref+"}}")[0]
		if got := p.Target.Section; got != want {
			t.Errorf("%s has section %q, want %q", ref, got, want)
		}
	}
}

// An allow that is hidden on one inbound and works on another causes no warning, and neither
// does a policy without an inbound.
func TestOnlyRulesHiddenEverywhereAreWarnedOf(t *testing.T) {
	t.Parallel()
	ps := fixture.Parse(t, `
{type: MeshTrafficPermission, name: opens, spec: {default: {allow: [{spiffeId: {type: Exact, value: spiffe://td/a}}]}}}
---
{type: MeshTrafficPermission, name: opts-out, spec: {targetRef: {kind: Dataplane, sectionName: http-port}, default: {deny: [{spiffeId: {type: Prefix, value: spiffe://td/}}]}}}
---
{type: MeshTrafficPermission, name: nowhere, spec: {targetRef: {kind: Dataplane, name: nobody}, default: {allow: [{method: GET}]}}}
`)
	for name, tt := range map[string]struct {
		inbounds     []policy.Inbound
		idle, hidden []string
	}{
		"no inbound":  {nil, nil, nil},
		"one inbound": {fixture.Inbounds()[:1], []string{"kri_mtp_default___nowhere_"}, []string{"kri_mtp_default___opens_"}},
		"two":         {fixture.Inbounds()[:2], []string{"kri_mtp_default___nowhere_"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := lint.TakeSurvey(ps, tt.inbounds, permission.Options{})
			if diff := cmp.Diff(tt.idle, policiesOf(got.Idle)); diff != "" {
				t.Errorf("idle (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.hidden, policiesOf(got.Hidden)); diff != "" {
				t.Errorf("hidden (-want +got):\n%s", diff)
			}
		})
	}
}

func policiesOf(ws []policy.Warning) (out []string) {
	for _, w := range ws {
		out = append(out, w.Policy)
	}
	return out
}

// matcherText expands the short form of a matcher, such as "id=a path=/x/* GET":
// a trailing * makes a Prefix.
func matcherText(short string) string {
	var fields []string
	match := func(field, value string) string {
		prefix, ok := strings.CutSuffix(value, "*")
		if ok {
			return field + ": {type: Prefix, value: " + prefix + "}"
		}
		return field + ": {type: Exact, value: " + value + "}"
	}
	for _, word := range strings.Fields(short) {
		if id, ok := strings.CutPrefix(word, "id="); ok {
			fields = append(fields, match("spiffeId", "spiffe://td/"+id))
		} else if path, ok := strings.CutPrefix(word, "path="); ok {
			fields = append(fields, match("path", path))
		} else {
			fields = append(fields, "method: "+word)
		}
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// neverAllows returns who is denied by each warning of a hidden allow.
func neverAllows(ws []policy.Warning) []string {
	var out []string
	for _, w := range ws {
		if _, by, ok := strings.Cut(w.Message, "never allows: "); ok {
			_, denied, _ := strings.Cut(by, " denies ")
			out = append(out, denied)
		}
	}
	return out
}

func TestLintHidden(t *testing.T) {
	t.Parallel()
	const identities, requests, everybody = "the same identities", "the same requests", "everybody"
	http, tcp := fixture.Inbounds()[:1], fixture.Inbounds()[2:3]
	for _, tt := range []struct {
		deny, allow string
		inbounds    []policy.Inbound
		want        string
	}{
		{deny: "GET", allow: "GET", inbounds: http, want: requests},
		{deny: "GET", allow: "PUT", inbounds: http},
		{deny: "GET", allow: "path=/a", inbounds: http},
		{deny: "GET", allow: "id=a", inbounds: http},
		{deny: "GET", allow: "id=a path=/a GET", inbounds: http, want: requests},

		{deny: "path=/a", allow: "path=/a", inbounds: http, want: requests},
		{deny: "path=/a", allow: "path=/a*", inbounds: http},
		{deny: "path=/a", allow: "path=/a/", inbounds: http},
		{deny: "path=/a*", allow: "path=/a", inbounds: http, want: requests},
		{deny: "path=/a*", allow: "path=/a/b", inbounds: http, want: requests},
		{deny: "path=/a*", allow: "path=/a/b*", inbounds: http, want: requests},
		{deny: "path=/a*", allow: "path=/ab", inbounds: http},
		{deny: "path=/a*", allow: "path=/ab*", inbounds: http},
		{deny: "path=/a/*", allow: "path=/a*", inbounds: http, want: requests},
		{deny: "path=/a/b*", allow: "path=/a*", inbounds: http},
		{deny: "path=/a*", allow: "GET", inbounds: http},
		{deny: "path=/a*", allow: "id=a", inbounds: http},
		{deny: "path=/a*", allow: "id=a path=/a GET", inbounds: http, want: requests},
		{deny: "path=/", allow: "path=/*", inbounds: http},

		{deny: "path=/*", allow: "path=/a", inbounds: http, want: everybody},
		{deny: "path=/*", allow: "GET", inbounds: http, want: everybody},
		{deny: "path=/*", allow: "id=a*", inbounds: http, want: everybody},
		{deny: "path=/* GET", allow: "GET", inbounds: http, want: requests},
		{deny: "path=/* GET", allow: "path=/*", inbounds: http},
		{deny: "id=a path=/*", allow: "id=a", inbounds: http, want: identities},
		{deny: "id=a path=/*", allow: "id=b", inbounds: http},

		{deny: "id=a", allow: "id=a path=/a", inbounds: http, want: identities},
		{deny: "id=a/*", allow: "id=a/b*", inbounds: http, want: identities},
		{deny: "id=a/b", allow: "id=a/*", inbounds: http},
		{deny: "id=a", allow: "id=a*", inbounds: http},
		{deny: "id=a", allow: "GET", inbounds: http},

		{deny: "id=a GET", allow: "id=a GET", inbounds: http, want: requests},
		{deny: "id=a GET", allow: "id=a PUT", inbounds: http},
		{deny: "id=a GET", allow: "id=b GET", inbounds: http},
		{deny: "id=a GET", allow: "id=a", inbounds: http},
		{deny: "id=a GET", allow: "GET", inbounds: http},
		{deny: "id=a/* GET", allow: "id=a/b GET", inbounds: http, want: requests},
		{deny: "id=a/* GET", allow: "id=b/a GET", inbounds: http},
		{deny: "id=a path=/a*", allow: "id=a path=/a/b", inbounds: http, want: requests},
		{deny: "id=a path=/a*", allow: "id=a path=/b", inbounds: http},
		{deny: "id=a path=/a*", allow: "path=/a", inbounds: http},
		{deny: "path=/a* GET", allow: "path=/a GET", inbounds: http, want: requests},
		{deny: "path=/a* GET", allow: "path=/a", inbounds: http},
		{deny: "path=/a* GET", allow: "id=a GET", inbounds: http},
		{deny: "id=a* path=/a* GET", allow: "id=ab path=/a/b GET", inbounds: http, want: requests},
		{deny: "id=a* path=/a* GET", allow: "id=ab path=/a/b PUT", inbounds: http},

		{deny: "GET", allow: "id=a", inbounds: tcp, want: everybody},
		{deny: "path=/a", allow: "id=a*", inbounds: tcp, want: everybody},
		{deny: "id=a GET", allow: "id=a", inbounds: tcp, want: identities},
		{deny: "id=a GET", allow: "id=b", inbounds: tcp},
		{deny: "id=a GET", allow: "GET", inbounds: tcp},

		{deny: "GET", allow: "id=a", inbounds: fixture.Inbounds()},
		{deny: "GET", allow: "GET", inbounds: fixture.Inbounds(), want: requests},
	} {
		for _, list := range []string{"allow", "allowWithShadowDeny"} {
			one := "{type: MeshTrafficPermission, name: p, spec: {default: {" + list + ": [" + matcherText(tt.allow) + "], deny: [" + matcherText(tt.deny) + "]}}}"
			var want []string
			if tt.want != "" {
				want = []string{tt.want}
			}
			if diff := cmp.Diff(want, neverAllows(lint.Lint(fixture.Parse(t, one), tt.inbounds, permission.Options{}))); diff != "" {
				t.Errorf("%s %s under deny %s on %d inbounds (-want +got):\n%s", list, tt.allow, tt.deny, len(tt.inbounds), diff)
			}
		}
	}
}

// TestLintHiddenIsSound holds the findings of every deny beside every allow against
// what the evaluation lets through.
func TestLintHiddenIsSound(t *testing.T) {
	t.Parallel()
	var shorts []string
	for _, id := range []string{"", "id=a", "id=a*", "id=a/b", "id=a/*"} {
		for _, path := range []string{"", "path=/", "path=/*", "path=/a", "path=/a*", "path=/a/b", "path=/a/*", "path=/ab*"} {
			for _, method := range []string{"", "GET", "PUT"} {
				if short := strings.TrimSpace(id + " " + path + " " + method); short != "" {
					shorts = append(shorts, short)
				}
			}
		}
	}
	var requests []policy.Request
	for _, id := range []string{"a", "ab", "a/b", "a/c", "b"} {
		for _, path := range []string{"*", "/", "/a", "/a/", "/a/b", "/a/c", "/ab", "/ab/c", "/b"} {
			for _, method := range []string{"GET", "PUT", "DELETE"} {
				requests = append(requests, policy.Request{URIs: []string{"spiffe://td/" + id}, Path: path, Method: method})
			}
		}
	}
	// The requests that each matcher meets, of an inbound that allows them.
	in := fixture.Inbounds()[:1]
	meets := make([][]bool, len(shorts))
	for i, short := range shorts {
		ps := fixture.Parse(t, "{type: MeshTrafficPermission, name: p, spec: {default: {allow: ["+matcherText(short)+"]}}}")
		for _, r := range requests {
			meets[i] = append(meets[i], evaluation.ForInbound(ps, in[0], permission.Options{})(r).Effect == policy.Allow)
		}
	}
	var allows []string
	for _, allow := range shorts {
		allows = append(allows, matcherText(allow))
	}
	for d, deny := range shorts {
		ps := fixture.Parse(t, "type: MeshTrafficPermission\nname: p\nspec:\n  default:\n    deny: ["+matcherText(deny)+"]\n    allow:\n    - "+strings.Join(allows, "\n    - "))
		hidden := make(map[string]bool)
		for _, w := range lint.TakeSurvey(ps, in, permission.Options{}).Hidden {
			_, item, _ := strings.Cut(w.Place, ".allow")
			hidden[item] = true
		}
		if len(hidden) == 0 {
			t.Errorf("deny %s hides nothing, not even itself", deny)
		}
		for a, allow := range shorts {
			left := false
			for r := range requests {
				left = left || meets[a][r] && !meets[d][r]
			}
			said := hidden[fmt.Sprintf("[%d]", a)]
			if said == left {
				t.Errorf("allow %s under deny %s: hidden is %t, but something left is %t", allow, deny, said, left)
			}
		}
	}
}

func TestLintOverridden(t *testing.T) {
	t.Parallel()
	// Of two policies that differ only in their names, the policy whose name sorts first is
	// the stronger one and comes later.
	from := func(name, target string, items ...string) string {
		return "{type: MeshTrafficPermission, name: " + name + ", spec: {targetRef: {" + target + "}, from: [" + strings.Join(items, ", ") + "]}}"
	}
	const (
		all     = "kind: Mesh"
		backend = "kind: MeshService, name: backend"
		web     = "{targetRef: {kind: MeshService, name: web}, default: {action: Allow}}"
		api     = "{targetRef: {kind: MeshService, name: api}, default: {action: Allow}}"
		some    = "{targetRef: {kind: MeshSubset, tags: {a: b, c: d}}, default: {action: Allow}}"
		more    = "{targetRef: {kind: MeshSubset, tags: {a: b}}, default: {action: Deny}}"
		nobody  = "{targetRef: {kind: Mesh}, default: {action: Deny}}"
	)
	warning := func(line, item, by string) string {
		return "policies.yaml:" + line + ": spec.from[" + item + "].targetRef: decides about no caller: " + by + " comes later, wins, and names all of these clients [overridden]"
	}
	ins := fixture.Inbounds()
	for i := range ins {
		ins[i].Tags = map[string]string{"kuma.io/service": ins[i].Workload.Name}
	}
	route := ins[0]
	route.Routes = []policy.InboundRoute{{Name: "r", When: attribute.Method.Exact("GET")}}
	for _, tt := range []struct {
		name     string
		policies []string
		inbounds []policy.Inbound
		want     []string
	}{
		{"overridden by a stronger policy", []string{from("z", all, web), from("a", all, nobody)}, ins, []string{warning("1", "0", "from[0] of kri_mtp_default___a_")}},
		{"beside a weaker policy", []string{from("a", all, web), from("z", all, nobody)}, ins, nil},
		{"the same clients", []string{from("z", all, web), from("a", all, api, web)}, ins, []string{warning("1", "0", "from[1] of kri_mtp_default___a_")}},
		{"other clients", []string{from("z", all, web), from("a", all, api)}, ins, nil},
		{"fewer tags", []string{from("z", all, some), from("a", all, more)}, ins, []string{warning("1", "0", "from[0] of kri_mtp_default___a_")}},
		{"more tags", []string{from("z", all, more), from("a", all, some)}, ins, nil},
		{"one workload of two", []string{from("z", all, web), from("a", backend, nobody)}, ins, nil},
		{"the only workload", []string{from("z", all, web), from("a", backend, nobody)}, ins[:3], []string{warning("1", "0", "from[0] of kri_mtp_default___a_")}},
		{"no inbound", []string{from("z", all, web), from("a", all, nobody)}, nil, nil},
		{"its own policy, said once", []string{from("z", all, web, nobody), from("b", all, web), from("a", all, some)}, ins,
			[]string{"policies.yaml:1: spec.from[0].targetRef: decides about no caller: from[1] comes later, wins, and names all of these clients [overridden]"}},
		{"the strongest of several", []string{from("z", all, web), from("b", all, web), from("a", all, web)}, ins,
			[]string{warning("1", "0", "from[0] of kri_mtp_default___a_"), warning("3", "0", "from[0] of kri_mtp_default___a_")}},
		{"a route overrides no proxy", []string{from("z", all, web), from("a", "kind: MeshHTTPRoute, name: r", nobody)}, []policy.Inbound{route}, nil},
		{"a route overrides the same route", []string{from("z", "kind: MeshHTTPRoute, name: r", web), from("a", "kind: MeshHTTPRoute, name: r", nobody)},
			[]policy.Inbound{route}, []string{warning("1", "0", "from[0] of kri_mtp_default___a_")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, w := range lint.Lint(fixture.Parse(t, strings.Join(tt.policies, "\n---\n")), tt.inbounds, permission.Options{}) {
				got = append(got, w.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A policy that applies to no inbound names the nearest one, and the first requirement that it
// does not meet: the inbound misses the fewest requirements, and is closest of several.
func TestNearestInbound(t *testing.T) {
	t.Parallel()
	workload := func(name string) policy.Workload {
		return policy.Workload{Name: name, Namespace: "default", Labels: map[string]string{"app": name, "tier": "back"}}
	}
	inbounds := []policy.Inbound{
		{Workload: workload("frontend"), Name: "http", Port: 80},
		{Workload: workload("payments"), Name: "http", Port: 80},
		{Workload: workload("payments"), Name: "grpc", Port: 8080, Protocol: policy.GRPC},
	}
	for target, want := range map[string]string{
		"labels: {app: payments}, sectionName: gprc":            `payments/grpc: targetRef.sectionName is "gprc", the inbound's is "grpc"`,
		"labels: {app: payment}":                                `payments/http: targetRef.labels asks for app="payment", the workload has "payments"`,
		"labels: {app: payment}, sectionName: grpc":             `payments/grpc: targetRef.labels asks for app="payment", the workload has "payments"`,
		"labels: {app: front, tier: back}":                      `frontend/http: targetRef.labels asks for app="front", the workload has "frontend"`,
		"labels: {app: payments, tier: bakc}":                   `payments/http: targetRef.labels asks for tier="bakc", the workload has "back"`,
		"labels: {app: payments, zone: east}, sectionName: prc": `payments/grpc: targetRef.labels asks for zone="east", the workload has none`,
		"name: payment": `payments/http: targetRef.name is "payment"`,
	} {
		p := fixture.Parse(t, "{type: MeshTrafficPermission, name: p, spec: {targetRef: {kind: Dataplane, "+target+"}, default: {allow: [{method: GET}]}}}")
		want = "MeshTrafficPermission p applies to no inbound (" + want + ")"
		if got := lint.TakeSurvey(p, inbounds, permission.Options{}).Idle; len(got) != 1 || got[0].Message != want {
			t.Errorf("%s: %v, want %s", target, got, want)
		}
	}
}
