package plugins

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/feature"
)

var istio = newProject("istio", "security.istio.io", feature.IstioAuthz, "IstioLimits")

// TestIstio runs the cases of Istio with the filters that istiod makes.
func TestIstio(t *testing.T) {
	t.Parallel()
	istio.agree(t)
}

// values stand for each field and each key. Each of them is odd for one of them.
var values = []string{
	`""`, `"*"`, "a", `"a*"`, `"*a"`, `"*a*"`, `"a*b"`, `"**"`, "a/b", "/a", "a/", "a/b/c", "/", "A", "ü", `" "`, `"a b"`, `"a,b"`,
	"10.0.0.1", "10.0.0.0/8", "10.1.2.3/8", "10.0.0.0/33", "10.0.0", "010.0.0.1", `"::1"`, `"::/0"`, `"fe80::1%eth0"`, `"::ffff:10.0.0.1"`, `"::ffff:10.0.0.0/104"`,
	`"80"`, `"0"`, `"65535"`, `"65536"`, `"-1"`, `"+80"`, `"080"`, `"0x50"`, `"80.0"`, `"80-90"`, "80", "true", "null", "[a]", "{a: b}",
	`"/a/{*}"`, `"/a/{**}"`, `"/{**}/{*}"`, `"/{*}/{**}"`, `"/{**}/{**}"`, `"/{*}/{*}/b"`, `"{*}"`, `"{*}/a"`, `"/a{*}"`, `"/{*}a"`, `"/{a}"`, `"/a}"`, `"{"`, `"/{*}/a*"`, `"/{*}/?"`, `"/{*}/ü"`, `"/{*}//a"`, `"/{*}/"`,
	`"spiffe://td/ns/a/sa/b"`, "td/ns/a/sa/b", `"td/ns/*/sa/b"`, "a.b", `"a:80"`, `"[::1]"`, `"https://issuer/subject"`,
	`"` + strings.Repeat("a", 320) + `"`, `"` + strings.Repeat("a", 321) + `"`, `"/` + strings.Repeat("a", 254) + `/{*}"`,
}

var (
	sources    = []string{"principals", "requestPrincipals", "namespaces", "serviceAccounts", "ipBlocks", "remoteIpBlocks", "trustDomains"}
	operations = []string{"hosts", "ports", "methods", "paths"}
	// keys are those of when. The first ones are sound.
	keys = []string{
		"source.principal", "source.namespace", "source.serviceAccount", "source.trustDomain", "source.ip", "remote.ip", "destination.ip", "destination.port", "connection.sni",
		"request.headers[x-a]", "request.auth.principal", "request.auth.audiences", "request.auth.presenter", "request.auth.claims[a]", "request.auth.claims[a][b]", "experimental.envoy.filters.a.b[c]",
	}
	oddKeys = []string{
		"", "null", "a", "source", "source.", "source.ips", "source.names", "source.labels[a]", "destination.name", "destination.user", "destination.namespace", "destination.labels[a]", "destination.labels", "destination.service", "connection.snis",
		"request", "request.headers", "request.headers[]", "request.headers[a", "request.headers[a]b", "request.headers[a][b]", "request.headers[a b]", "request.headers[[a]]", "request.headersx[a]", "request.headers [a]", "request.headers[A]", "request.headers[:path]", "request.headers[:authority]", "request.headers[host]", "request.headers[:scheme]", "request.headers[ü]", "request.headers[content-length]",
		"request.auth", "request.auth.claims", "request.auth.claims[]", "request.auth.claims[a", "request.auth.claims[a]b", "request.auth.claims[a]b[c]", "request.auth.claims[[a]]", "request.auth.claims[a][]", "request.auth.claims[scope]", "request.auth.claims[a.b]", "request.auth.claimsx[a]", "request.auth.subject", "request.path", "request.method",
		"experimental.envoy.filters", "experimental.envoy.filters.a", "experimental.envoy.filters.[a]", "Source.ip", " source.ip",
	}
	// specs are of any shape. In heads the spec is sound.
	specs = []string{
		"{}", "null", "[]", "a", "{a: b}", "{rules: null}", "{rules: []}", "{rules: {}}", "{rules: [null]}", "{rules: [[]]}", "{rules: [{}]}", "{rules: [a]}", "{rules: [{a: b}]}", "{rules: [{}, {}], action: null}",
		"{rules: [{from: null}]}", "{rules: [{from: []}]}", "{rules: [{from: {}}]}", "{rules: [{from: [null]}]}", "{rules: [{from: [{}]}]}", "{rules: [{from: [{source: null}]}]}", "{rules: [{from: [{source: {}}]}]}", "{rules: [{from: [{source: []}]}]}", "{rules: [{from: [{sources: {}}]}]}", "{rules: [{from: [{source: {principals: []}}]}]}",
		"{rules: [{from: [{source: {principals: null}}]}]}", "{rules: [{from: [{source: {principals: a}}]}]}", "{rules: [{from: [{source: {principal: [a]}}]}]}", "{rules: [{from: [{source: {principals: [a]}, operation: {methods: [GET]}}]}]}", "{rules: [{from: [{source: {notPrincipals: []}}]}]}", "{rules: [{from: [{source: {not_principals: [a]}}]}]}", "{rules: [{from: [{source: {ip_blocks: [10.0.0.1]}}]}]}", "{rules: [{from: [{source: {not_ip_blocks: [10.0.0.1]}}]}]}", "{rules: [{from: [{source: {notIPBlocks: [10.0.0.1]}}]}]}",
		"{rules: [{to: null}]}", "{rules: [{to: []}]}", "{rules: [{to: {}}]}", "{rules: [{to: [null]}]}", "{rules: [{to: [{}]}]}", "{rules: [{to: [{operation: null}]}]}", "{rules: [{to: [{operation: {}}]}]}", "{rules: [{to: [{operations: {}}]}]}", "{rules: [{to: [{operation: {methods: []}}]}]}", "{rules: [{to: [{operation: {method: [GET]}}]}]}",
		"{rules: [{when: null}]}", "{rules: [{when: []}]}", "{rules: [{when: {}}]}", "{rules: [{when: [null]}]}", "{rules: [{when: [{}]}]}", "{rules: [{when: [{key: source.ip}]}]}", "{rules: [{when: [{key: source.ip, values: []}]}]}", "{rules: [{when: [{key: source.ip, values: null}]}]}", "{rules: [{when: [{key: source.ip, value: [a]}]}]}", "{rules: [{when: [{values: [a]}]}]}", "{rules: [{when: [{key: source.namespace, values: [a], notValues: [b]}]}]}", "{rules: [{when: [{key: source.namespace, not_values: [b]}]}]}", `{rules: [{when: [{key: source.namespace, values: [a], notValues: [""]}]}]}`,
		"{rules: [{from: [{source: {principals: [a], serviceAccounts: [a]}}]}]}", "{rules: [{from: [{source: {notPrincipals: [a], serviceAccounts: [a]}}]}]}", "{rules: [{from: [{source: {namespaces: [a], notServiceAccounts: [a]}}]}]}", "{rules: [{from: [{source: {notNamespaces: [a], notServiceAccounts: [a]}}]}]}", "{rules: [{from: [{source: {trustDomains: [a], serviceAccounts: [a]}}]}]}", "{rules: [{from: [{source: {principals: [], serviceAccounts: [a]}}]}]}",
		"{rules: [{from: [{source: {trustDomains: [a], principals: [a]}}]}]}", "{rules: [{from: [{source: {requestPrincipals: [a], serviceAccounts: [a]}}]}]}",
		"{rules: [{from: [{source: {serviceAccounts: [" + list(16, "a") + "]}}]}]}", "{rules: [{from: [{source: {serviceAccounts: [" + list(17, "a") + "]}}]}]}", "{rules: [{when: [{key: source.serviceAccount, values: [" + list(17, "a") + "]}]}]}", "{rules: [{from: [{source: {trustDomains: [" + list(17, "a") + "]}}]}]}",
		"{rules: [" + list(512, "{}") + "]}", "{rules: [" + list(513, "{}") + "]}", "{rules: [{from: [" + list(513, "{source: {namespaces: [a]}}") + "]}]}", "{rules: [{to: [" + list(513, "{operation: {methods: [GET]}}") + "]}]}",
		"{action: DENY}", "{action: DENY, rules: null}", "{action: DENY, rules: []}", "{action: DENY, rules: [null]}", "{action: AUDIT}", "{action: AUDIT, rules: [{}]}", "{action: deny, rules: [{}]}", `{action: "", rules: [{}]}`, "{action: LOG, rules: [{}]}", "{action: 1, rules: [{}]}", "{action: UNKNOWN}", "{actions: DENY, rules: [{}]}",
		"{action: CUSTOM}", "{action: CUSTOM, rules: []}", "{action: CUSTOM, rules: [{}]}", "{action: CUSTOM, provider: {name: a}}", "{action: CUSTOM, provider: {name: a}, rules: null}", "{action: CUSTOM, provider: {name: a}, rules: []}", "{action: CUSTOM, provider: {name: a}, rules: [{}]}", "{action: CUSTOM, provider: {name: a}, rules: [null]}", "{action: CUSTOM, provider: {}, rules: [{}]}", `{action: CUSTOM, provider: {name: ""}, rules: [{}]}`, "{action: CUSTOM, provider: {name: null}, rules: [{}]}", "{action: CUSTOM, provider: null, rules: [{}]}",
		"{provider: {name: a}}", "{provider: {}}", "{provider: null}", "{action: DENY, provider: {name: a}, rules: [{}]}", "{action: AUDIT, provider: {name: a}, rules: [{}]}",
	}
	// peerSpecs and requestSpecs are those of the other two kinds.
	peerSpecs = []string{
		"null", "{}", "{mtls: null}", "{mtls: {}}", "{mtls: {mode: null}}", `{mtls: {mode: ""}}`, "{mtls: {mode: strict}}", "{mtls: {mode: STRICT}}", "{mtls: {mode: UNSET}}", "{mtls: {mode: PERMISSIVE}}", "{mtls: {mode: DISABLE}}", "{mtls: {mode: MUTUAL}}", "{mtls: {mode: 1}}", "{mtls: STRICT}", "{mTLS: {mode: STRICT}}", "{mode: STRICT}", "{mtls: {mode: STRICT, a: b}}", "{rules: []}",
		"{portLevelMtls: {80: {mode: STRICT}}}", "{portLevelMtls: {}}", "{portLevelMtls: null}", "{selector: {matchLabels: {}}, portLevelMtls: {80: {mode: STRICT}}}", "{selector: {}, portLevelMtls: {80: {mode: STRICT}}}",
		"{selector: {matchLabels: {a: b}}, portLevelMtls: {80: {mode: STRICT}}}", "{selector: {matchLabels: {a: b}}, portLevelMtls: {}}", "{selector: {matchLabels: {a: b}}, portLevelMtls: null}", "{selector: {matchLabels: {a: b}}, portLevelMtls: {80: null}}", "{selector: {matchLabels: {a: b}}, portLevelMtls: {80: {}}}", "{selector: {matchLabels: {a: b}}, portLevelMtls: {80: {mode: strict}}}", `{selector: {matchLabels: {a: b}}, portLevelMtls: {"0": {mode: STRICT}}}`,
		`{selector: {matchLabels: {a: b}}, portLevelMtls: {"65535": {mode: STRICT}}}`, `{selector: {matchLabels: {a: b}}, portLevelMtls: {"65536": {mode: STRICT}}}`, `{selector: {matchLabels: {a: b}}, portLevelMtls: {"-1": {mode: STRICT}}}`, `{selector: {matchLabels: {a: b}}, portLevelMtls: {"080": {mode: STRICT}}}`, `{selector: {matchLabels: {a: b}}, portLevelMtls: {"+80": {mode: STRICT}}}`, `{selector: {matchLabels: {a: b}}, portLevelMtls: {"": {mode: STRICT}}}`, "{selector: {matchLabels: {a: b}}, portLevelMtls: {http: {mode: STRICT}}}", "{selector: {matchLabels: {a: b}}, portLevelMtls: [80]}", "{selector: {matchLabels: {a: b}}, mtls: {mode: UNSET}, portLevelMtls: {80: {mode: UNSET}}}",
		"{selector: {matchLabels: {a: b}}, portLevelMtls: {80: {mode: STRICT}, \"081\": {mode: DISABLE}}}",
	}
	requestSpecs = []string{
		"null", "{}", "{jwtRules: null}", "{jwtRules: []}", "{jwtRules: [null]}", "{jwtRules: [{}]}", "{jwtRules: {}}", "{jwtRule: []}", `{jwtRules: [{issuer: ""}]}`, "{jwtRules: [{issuer: null}]}", "{jwtRules: [{issuer: a}]}", "{jwtRules: [{issuer: a}, {issuer: a}]}", "{jwtRules: [{issuer: 1}]}", "{jwtRules: [{issuer: a, issuers: b}]}",
		"{jwtRules: [{issuer: a, audiences: null}]}", "{jwtRules: [{issuer: a, audiences: []}]}", "{jwtRules: [{issuer: a, audiences: [a]}]}", `{jwtRules: [{issuer: a, audiences: [""]}]}`, "{jwtRules: [{issuer: a, audiences: a}]}", "{jwtRules: [{issuer: a, audiences: [null]}]}",
		`{jwtRules: [{issuer: a, jwksUri: "https://a.example/keys"}]}`, `{jwtRules: [{jwksUri: "https://a.example/keys"}]}`, `{jwtRules: [{issuer: a, jwksUri: "ftp://a.example/keys"}]}`, "{jwtRules: [{issuer: a, jwksUri: keys}]}", `{jwtRules: [{issuer: a, jwksUri: ""}]}`, `{jwtRules: [{issuer: a, jwksUri: "https://a.example:x/keys"}]}`, `{jwtRules: [{issuer: a, jwksUri: "https://"}]}`,
		"{jwtRules: [{issuer: a, jwks: x}]}", `{jwtRules: [{issuer: a, jwks: '{"keys": []}'}]}`, `{jwtRules: [{issuer: a, jwks: ""}]}`, `{jwtRules: [{issuer: a, jwks: '{"keys": []}', jwksUri: "https://a.example/keys"}]}`,
		"{jwtRules: [{issuer: a, forwardOriginalToken: true}]}", `{jwtRules: [{issuer: a, forwardOriginalToken: "true"}]}`, "{jwtRules: [{issuer: a, timeout: 5s}]}", "{jwtRules: [{issuer: a, timeout: 5}]}", "{jwtRules: [{issuer: a, timeout: 0s}]}", "{jwtRules: [{issuer: a, timeout: 500us}]}", "{jwtRules: [{issuer: a, timeout: 1.5ms}]}", "{jwtRules: [{issuer: a, timeout: -1s}]}",
		"{jwtRules: [{issuer: a, fromHeaders: []}]}", "{jwtRules: [{issuer: a, fromHeaders: [{name: x-a}]}]}", `{jwtRules: [{issuer: a, fromHeaders: [{name: x-a, prefix: "Bearer "}]}]}`, `{jwtRules: [{issuer: a, fromHeaders: [{name: ""}]}]}`, "{jwtRules: [{issuer: a, fromHeaders: [{}]}]}", "{jwtRules: [{issuer: a, fromHeaders: [null]}]}", "{jwtRules: [{issuer: a, fromHeaders: [x-a]}]}",
		"{jwtRules: [{issuer: a, fromParams: []}]}", "{jwtRules: [{issuer: a, fromParams: [t]}]}", `{jwtRules: [{issuer: a, fromParams: [""]}]}`, "{jwtRules: [{issuer: a, fromCookies: [t]}]}", `{jwtRules: [{issuer: a, fromCookies: [""]}]}`,
		"{jwtRules: [{issuer: a, outputPayloadToHeader: x-a}]}", `{jwtRules: [{issuer: a, outputPayloadToHeader: ""}]}`, "{jwtRules: [{issuer: a, outputClaimToHeaders: []}]}", "{jwtRules: [{issuer: a, outputClaimToHeaders: [{header: x-a, claim: b}]}]}", "{jwtRules: [{issuer: a, outputClaimToHeaders: [{header: x-a}]}]}", "{jwtRules: [{issuer: a, outputClaimToHeaders: [{claim: b}]}]}", `{jwtRules: [{issuer: a, outputClaimToHeaders: [{header: "x a", claim: b}]}]}`, "{jwtRules: [{issuer: a, outputClaimToHeaders: [null]}]}",
		`{jwtRules: [{issuer: a, outputClaimToHeaders: [{header: x.a, claim: b}]}]}`, `{jwtRules: [{issuer: a, outputClaimToHeaders: [{header: "x~", claim: b}]}]}`, "{jwtRules: [{issuer: a, outputClaimToHeaders: [{header: X_a, claim: b}]}]}", "{jwtRules: [{issuer: a, outputPayloadToHeader: x.a}]}", "{jwtRules: [{issuer: a, fromHeaders: [{name: x.a}]}]}",
		"{jwtRules: [{issuer: a, spaceDelimitedClaims: [" + list(64, "a") + "]}]}", "{jwtRules: [{issuer: a, spaceDelimitedClaims: [" + list(65, "a") + "]}]}",
		`{jwtRules: [{issuer: a, jwksUri: "https://a#b"}]}`, `{jwtRules: [{issuer: a, jwksUri: "http:a"}]}`, `{jwtRules: [{issuer: a, jwksUri: "https://a/` + strings.Repeat("b", 2038) + `"}]}`, `{jwtRules: [{issuer: a, jwksUri: "https://a/` + strings.Repeat("b", 2039) + `"}]}`,
		`{jwtRules: [{issuer: a, jwks: '{"keys": [{}]}'}]}`, `{jwtRules: [{issuer: a, jwks: '{"keys": [{"kty": "XX"}]}'}]}`, `{jwtRules: [{issuer: a, jwks: '{"keys": [{"kty": "RSA"}]}'}]}`, `{jwtRules: [{issuer: a, jwks: '{"keys": [{"kty": "RSA", "n": "AQAB", "e": "AQAB"}]}'}]}`, `{jwtRules: [{issuer: a, jwks: '{"keys": [{"kty": "EC", "x": "AQAB", "y": "AQAB"}]}'}]}`, `{jwtRules: [{issuer: a, jwks: '{"keys": [{"kty": "oct", "k": "AQAB"}]}'}]}`, `{jwtRules: [{issuer: a, jwks: '{"keys": [{"kty": "OKP", "crv": "Ed25519"}]}'}]}`,
		"{jwtRules: [{issuer: a, spaceDelimitedClaims: [scope]}]}", `{jwtRules: [{issuer: a, spaceDelimitedClaims: [""]}]}`, "{jwtRules: [{issuer: a, spaceDelimitedClaims: []}]}", "{jwtRules: [" + list(4096, "{issuer: b}") + "]}",
	}
	// selectors are specs of all three kinds.
	selectors = []string{
		"{selector: null}", "{selector: {}}", "{selector: []}", "{selector: {matchLabels: null}}", "{selector: {matchLabels: {}}}", "{selector: {matchLabels: {a: b}}}", `{selector: {matchLabels: {"": b}}}`, `{selector: {matchLabels: {a: ""}}}`, `{selector: {matchLabels: {a: "*"}}}`, `{selector: {matchLabels: {a: "b*"}}}`, `{selector: {matchLabels: {"a*": b}}}`, "{selector: {matchLabels: {a: 1}}}", "{selector: {matchLabels: {a: null}}}", `{selector: {matchLabels: {"a b": c}}}`, `{selector: {matchLabels: {a: "b c"}}}`, "{selector: {matchLabels: {a: ü}}}", "{selector: {matchLabels: {a.b/c: d}}}", "{selector: {matchLabels: {a/b/c: d}}}",
		"{selector: {matchLabels: {a: " + strings.Repeat("b", 63) + "}}}", "{selector: {matchLabels: {a: " + strings.Repeat("b", 64) + "}}}", "{selector: {matchLabels: {" + strings.Repeat("a", 64) + ": b}}}", "{selector: {matchExpressions: []}}", "{selector: {matchLabels: [a]}}", "{selector: {match_labels: {a: b}}}",
	}
	// targets are specs of two kinds.
	targets = []string{
		"{targetRef: null}", "{targetRefs: null}", "{targetRefs: []}", "{targetRefs: [{}]}", "{targetRefs: [{kind: Gateway, group: gateway.networking.k8s.io, name: a}]}", "{targetRef: {kind: Service, name: a}}", "{targetRefs: [{kind: Pod, name: a}]}", "{selector: {matchLabels: {a: b}}, targetRefs: [{kind: Service, name: a}]}",
	}
	heads = []string{
		"", "name: null", `name: ""`, "name: A", "name: a_b", "name: a.b", "name: a..b", "name: -a", "name: 1", `name: "1"`, "name: a/b", `name: "a b"`, "name: " + strings.Repeat("a", 253), "name: " + strings.Repeat("a", 254),
		"name: a, namespace: null", `name: a, namespace: ""`, "name: a, namespace: A", "name: a, namespace: a.b", "name: a, namespace: a_b", "name: a, namespace: " + strings.Repeat("a", 63), "name: a, namespace: " + strings.Repeat("a", 64),
		"name: a, generateName: b", "generateName: b", "name: a, uid: b, generation: 1, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z', finalizers: [a/b], ownerReferences: [], managedFields: []", "name: a, nam: b",
		"name: a, labels: {a: b}", "name: a, labels: {a: 1}", "name: a, annotations: {a: b}", "name: a, annotations: {a: 1}",
	}
	dryRuns  = []string{`"true"`, `"false"`, `"1"`, `"0"`, `"t"`, `"F"`, `"TRUE"`, `"True"`, `"yes"`, `""`, `"truE"`, `" true"`, "true", "null"}
	versions = []string{"security.istio.io/v1", "security.istio.io/v1beta1", "security.istio.io/v1alpha1", "security.istio.io/v2", "security.istio.io/"}
)

// list repeats an item. A number behind it makes texts differ.
func list(n int, item string) string {
	all := make([]string, n)
	for i := range all {
		if all[i] = item; item == "a" {
			all[i] = fmt.Sprint("a", i)
		}
	}
	return strings.Join(all, ", ")
}

// drawnOfIstio returns policies that are sound but for one thing, each on one line.
func drawnOfIstio() []string {
	var out []string
	write := func(version, kind, metadata, spec string) {
		out = append(out, fmt.Sprintf("{apiVersion: %s, kind: %s, metadata: {%s}, spec: %s}", version, kind, metadata, spec))
	}
	rule := func(format string, a ...any) {
		write(v1, "AuthorizationPolicy", "name: a", fmt.Sprintf("{rules: [{"+format+"}]}", a...))
	}
	not := func(field string) string { return "not" + strings.ToUpper(field[:1]) + field[1:] }
	for _, value := range values {
		for _, field := range sources {
			rule("from: [{source: {%s: [%s]}}]", field, value)
			rule("from: [{source: {%s: [%s]}}]", not(field), value)
		}
		for _, field := range operations {
			rule("to: [{operation: {%s: [%s]}}]", field, value)
			rule("to: [{operation: {%s: [%s]}}]", not(field), value)
		}
		for _, key := range keys {
			rule("when: [{key: %q, values: [%s]}]", key, value)
		}
	}
	for _, key := range slices.Concat(keys, oddKeys) {
		if key != "null" {
			key = fmt.Sprintf("%q", key)
		}
		rule(`when: [{key: %s, values: ["1.2.3.4"]}]`, key)
		rule(`when: [{key: %s, notValues: ["80"]}]`, key)
		rule(`when: [{key: %s, notValues: [""]}]`, key)
	}
	for _, value := range dryRuns {
		for _, action := range []string{"ALLOW", "DENY", "AUDIT"} {
			write(v1, "AuthorizationPolicy", "name: a, annotations: {istio.io/dry-run: "+value+"}", "{action: "+action+", rules: [{}]}")
		}
	}
	for kind, specs := range map[string][]string{
		"AuthorizationPolicy": slices.Concat(specs, targets), "PeerAuthentication": peerSpecs, "RequestAuthentication": slices.Concat(requestSpecs, targets),
	} {
		for _, s := range slices.Concat(specs, selectors) {
			write(v1, kind, "name: a", s)
		}
		for _, head := range heads {
			write(v1, kind, head, "{}")
		}
		for _, annotation := range []string{`istio.io/dry-run: "true"`, `istio.io/dry-run: "false"`, "internal.istio.io/webhook-always-reject: a", "internal.istio.io/parents: a", "internal.istio.io/parent-namespace: a"} {
			write(v1, kind, "name: a, annotations: {"+annotation+"}", "{}")
		}
		for _, version := range versions {
			write(version, kind, "name: a", "{}")
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

const v1 = "security.istio.io/v1"

// beyondIstio has what meshproof refuses and Istio takes.
var beyondIstio = []difference{
	{"it names a gateway", "| `targetRef`, `targetRefs` | has them for gateways and waypoints, which meshproof does not prove |"},
	{"meshproof cannot judge the attribute experimental.", "| `experimental.envoy.filters.` in `when`, such as `experimental.envoy.filters.network.mysql_proxy[db.table]` | asks for what that filter of the sidecar wrote (dynamic metadata; `envoyFilterGenerator` in `authz/model/generator.go`). The lab has no such filter, and a sidecar has none by default |"},
	{"meshproof cannot judge the header", "| a header that Envoy or a codec writes, such as `:scheme` | compares it like any other (`requestHeaderGenerator`) |"},
	{"the name is not in brackets", "| a key such as `request.headersx[a]` or `request.headers[a][b]` | takes it, and then leaves the rule out of an ALLOW, and the field out of a DENY (`validateMapKey` in `pkg/config/security`, `checkError` in `authz/model/model.go`) |"},
	{"has a slash: a trust domain has none", "| a slash in a value of `source.trustDomain` | refuses it in `trustDomains` alone (`ValidateAttribute`), and compares the beginning of the SPIFFE ID |"},
	{"has a character beyond ASCII", "| a character beyond ASCII in a value that becomes a regular expression | takes it; releases of Envoy read it differently |"},
	{"is no template", "| a path template without a slash at its beginning, with an empty segment, and one of more than 256 characters | takes it (`CheckValidPathTemplate`); Envoy refuses the whole listener, or ends |"},
	{"is neither an IP address nor a block", "| an address with a zone, such as `fe80::1%eth0` | takes it (`ValidateIPs`); Envoy refuses the whole listener |"},
	{"metadata.nam: unknown field", "| an unknown field of `metadata` | never sees it: the API server drops it |"},
	{"expected text, found nothing", "| a text without a value, such as `namespace:` | never sees it: the API server takes the field as absent |"},
	{"of this set Envoy takes no key", "| `jwks` with no key that Envoy takes, such as `{\"keys\": []}` | takes it; Envoy refuses the whole listener, and keeps the policies of before |"},
	{"an issuer is required", "| a token rule without an `issuer` | takes it beside `jwksUri`, and then tokens of any issuer (`validateJwtRule`) |"},
}

// TestIstioRefusals holds what is refused against a cluster with Istio.
func TestIstioRefusals(t *testing.T) {
	t.Parallel()
	istio.refuse(t, drawnOfIstio(), "Istio", beyondIstio)
}
