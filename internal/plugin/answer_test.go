package plugin

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/dialecttest"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
)

// isBroken reports whether the error says that the compiler is broken.
func isBroken(err error) bool { return errors.As(err, new(*Error)) }

// TestLateGreeting accepts a greeting after its caller has left.
func TestLateGreeting(t *testing.T) {
	t.Parallel()
	c := &Compiler{calls: map[int64]*call{}}
	if err := c.acceptGreeting([]byte(sound)); err != nil {
		t.Error(err)
	}
}

// TestBadAnswers shows that a wrong answer fails its own request only: one process
// answers all of them.
func TestBadAnswers(t *testing.T) {
	t.Parallel()
	c := start(t, helper("parrot"))
	answers := schema(t, "answer")
	const principal = `"permissions": [{"any": true}], "principals": [{"any": true}]`
	for name, tt := range map[string]struct {
		answer, want string
		// deep means that the schema accepts the answer, and a check of filters refuses it.
		deep     bool
		protocol policy.Protocol
	}{
		"no filters, no error": {answer: `{"id": ID}`, want: "it has no filters and no error: want one of them"},
		"both":                 {answer: `{"id": ID, "filters": {}, "error": "refused"}`, want: "it has filters and an error: want one of them"},
		"unknown field":        {answer: `{"id": ID, "filter": {}, "a": 1}`, want: `unknown field "a", "filter": there are id, filters, error`},
		"another case":         {answer: `{"id": ID, "Filters": {}}`, want: `unknown field "Filters": there are id, filters, error`},
		"error is a number":    {answer: `{"id": ID, "error": 4}`, want: `error: want text, got "4"`},
		"error is null":        {answer: `{"id": ID, "error": null}`, want: `error: want text, got "null"`},
		"error is empty":       {answer: `{"id": ID, "error": ""}`, want: `error is empty: want the reason of the refusal`},
		"filters are null":     {answer: `{"id": ID, "filters": null}`, want: `filters: want an object, got "null"`},
		"filters are a list":   {answer: `{"id": ID, "filters": []}`, want: `filters: want an object, got "[]"`},
		"unknown filters":      {answer: `{"id": ID, "filters": {"tcp": []}}`, want: `filters: unknown field "tcp": there are network, http, routes`},
		"network is a filter":  {answer: `{"id": ID, "filters": {"network": {}}}`, want: `filters.network: want a list, got "{}"`},
		"http is null":         {answer: `{"id": ID, "filters": {"http": null}}`, want: `filters.http: want a list, got "null"`},
		"filter is text":       {answer: `{"id": ID, "filters": {"network": ["x"]}}`, want: `filters.network[0]: not envoy.extensions.filters.network.rbac.v3.RBAC as JSON: proto: syntax error (line 1:1): unexpected token "x"`},
		"unknown in filter":    {answer: `{"id": ID, "filters": {"network": [{}, {"rule": {}}]}}`, want: `filters.network[1]: not envoy.extensions.filters.network.rbac.v3.RBAC as JSON: proto: (line 1:2): unknown field "rule"`, deep: true},
		"unknown type":         {answer: `{"id": ID, "filters": {"http": [{"matcher": {"onNoMatch": {"action": {"name": "a", "typedConfig": {"@type": "a/no.such.Message"}}}}}]}}`, want: `filters.http[0]: not envoy.extensions.filters.http.rbac.v3.RBAC as JSON: proto: (line 1:77): unable to resolve "a/no.such.Message": "not found"`, deep: true},
		"invalid network":      {answer: `{"id": ID, "filters": {"network": [{"rules": {"policies": {"p": {"permissions": [{"any": true}]}}}}]}}`, want: "filters.network[0]: envoy.extensions.filters.network.rbac.v3.RBAC: invalid RBAC.Rules: embedded message failed validation | caused by: invalid RBAC.Policies[p]: embedded message failed validation | caused by: invalid Policy.Principals: value must contain at least 1 item(s)", deep: true},
		"invalid http":         {answer: `{"id": ID, "filters": {"http": [{"rules": {"action": "LOG", "policies": {"p": {"permissions": [], "principals": [{"any": true}]}}}}]}}`, want: "filters.http[0]: envoy.extensions.filters.http.rbac.v3.RBAC: invalid RBAC.Rules: embedded message failed validation | caused by: invalid RBAC.Policies[p]: embedded message failed validation | caused by: invalid Policy.Permissions: value must contain at least 1 item(s)", deep: true},
		"http on tcp":          {answer: `{"id": ID, "filters": {"http": [{}]}}`, want: "filters: a tcp inbound takes network filters only", deep: true, protocol: policy.TCP},
		"route is text":        {answer: `{"id": ID, "filters": {"http": [{}], "routes": ["a"]}}`, want: `filters.routes[0]: want an object, got "\"a\""`},
		"route has no name":    {answer: `{"id": ID, "filters": {"http": [{}], "routes": [{"rbac": {}}]}}`, want: "filters.routes[0]: name is missing: want the name of a route"},
		"route has no filter":  {answer: `{"id": ID, "filters": {"http": [{}], "routes": [{"name": "first"}]}}`, want: "filters.routes[0]: rbac is missing: want a filter"},
		"route has a match":    {answer: `{"id": ID, "filters": {"http": [{}], "routes": [{"name": "first", "rbac": {}, "match": {}}]}}`, want: `filters.routes[0]: unknown field "match": there are name, rbac`, deep: true},
		"invalid in a route":   {answer: `{"id": ID, "filters": {"http": [{}], "routes": [{"name": "first", "rbac": {"rules": {"policies": {"p": {` + principal + `}, "q": {}}}}}]}}`, want: "filters.routes[0]: rbac: envoy.extensions.filters.http.rbac.v3.RBAC: invalid RBAC.Rules", deep: true},
		"unknown route":        {answer: `{"id": ID, "filters": {"http": [{}], "routes": [{"name": "zeroth", "rbac": {}}]}}`, want: `filters.routes[0].name: the inbound has no route "zeroth"`, deep: true},
		"route twice":          {answer: `{"id": ID, "filters": {"http": [{}], "routes": [{"name": "first", "rbac": {}}, {"name": "first", "rbac": {}}]}}`, want: `filters.routes[1].name: route "first" appears twice`, deep: true},
		"route of nothing":     {answer: `{"id": ID, "filters": {"routes": [{"name": "first", "rbac": {}}]}}`, want: `filters.routes[0]: filters.http has no filter that a route could replace`, deep: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := backend
			in.Protocol = tt.protocol
			_, err := c.Compile(t.Context(), in, dialecttest.Documents(t, "answer: "+strconv.Quote(tt.answer)), language.Options{})
			var broken *Error
			if !errors.As(err, &broken) || !errors.Is(err, ErrAnswer) || !broken.Broken() {
				t.Fatalf("got %v, want a bad answer", err)
			}
			if broken.Asked != "backend/http-port under p.yaml:1" {
				t.Errorf("it was asked for %q", broken.Asked)
			}
			if got, want := broken.Err.Error(), "bad answer: "+tt.want; !strings.HasPrefix(got, want) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if valid := conforms(answers, []byte(strings.ReplaceAll(tt.answer, "ID", "1"))) == nil; valid != tt.deep {
				t.Errorf("the schema accepts it: %t, want %t", valid, tt.deep)
			}
		})
	}
}

func TestSoundAnswers(t *testing.T) {
	t.Parallel()
	c := start(t, helper("parrot"))
	answers := schema(t, "answer")
	for name, tt := range map[string]struct{ answer, err, routes string }{
		"refused":                             {answer: `{"id": ID, "error": "spec.rules[0]: it is refused"}`, err: "spec.rules[0]: it is refused"},
		"nothing":                             {answer: `{"id": ID, "filters": {}}`},
		"white space":                         {answer: ` { "filters" : { "network" : [ ] } , "id" : ID } `},
		"type of another package":             {answer: `{"id": ID, "filters": {"network": [{"rules": {"policies": {"p": {"permissions": [{"any": true}], "principals": [{"custom": {"name": "m", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.rbac.principals.mtls_authenticated.v3.Config", "any_validated_client_certificate": true}}}]}}}}]}}`},
		"the first route":                     {answer: `{"id": ID, "filters": {"http": [{"rules": {}}], "routes": [{"name": "first", "rbac": {}}]}}`, routes: "first false"},
		"route in between has inbound filter": {answer: `{"id": ID, "filters": {"http": [{"rules": {}, "trackPerRuleStats": true}], "routes": [{"name": "third", "rbac": {}}, {"name": "first", "rbac": {}}]}}`, routes: "first false, second true, third false"},
		"route with two filters":              {answer: `{"id": ID, "filters": {"http": [{"rules": {}}, {"rules": {"action": "DENY"}}], "routes": [{"name": "second", "rbac": [{}, {"rules": {}}]}]}}`, routes: "first true, second false"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			filters, err := c.Compile(t.Context(), backend, dialecttest.Documents(t, "answer: "+strconv.Quote(tt.answer)), language.Options{})
			if got := fmt.Sprint(err); got != tt.err && (err != nil || tt.err != "") || isBroken(err) {
				t.Errorf("got %v, want %q", err, tt.err)
			}
			var routes []string
			for _, r := range filters.Routes {
				routes = append(routes, fmt.Sprint(r.Name, " ", r.HTTP[0].Rules != nil))
				if r.HTTP[0].TrackPerRuleStats {
					t.Errorf("route %s tracks rules", r.Name)
				}
			}
			if diff := cmp.Diff(tt.routes, strings.Join(routes, ", ")); diff != "" {
				t.Errorf("routes (-want +got):\n%s", diff)
			}
			validate(t, answers, []byte(strings.ReplaceAll(tt.answer, "ID", "1")))
		})
	}
}

// BenchmarkCompile measures the cost of the protocol: a request with a small policy,
// and an answer without filters.
func BenchmarkCompile(b *testing.B) {
	c, err := Start(context.Background(), helper("parrot"), Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	policies := dialecttest.Documents(b, `answer: '{"id": ID, "filters": {}}'`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Compile(context.Background(), backend, policies, language.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
