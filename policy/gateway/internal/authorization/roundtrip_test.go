package authorization_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/gateway/internal/authorization"
)

// again prints a policy and reads the output.
func again(t testing.TB, p authorization.Policy) authorization.Policy {
	t.Helper()
	text, err := json.Marshal(p.Resource())
	if err != nil {
		t.Fatal(err)
	}
	// Once more as YAML.
	return parseAll(t, string(documents(t, string(text))[0].YAML()))[0]
}

// TestRoundTripKeepsAbsentEmptyAndSetApart goes from the text to Go and back, and then to a
// program. A missing pair of brackets would change the program.
func TestRoundTripKeepsAbsentEmptyAndSetApart(t *testing.T) {
	t.Parallel()
	in := inbounds()[0]
	for rules, want := range map[string]struct{ printed, rule string }{
		"":                                       {`"spec":{"targetRefs":[{"kind":"Pod","selector":{}}],"action":"ALLOW","enforcementLevel":"Network"}`, ""},
		"[]":                                     {`"rules":[]`, ""},
		"[{}]":                                   {`"rules":[{}]`, "allow by default/p/000 when always"},
		"[{sources: []}]":                        {`"rules":[{"sources":[]}]`, "allow by default/p/000 when never"},
		"[{networkAttributes: {}}]":              {`"rules":[{"networkAttributes":{}}]`, "allow by default/p/000 when always"},
		"[{sources: [], networkAttributes: {}}]": {`"rules":[{"sources":[],"networkAttributes":{}}]`, "allow by default/p/000 when never"},
		"[{networkAttributes: {ports: [8080]}}]": {`"rules":[{"networkAttributes":{"ports":[8080]}}]`, "allow by default/p/000 when always"},
		"[{networkAttributes: {ports: [80]}}]":   {`"rules":[{"networkAttributes":{"ports":[80]}}]`, "allow by default/p/000 when never"},
		"[{sources: [{type: ServiceAccount, serviceAccount: {name: a}}]}]": {
			`"rules":[{"sources":[{"type":"ServiceAccount","serviceAccount":{"name":"a"}}]}]`, `allow by default/p/000 when a URI SAN = "spiffe://td/ns/default/sa/a"`},
	} {
		p := parseAll(t, one("p", "{}", rules))[0]
		text, err := json.Marshal(p.Resource())
		if err != nil || !strings.Contains(string(text), want.printed) {
			t.Errorf("rules %q are printed as %s, %v; want %s", rules, text, err, want.printed)
		}
		for _, p := range []authorization.Policy{p, again(t, p)} {
			program := authorization.Lower(authorization.Select([]authorization.Policy{p}, in), in, options).String()
			wantProgram := "gate of named rules L4\n"
			if want.rule != "" {
				wantProgram += "  " + want.rule + "\n"
			}
			if diff := cmp.Diff(wantProgram+"  else deny\n", program); diff != "" {
				t.Errorf("rules %q (-want +got):\n%s", rules, diff)
			}
		}
	}
}

func TestRoundTripKeepsEveryField(t *testing.T) {
	t.Parallel()
	const full = `{apiVersion: gateway.networking.k8s.io/v1, kind: AuthorizationPolicy,
  metadata: {name: p, namespace: web, labels: {}, annotations: {a: b}, generation: 7, uid: u, resourceVersion: "1", creationTimestamp: t},
  spec: {targetRefs: [{group: "", kind: Pod, name: "", selector: {matchLabels: {a: ""}, matchExpressions: [{key: b, operator: Exists, values: []}, {key: c, operator: In, values: [d]}]}}],
    action: ALLOW, enforcementLevel: Network, rules: [{sources: [{type: SPIFFE, spiffe: spiffe://td/a}, {type: ServiceAccount, serviceAccount: {namespace: x, name: "*"}}], networkAttributes: {ports: [1]}}]},
  status: {ancestors: [{ancestorRef: {group: "", kind: Namespace, namespace: n, name: web, sectionName: s, port: 1}, controllerName: a/b,
    conditions: [{type: Accepted, status: "True", observedGeneration: 7, lastTransitionTime: t, reason: Accepted, message: m}]}]}}`
	p := parseAll(t, full)[0]
	var want, got map[string]any
	if err := documents(t, full)[0].Decode(&want); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(p.Resource())
	if err != nil {
		t.Fatal(err)
	}
	if err := documents(t, string(text))[0].Decode(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-written +printed):\n%s", diff)
	}
}

func TestRoundTripOfRandomPolicies(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		ps := parseAll(t, drawPolicies(r))
		for i, p := range ps {
			ps[i] = again(t, p)
			if diff := cmp.Diff(p.Resource(), ps[i].Resource()); diff != "" {
				r.Fatalf("(-before +after):\n%s", diff)
			}
			for _, in := range inbounds() {
				lower := func(p authorization.Policy) policy.Program {
					return authorization.Lower(authorization.Select([]authorization.Policy{p}, in), in, options)
				}
				if want, got := lower(p), lower(ps[i]); !got.Equal(want) {
					r.Fatalf("want\n%s\ngot\n%s", want, got)
				}
			}
		}
	})
}
