package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/authorizer"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/dialecttest"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/xds"
)

// TestPluginGivesWhatItsCompilerGives shows that the protocol loses nothing: through it, meshproof's own compiler
// gives the same filters and the same refusals for every case in both versions, and every line
// matches the schema. With -short the test takes every ninth case.
func TestPluginGivesWhatItsCompilerGives(t *testing.T) {
	t.Parallel()
	for version := Oldest; version <= Newest; version++ {
		t.Run(fmt.Sprint("version ", version), func(t *testing.T) {
			t.Parallel()
			givesWhatItsCompilerGives(t, version)
		})
	}
}

func givesWhatItsCompilerGives(t *testing.T, version int) {
	stories := casetest.Stories(t)
	c := start(t, helper("reference", fmt.Sprint(version)))
	if c.Name != "helper" || c.Version != "v1" {
		t.Errorf("it is called %q %q", c.Name, c.Version)
	}
	requests, answers := schema(t, "request"), schema(t, "answer")
	compared, refused, routed := 0, 0, 0
	for i, s := range stories {
		if testing.Short() && i%9 != 0 {
			continue
		}
		inbounds := []policy.Inbound{backend}
		for _, in := range s.Inbounds {
			inbounds = append(inbounds, in.Inbound)
		}
		if version == 1 {
			// Version 1 has no word for the service account of a workload.
			for i := range inbounds {
				inbounds[i].Workload.ServiceAccount = ""
			}
			s.Options.Peers = slices.Clone(s.Options.Peers)
			for i := range s.Options.Peers {
				s.Options.Peers[i].Workload.ServiceAccount = ""
			}
		}
		for _, in := range inbounds {
			ask, err := newRequest(version, 7, in, s.Policies, s.Options)
			if err != nil {
				t.Fatal(err)
			}
			validate(t, requests, ask)
			want, refusal := suite.CompileOne(t.Context(), suite.Reference, in, s.Policies, s.Options)
			if version == 1 && (len(want.NetworkAsks)+len(want.HTTPAsks) > 0 || want.RoutesOnly) {
				continue // version 1 has no authorizer, and no route that the inbound has not
			}
			for _, asks := range []map[int]authorizer.Authorizer{want.NetworkAsks, want.HTTPAsks} {
				for i, a := range asks {
					a.Unreachable, a.StatusOnError = false, a.StatusOnError*min(1, len(want.HTTP))
					asks[i] = a
				}
			}
			got, err := c.Compile(t.Context(), in, s.Policies, s.Options)
			switch {
			case refusal != nil:
				// The texts name places in different files.
				if err == nil || isBroken(err) {
					t.Errorf("%s: %s: got %v, want %v", s.Name, in, err, refusal)
				}
				refused++
			case err != nil || !equal(want, got):
				t.Errorf("%s: %s: got %v, %v\nwant %v", s.Name, in, got, err, want)
			default:
				raw, err := filtersJSON(want)
				if err != nil {
					t.Fatal(err)
				}
				validate(t, answers, fmt.Appendf(nil, `{"id": 7, "filters": %s}`, raw))
				compared++
				routed += min(1, len(want.Routes))
			}
		}
	}
	if compared < 100 || refused < 10 || version > 1 && routed == 0 {
		t.Errorf("%d compared, %d refused, %d with routes: that proves little", compared, refused, routed)
	}
}

// equal does not use cmp, because cmp is slow for deep lists.
func equal(a, b xds.Filters) bool {
	return slices.EqualFunc(a.Messages(), b.Messages(), proto.Equal) && maps.Equal(a.NetworkAsks, b.NetworkAsks) && maps.Equal(a.HTTPAsks, b.HTTPAsks) && a.RoutesOnly == b.RoutesOnly &&
		slices.EqualFunc(a.Routes, b.Routes, func(a, b xds.Route) bool { return a.Name == b.Name && proto.Equal(a.Match, b.Match) })
}

// TestDocumented checks the messages in the document with the schema.
func TestDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "compilers.md"))
	if err != nil {
		t.Fatal(err)
	}
	message, err := jsonschema.NewCompiler().Compile("protocol.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	messages := regexp.MustCompile("(?s)[→←] (.*?)\n(?:\n|←|```)").FindAllSubmatch(bytes.ReplaceAll(text, []byte("\n←"), []byte("\n\n←")), -1)
	for _, m := range messages {
		validate(t, message, m[1])
	}
	if len(messages) != 6 {
		t.Errorf("%d messages", len(messages))
	}
}

func TestGreetingsMatchSchema(t *testing.T) {
	t.Parallel()
	first, err := encodeLine(newHello("v1"))
	if err != nil {
		t.Fatal(err)
	}
	validate(t, schema(t, "hello"), first)
	validate(t, schema(t, "greeting"), []byte(sound))
}

// TestDefaults compares the defaults in a request with the defaults of the reference.
func TestDefaults(t *testing.T) {
	t.Parallel()
	told, err := OptionsJSON(language.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"kumaOption":1,"shadowForm":"accepted","systemNamespace":"kuma-system","legacyCompiler":"compact","istio":{"rootNamespace":"istio-system","trustDomainAliases":[],"normalization":"DEFAULT"},"cilium":{"policyEnforcement":"default","policyAuditMode":false,"clusterName":"default","namespaceLabels":{}},"linkerd":{"defaultInboundPolicy":"all-unauthenticated","identityDomain":"cluster.local","controlPlaneNamespace":"linkerd","loopbackBypass":false,"clusterNetworks":["10.0.0.0/8","100.64.0.0/10","172.16.0.0/12","192.168.0.0/16","fd00::/8"],"annotations":{}},"trustDomain":"` + casefile.DefaultTrustDomain + `"}`
	if diff := cmp.Diff(want, string(told)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	docs := dialecttest.Documents(t, `
apiVersion: kuma.io/v1alpha1
kind: MeshTrafficPermission
metadata: {name: p, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec: {default: {allow: [{spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/a}}]}}
`)
	implicit := language.Options{}
	explicit := language.Options{Document: dialecttest.Documents(t, "systemNamespace: kuma-system")[0]}
	other := language.Options{Document: dialecttest.Documents(t, "systemNamespace: elsewhere")[0]}
	program := func(opts language.Options) string {
		set, err := dialect.Parse(docs, opts)
		if err != nil {
			t.Fatal(err)
		}
		return set.Program(backend).String()
	}
	if program(implicit) != program(explicit) || program(implicit) == program(other) {
		t.Errorf("without a system namespace:\n%s\nwith it:\n%s\nwith another:\n%s", program(implicit), program(explicit), program(other))
	}
}

// TestPoliciesAsWritten shows that absent, empty and null stay different, and that numbers
// do not change.
func TestPoliciesAsWritten(t *testing.T) {
	t.Parallel()
	docs := dialecttest.Documents(t, `{empty: [], none: , object: {}, text: "8080", int: 8080, big: 9007199254740993, float: 1.5, "no": false, html: "<&>", utf8: "ü"}`)
	ask, err := newRequest(Newest, 1, backend, docs, language.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const want = `"policies":[{"big":9007199254740993,"empty":[],"float":1.5,"html":"<&>","int":8080,"no":false,"none":null,"object":{},"text":"8080","utf8":"ü"}]`
	if !bytes.Contains(ask, []byte(want)) || bytes.Count(ask, []byte("\n")) != 1 || !bytes.HasSuffix(ask, []byte("\n")) {
		t.Errorf("got %s\nwant %s in it, on one line", ask, want)
	}
	if _, err := newRequest(Newest, 1, backend, dialecttest.Documents(t, "{a: .nan}"), language.Options{}); !errors.As(err, new(*UnaskedError)) {
		t.Errorf(".nan was sent as JSON, or refused by a compiler that was not asked: %v", err)
	}
}

// TestRoutesByVersion shows that version 2 tells a route by any attribute, and that version 1
// fails where it would lose a match. That is no refusal of the policies.
func TestRoutesByVersion(t *testing.T) {
	t.Parallel()
	get, path := attribute.Method.Exact("GET"), attribute.Path.Segments("/a")
	for name, tt := range map[string]struct {
		when     policy.Condition
		one, two string
	}{
		"path and method": {when: policy.And{path, get},
			one: `"path":{"type":"Prefix","value":"/a"},"method":"GET"`,
			two: `"when":[{"attribute":"path","kind":"Segments","value":"/a"},{"attribute":"method","kind":"Exact","value":"GET"}]`},
		"query parameter": {when: policy.And{get, attribute.QueryParameter("id").Exact("7")},
			two: `"when":[{"attribute":"method","kind":"Exact","value":"GET"},{"attribute":"query-parameter","key":"id","kind":"Exact","value":"7"}]`},
		"header in any case": {when: policy.Is{Attribute: attribute.Header("x-role"), Match: policy.Match{Kind: policy.Suffix, Value: "admin", AnyCase: true}},
			two: `"when":[{"attribute":"header","key":"x-role","kind":"Suffix","value":"admin","anyCase":true}]`},
		"two paths":      {when: policy.And{path, attribute.Path.Exact("/a")}, two: `{"attribute":"path","kind":"Exact","value":"/a"}`},
		"method prefix":  {when: attribute.Method.Prefix("GE"), two: `{"attribute":"method","kind":"Prefix","value":"GE"}`},
		"either of two":  {when: policy.Or{path, get}},
		"all but a path": {when: policy.Not{Condition: path}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := backend
			in.Routes = []policy.InboundRoute{{Name: "first", When: tt.when}}
			for version, want := range map[int]string{1: tt.one, 2: tt.two} {
				ask, err := newRequest(version, 1, in, nil, language.Options{})
				switch unasked := (*UnaskedError)(nil); {
				case want == "" && (!errors.As(err, &unasked) || !unasked.Unread()):
					t.Errorf("version %d: got %s, %v; want an error", version, ask, err)
				case want != "" && (err != nil || !bytes.Contains(ask, []byte(want))):
					t.Errorf("version %d: got %s, %v\nwant %s in it", version, ask, err, want)
				case want != "":
					validate(t, schema(t, "request"), ask)
				}
			}
			c := start(t, helper("reference", "1"))
			if _, err := c.Compile(t.Context(), in, nil, language.Options{}); tt.one == "" && (isBroken(err) || !errors.As(err, new(*UnaskedError))) {
				t.Errorf("the compiler of version 1 was asked: %v", err)
			}
		})
	}
}

var backend = policy.Inbound{
	Workload: policy.Workload{Name: "backend", Namespace: "default", Mesh: "default"}, Name: "http-port", Port: 8080,
	Routes: []policy.InboundRoute{{Name: "first", When: attribute.Path.Exact("/a")}, {Name: "second", When: attribute.Method.Exact("GET")}, {Name: "third", When: attribute.Method.Exact("PUT")}},
}

func start(t *testing.T, command []string) *Compiler {
	t.Helper()
	c, err := Start(context.Background(), command, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// schema compiles one message of the schema.
func schema(t *testing.T, message string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile("protocol.schema.json#/$defs/" + message)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, line []byte) {
	t.Helper()
	if err := conforms(s, line); err != nil {
		t.Errorf("%.500s\n%v", line, err)
	}
}

func conforms(s *jsonschema.Schema, line []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return fmt.Errorf("more than one value: %v", err)
	}
	return s.Validate(v)
}
