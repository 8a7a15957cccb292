package casewriter_test

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/casewriter"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// rewrite writes a case and reads it back.
func rewrite(t testing.TB, c cases.Case) cases.Case {
	t.Helper()
	return casetest.Parse(t, string(casewriter.YAML(c)))
}

// checkYAML passes over a case with a Dataplane: it is written as a workload, which has a namespace and an account.
func checkYAML(t testing.TB, c cases.Case) {
	t.Helper()
	if hasDataplane(c) {
		return
	}
	got := rewrite(t, c)
	if diff := cmp.Diff(c, got, sameButNames); diff != "" {
		t.Errorf("%s (-want +got):\n%s\nwritten as\n%s", c.Place, diff, casewriter.YAML(c))
	}
	if first, second := string(casewriter.YAML(c)), string(casewriter.YAML(got)); first != second {
		t.Errorf("%s: written again it reads otherwise:\n%s", c.Place, cmp.Diff(first, second))
	}
}

// hasDataplane reports whether an inbound is of a Dataplane: no policy knows it as a peer.
func hasDataplane(c cases.Case) bool {
	return slices.ContainsFunc(c.Inbounds, func(in cases.Inbound) bool {
		return !slices.ContainsFunc(c.Options.Peers, func(p language.Peer) bool { return p.Workload.Name == in.Workload.Name })
	})
}

func TestYAMLOfStories(t *testing.T) {
	t.Parallel()
	for _, c := range casetest.Stories(t) {
		checkYAML(t, c)
	}
}

// TestYAMLReads shows what is written, for each part of a case.
func TestYAMLReads(t *testing.T) {
	t.Parallel()
	const want = `case: every part, as it is written
story: all-of-it
features: [MTPShadow]
envoy: {from: 1.37.0, before: 1.39.3}
trustDomains: [a.mesh, b.mesh]
options: {kumaOption: 2, shadowForm: precise, systemNamespace: control, legacyCompiler: full, pathNormalization: {normalizePath: false, mergeSlashes: false, escapedSlashes: keep}}
workloads:
  - name: backend
    namespace: shop
    serviceAccount: api
    mesh: prod
    zone: east
    origin: zone
    labels: {app: backend, kuma.io/zone: "1"}
    ip: 10.1.2.3
    inbounds:
      - {name: api, port: 8080, protocol: http2, mtls: permissive, tags: {version: v1}, routes: [{name: r, path: {type: Prefix, value: /x}, method: GET}]}
      - {port: 5432, protocol: tcp}
  - name: web
    identity: spiffe://b.mesh/web
    inbounds:
      - {port: 80}
callers:
  caller: {expired: true}
  x-and-y: {uris: [spiffe://b.mesh/x, "spiffe://a.mesh/y,z"], dns: [x.mesh], signedBy: c.mesh, sourceIP: 10.9.9.9}
tokens:
  alice: {issuer: https://a.example, subject: alice, audience: api, claims: {iat: 1, realm: {roles: [dev, 7, true, null, 1.5]}}}
  bob: {claims: {aud: [a, b]}, twice: {aud: c}, signedBy: https://b.example, expired: true}
policies:
  - type: MeshTrafficPermission
    name: p
    spec:
      default:
        allow:
          - method: GET
        deny: []
  - type: MeshTrafficPermission
    name: "no"
requests:
  - {from: web, to: backend/api, method: PUT, path: [/x, "/x?y", {base64: "L3g//w=="}], headers: {a: "2", b: ""}, want: allow, by: ""}
  - {from: spiffe://b.mesh/web, to: backend/5432, want: close}
  - {from: x-and-y, to: backend/api, headers: [{b: "1"}, {a: "2"}, {b: {base64: YWRtaW7/}}], sourceIP: 10.8.8.8, want: 403, by: default, shadow: deny, shadowBy: k}
  - {from: caller, to: web/80, path: {base64: "L3g//w=="}, want: 400}
  - {from: caller, to: web/80, authority: "shop:1", want: handshake-failure}
  - {from: web, to: web/80, token: alice, want: allow}
  - {from: web, to: web/80, token: bob, want: 401}
  - {from: plaintext, to: web/80, want: deny, shadow: none}
counters:
  backend/api: {allowed: 1, denied: 0, shadow_allowed: 3, rules: {"a: b": {denied: 2}, k: {shadow_denied: 1}}}
  web/80: {rules: {k: {allowed: 0}}}
expectWarning: "yes: one"
`
	c := casetest.Parse(t, want)
	if diff := cmp.Diff(want, string(casewriter.YAML(c))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	checkYAML(t, c)
}

// TestYAMLTellsAbsentFromEmpty shows that an empty list or text is not left out.
func TestYAMLTellsAbsentFromEmpty(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"case: x\nexpectWarning: []\n",
		"case: x\nfeatures: []\npolicies: []\nexpectWarning: [a, b]\n",
		"case: x\npolicies: [null, {}, [], a, 1, 1.50, 'true', true, {a: }]\nexpectError: 'x: y'\n",
		prelude + "  - {from: w, to: w/80, want: deny}\n",
		prelude + "  - {from: w, to: w/80, want: deny, by: '', shadowBy: ''}\n",
		"case: x\nworkloads: [{name: w, labels: {}, inbounds: [{port: 80, tags: {}}, {port: 81, tags: {a: ''}}]}]\nexpectWarning: []\n",
		"case: x\nworkloads: [{name: w, inbounds: [{port: 80}]}]\ncallers: {a: {uris: []}, b: {dns: []}, c: {}}\nrequests: [{from: [a, b, c], to: w/80, want: allow}]\n",
	} {
		checkYAML(t, casetest.Parse(t, text))
	}
}

// TestYAMLNamesCallers shows that an entry keeps a valid name, and gets a name otherwise.
func TestYAMLNamesCallers(t *testing.T) {
	t.Parallel()
	c := casetest.Parse(t, prelude+"  - {from: w, to: w/80, want: allow}\n")
	forged := func(name string, uris ...string) {
		caller := cases.Caller{Name: name, Template: certs.Template{URIs: uris}, SignedBy: c.TrustDomains[0]}
		c.Requests = append(c.Requests, cases.Request{From: caller, To: "w/80", Want: cases.Deny})
	}
	const td = "spiffe://trust-domain.mesh/"
	forged("spiffe://trust-domain.mesh/a + spiffe://trust-domain.mesh/b", td+"a", td+"b")
	forged("", td+"x/a", td+"x/b")
	forged("twofold", td+"a", td+"c")
	forged("w", td+"not-w")
	forged(td+"a", td+"b")
	forged("plaintext", "", "%zz?", "///", " ,")
	forged("", strings.Repeat("x", 100))
	forged("again: twofold, and more", td+"a", td+"c")
	c.Requests[0].From.Name = "spiffe://trust-domain.mesh/ns/default/sa/w"
	var got []string
	for _, q := range rewrite(t, c).Requests {
		got = append(got, q.From.Name)
	}
	want := []string{"w-2", "a-and-b", "a-and-b-2", "twofold", "w-3", "b", "zz", "caller", "twofold"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	checkYAML(t, c)
}

// TestYAMLOfOddTexts has texts in every field that YAML would read as something else.
func TestYAMLOfOddTexts(t *testing.T) {
	t.Parallel()
	odd := []string{
		"yes", "No", "null", "~", "true", "1", "1.5", "0x1f", ".nan", "1e3", "2001-01-01", "1:30", "- a", "a: b", "a:", "a #b", "#", "{}", "[a]", "a, b",
		"&a", "*a", "!a", "|", ">", "%a", "@a", "`a", "'", `"`, `\`, `\n`, "\n", "\r\n", "\t", " a", "a ", "\x00", "\x7f", "\u0085", "\u2028", "\ufeff", "é", "\U0001f600", "---", "...",
		"a\n---\nb", "?", "? a", "<<", "=", "spiffe://a/b,c", "a/b:c", "a:/", "1.2.3", "1.2.3.4", "x}", "]", "case: x", "on", "y", "a  b", "a - b", "a, b, c",
	}
	for _, s := range odd {
		c := casetest.Parse(t, prelude+"  - {from: w, to: w/80, path: /, want: deny}\n")
		c.Name, c.Story, c.ExpectWarnings = s, s, []string{"w" + s, s + "w"}
		c.Options.Document = document(t, "systemNamespace: "+strconv.Quote(s))
		for i := range c.Inbounds {
			c.Inbounds[i].Workload.Labels = map[string]string{s: s, "a": s}
			c.Inbounds[i].Workload.Zone = s
			c.Options.Peers[0].Workload = c.Inbounds[i].Workload
		}
		c.Inbounds[0].Tags = map[string]string{s: s}
		q := c.Requests[0]
		q.By, q.ShadowBy = &s, &s
		q.From = cases.Caller{Name: s, Template: certs.Template{URIs: []string{s, s}, DNS: []string{s}}, SignedBy: c.TrustDomains[0], SourceIP: netip.MustParseAddr("10.0.0.1")}
		q.SourceIP = q.From.SourceIP
		c.Requests = append(c.Requests, q)
		checkYAML(t, c)
	}
}

// TestYAMLOfOddWorkloads has inbounds and routes with names of any kind.
func TestYAMLOfOddWorkloads(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"a: b", "1", "true", "a/b", "a,b", `"`, "{", "-", "w\n"} {
		c := casetest.Parse(t, `
case: x
trustDomains: [a.mesh]
workloads: [{name: w, identity: spiffe://a.mesh, inbounds: [{name: i, port: 80, routes: [{name: r, method: GET}, {name: s, path: {type: Exact, value: "/a,b"}}]}]}]
requests: [{from: anonymous, to: w/i, want: handshake-failure}]
counters: {w/i: {denied: 0}}
`)
		in := &c.Inbounds[0]
		in.Workload.Name, in.Name, in.Routes[0].Name = s, s, s
		c.Options.Peers[0].Workload.Name, c.Options.Peers[0].Workload.ServiceAccount, in.Workload.ServiceAccount = s, "w", "w"
		c.Requests[0].To, c.Counters[0].Inbound = in.String(), in.String()
		checkYAML(t, c)
	}
}

// TestYAMLOfAnyText draws texts from characters with a meaning in YAML.
func TestYAMLOfAnyText(t *testing.T) {
	t.Parallel()
	const signs = "aZ09 _./-:,;?*&!|>'\"%@`#{}[]\\~=+\n\té"
	alphabet := []rune(signs)
	random := rand.New(rand.NewPCG(1, 2))
	for range 2_000 {
		text := make([]rune, 1+random.IntN(6))
		for i := range text {
			text[i] = alphabet[random.IntN(len(alphabet))]
		}
		c := cases.Case{Name: string(text), Story: string(text), ExpectWarnings: []string{"w" + string(text)}}
		got := rewrite(t, c)
		if got.Name != c.Name || got.Story != c.Story || got.ExpectWarnings[0] != c.ExpectWarnings[0] {
			t.Fatalf("%q became %q, %q, %q in\n%s", c.Name, got.Name, got.Story, got.ExpectWarnings, casewriter.YAML(c))
		}
	}
}

// FuzzYAML writes and reads every input that is a case.
func FuzzYAML(f *testing.F) {
	for i, c := range casetest.Stories(f) {
		// TestYAMLOfStories asks the same of every story.
		if len(c.Source) < 4<<10 && (i%8 == 0 || !testing.Short()) {
			f.Add([]byte(c.Source))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := cases.Parse("f.yaml", data)
		if err != nil {
			return
		}
		for _, c := range all {
			checkYAML(t, c)
		}
	})
}

func BenchmarkYAML(b *testing.B) {
	var largest cases.Case
	for _, c := range casetest.Stories(b) {
		if len(c.Source) > len(largest.Source) {
			largest = c
		}
	}
	b.SetBytes(int64(len(casewriter.YAML(largest))))
	for b.Loop() {
		casewriter.YAML(largest)
	}
}

// prelude begins a case up to its requests.
const prelude = `case: x
workloads: [{name: w, inbounds: [{port: 80, protocol: http}, {port: 81, protocol: tcp}, {port: 82, protocol: grpc}]}]
requests:
`

// sameButNames compares cases by all that a written case keeps. Policies are compared by their text.
var sameButNames = cmp.Options{
	cmpopts.EquateComparable(spiffeid.ID{}, spiffeid.TrustDomain{}, netip.Addr{}, cases.Want{}),
	cmp.Transformer("YAML", func(d manifest.Document) string { return string(d.YAML()) }),
	cmpopts.IgnoreFields(cases.Case{}, "Source", "Place"),
	cmpopts.IgnoreFields(cases.Request{}, "Place"),
	cmpopts.IgnoreFields(casefile.RoutedRequest{}, "Place"),
	cmpopts.IgnoreFields(cases.Caller{}, "Name"),
}

func document(t testing.TB, text string) manifest.Document {
	t.Helper()
	docs, err := manifest.Parse("d.yaml", []byte(text))
	if err != nil || len(docs) != 1 {
		t.Fatalf("%s: %d documents, %v", text, len(docs), err)
	}
	return docs[0]
}
