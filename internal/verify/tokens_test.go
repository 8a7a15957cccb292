package verify

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/sidecar"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
)

// Parts of the filter for tokens that Istio makes of one rule.
const (
	jwt      = filters + ".0.typed_config"
	provider = jwt + ".providers.origins-0"
	// rbacBehind is the filter that stands behind the filter for tokens.
	rbacBehind = filters + ".1.typed_config"
	requires   = jwt + ".rules.0.requires"

	tokenFilter = "envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication"
	ofIstio     = `"bypass_cors_preflight": true,
		"providers": {"origins-0": {
			"issuer": "a", "audiences": ["api"], "forward": true, "payload_in_metadata": "payload",
			"local_jwks": {"inline_string": "{\"keys\": [{\"kty\": \"oct\", \"k\": \"MQ\", \"kid\": \"1\"}, {\"kty\": \"oct\", \"k\": \"MQ\", \"kid\": \"2\"}]}"}, "normalize_payload_in_metadata": {"space_delimited_claims": ["scope", "permission"]}}},
		"rules": [{"match": {"prefix": "/"}, "requires": {"requires_any": {"requirements": [{"provider_name": "origins-0"}, {"allow_missing": {}}]}}}]`
	rulesOf = `{"ns[default]-policy[alice]-rule[0]": {"permissions": [{"any": true}], "principals": [{"and_ids": {"ids": [%s, %s]}}]}}`
	inFront = "envoy.filters.http.jwt_authn"
)

// claimIs compares a claim in the metadata of a filter.
func claimIs(filter, claim, text string) string {
	return fmt.Sprintf(`{"sourced_metadata": {"metadata_matcher": {"filter": %q, "path": [{"key": "payload"}, {"key": %q}], "value": {"string_match": {"exact": %q}}}}}`, filter, claim, text)
}

// claimBy compares a claim by a matcher of values.
func claimBy(claim, matcher string) string {
	return fmt.Sprintf(`{"sourced_metadata": {"metadata_matcher": {"filter": "envoy.filters.http.jwt_authn", "path": [{"key": "payload"}, {"key": %q}], "value": %s}}}`, claim, matcher)
}

// withRule are the rules of the policies, and one more.
func withRule(principal string) string {
	return strings.TrimSuffix(fmt.Sprintf(rulesOf, claimIs(inFront, "iss", "a"), claimIs(inFront, "sub", "alice")), "}") +
		`, "z": {"permissions": [{"any": true}], "principals": [` + principal + `]}}`
}

// claimInput compares a claim by the input of a matcher.
func claimInput(claim, text string) string {
	return fmt.Sprintf(`{"single_predicate": {
		"input": {"name": "i", "typed_config": {"@type": "T/envoy.extensions.matching.common_inputs.network.v3.DynamicMetadataInput", "filter": "envoy.filters.http.jwt_authn", "path": [{"key": "payload"}, {"key": %q}]}},
		"custom_match": {"name": "m", "typed_config": {"@type": "T/envoy.extensions.matching.input_matchers.metadata.v3.Metadata", "value": {"string_match": {"exact": %q}}}}}}`, claim, text)
}

// istioRules are the edits that make an example's sidecar one of Istio, with a filter for tokens.
var istioRules = []edit{
	drop("configs.0.dynamic_listeners.1"),
	put(rbac+".rules", `{"action": "ALLOW", "policies": `+fmt.Sprintf(rulesOf, claimIs(inFront, "iss", "a"), claimIs(inFront, "sub", "alice"))+`}`),
	drop(rbac + ".matcher"), drop(rbac + ".shadow_matcher"),
	push(filters, typed(inFront, tokenFilter, ofIstio)),
}

const tokenPolicies = `apiVersion: security.istio.io/v1
kind: RequestAuthentication
metadata: {name: a}
spec: {jwtRules: [{issuer: a, audiences: [api], forwardOriginalToken: true, jwks: '{"keys": [{"kty": "oct", "k": "MQ", "kid": "2"}, {"kty": "oct", "k": "MQ", "kid": "1"}]}'}]}
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: alice}
spec: {rules: [{from: [{source: {requestPrincipals: [a/alice]}}]}]}
`

// TestTokenFilters holds the filter for tokens of a sidecar against a RequestAuthentication.
func TestTokenFilters(t *testing.T) {
	t.Parallel()
	claimAsHeader := strings.Replace(tokenPolicies, "issuer: a,", "issuer: a, outputClaimToHeaders: [{header: x-sub, claim: sub}],", 1)
	second := `{"issuer": "b", "payload_in_metadata": "payload", "local_jwks": {"inline_string": "{\"keys\": [{\"kty\": \"oct\", \"k\": \"Mg\"}]}"}, "normalize_payload_in_metadata": {"space_delimited_claims": ["scope", "permission"]}}`
	bothOf := `{"requires_any": {"requirements": [{"provider_name": "origins-0"}, {"provider_name": "origins-1"}, {"requires_all": {"requirements": [
		{"requires_any": {"requirements": [{"provider_name": "origins-0"}, {"allow_missing": {}}]}},
		{"requires_any": {"requirements": [{"provider_name": "origins-1"}, {"allow_missing": {}}]}}]}}]}}`
	twoIssuers := strings.Replace(tokenPolicies, "jwtRules: [", "jwtRules: [{issuer: b, jwks: '{\"keys\": [{\"kty\": \"oct\", \"k\": \"Mg\"}]}'}, ", 1)
	published := func(policies string) string {
		return strings.NewReplacer("{issuer: a", "{issuer: published", `jwks: '{"keys": [{"kty": "oct", "k": "MQ", "kid": "2"}, {"kty": "oct", "k": "MQ", "kid": "1"}]}'`, "jwksUri: https://a.example/keys", "a/alice", "published/alice").Replace(policies)
	}
	header := func(value string) string {
		return `"request_rules": [{"header": "x", "on_header_present": {"metadata_namespace": "envoy.filters.http.jwt_authn", "key": "payload", "value": "` + value + `"}}]`
	}
	for _, tt := range []struct {
		name     string
		policies string
		edits    []edit
		// want is a part of the reason why it is not verified; "" for a dump that is, or "differs".
		want string
	}{
		{"as Istio makes it", tokenPolicies, nil, ""},
		{"claims in the deprecated field", tokenPolicies, []edit{put(rbacBehind+".rules.policies", strings.ReplaceAll(strings.ReplaceAll(fmt.Sprintf(rulesOf, claimIs(inFront, "iss", "a"), claimIs(inFront, "sub", "alice")), `"sourced_metadata": {"metadata_matcher": `, `"metadata": `), "}}}}}", "}}}}"))}, ""},
		{"claims by a matcher input", tokenPolicies, []edit{put(rbacBehind, `{"@type": "T/envoy.extensions.filters.http.rbac.v3.RBAC", "matcher": {"matcher_list": {"matchers": [{
			"predicate": {"and_matcher": {"predicate": [`+claimInput("iss", "a")+`, `+claimInput("sub", "alice")+`]}},
			"on_match": {"action": {"name": "a", "typed_config": {"@type": "T/envoy.config.rbac.v3.Action", "name": "ns[default]-policy[alice]-rule[0]"}}}}]}}}`)}, ""},
		{"keys in another form", tokenPolicies, []edit{drop(provider + ".local_jwks.inline_string"), put(provider+".local_jwks.inline_bytes", `"eyJrZXlzIjogW3sia3R5IjogIm9jdCIsICJrIjogIk1RIiwgImtpZCI6ICIyIn0sIHsia3R5IjogIm9jdCIsICJrIjogIk1RIiwgImtpZCI6ICIxIn1dfQ=="`)}, ""},
		{"a cache and a prefix of counters", tokenPolicies, []edit{put(provider+".jwt_cache_config", `{"jwt_cache_size": 7}`), put(jwt+".stat_prefix", `"x"`), put(jwt+".strip_failure_response", `true`)}, ""},
		{"a requirement by name", tokenPolicies, []edit{put(jwt+".requirement_map", `{"r": {"requires_any": {"requirements": [{"provider_name": "origins-0"}, {"allow_missing": {}}]}}}`), put(jwt+".rules.0", `{"match": {"prefix": ""}, "requirement_name": "r"}`)}, ""},
		{"a requirement for each audience", tokenPolicies, []edit{put(requires+".requires_any.requirements.0", `{"provider_and_audiences": {"provider_name": "origins-0", "audiences": []}}`)}, `the audiences of "a" are`},
		{"one more key, by other letters", tokenPolicies, []edit{put(provider+".local_jwks.inline_string", `"{\"keys\": [{\"kty\": \"oct\", \"k\": \"MQ\", \"kid\": \"3\"}], \"KEYS\": [{\"kty\": \"oct\", \"k\": \"MQ\", \"kid\": \"1\"}, {\"kty\": \"oct\", \"k\": \"MQ\", \"kid\": \"2\"}]}"`)}, "other tokens"},
		{"audiences of the requirement", tokenPolicies, []edit{put(provider+".audiences", `["x"]`), put(requires+".requires_any.requirements.0", `{"provider_and_audiences": {"provider_name": "origins-0", "audiences": ["api"]}}`)}, ""},
		{"the usual header, by name", tokenPolicies, []edit{put(provider+".from_headers", `[{"name": "Authorization", "value_prefix": "Bearer "}]`), put(provider+".from_params", `["access_token"]`)}, ""},
		{"the usual skew of clocks", tokenPolicies, []edit{put(provider+".clock_skew_seconds", `60`)}, ""},
		{"rules behind one for all requests", tokenPolicies, []edit{add(jwt+".rules", `{"match": {"prefix": "/open"}}`)}, ""},
		{"two issuers", twoIssuers, []edit{put(jwt+".providers.origins-1", second), put(requires, bothOf)}, ""},

		{"keys at a URI, and published", published(tokenPolicies), []edit{put(provider+".issuer", `"published"`), put(rbacBehind+".rules.policies", fmt.Sprintf(rulesOf, claimIs(inFront, "iss", "published"), claimIs(inFront, "sub", "alice")))}, ""},
		{"other keys than those published", published(tokenPolicies), []edit{put(provider+".issuer", `"published"`), put(provider+".local_jwks.inline_string", `"{\"keys\": [{\"kty\": \"oct\", \"k\": \"Mg\"}]}"`)}, `the keys of "published" are`},
		{"keys in the policies, and others published", strings.Replace(tokenPolicies, "{issuer: a", "{issuer: published", 1), []edit{put(provider+".issuer", `"published"`), put(provider+".local_jwks.inline_string", `"{\"keys\": [{\"kty\": \"oct\", \"k\": \"Mg\"}]}"`)}, `the keys of "published" are`},

		{"another subject", tokenPolicies, []edit{put(rbacBehind+".rules.policies", fmt.Sprintf(rulesOf, claimIs(inFront, "iss", "a"), claimIs(inFront, "sub", "bob")))}, string(differs)},
		{"any issuer of a subject", tokenPolicies, []edit{put(rbacBehind+".rules.policies", fmt.Sprintf(rulesOf, claimIs(inFront, "sub", "alice"), claimIs(inFront, "sub", "alice")))}, ""},
		{"a subject that is there", tokenPolicies, []edit{put(rbacBehind+".rules.policies", fmt.Sprintf(rulesOf, claimBy("sub", `{"present_match": true}`)+", "+claimIs(inFront, "iss", "a"), claimIs(inFront, "sub", "alice")))}, ""},
		{"any subject that is there", tokenPolicies, []edit{put(rbacBehind+".rules.policies", withRule(claimBy("sub", `{"present_match": true}`)))}, string(differs)},
		{"an object lets in", tokenPolicies, []edit{put(rbacBehind+".rules.policies", withRule(claimBy("realm", `{"present_match": true}`)))}, string(differs)},
		{"a level lets in", tokenPolicies, []edit{put(rbacBehind+".rules.policies", withRule(claimBy("level", `{"double_match": {"range": {"start": 41.999999, "end": 42}}}`)))}, string(differs)},
		{"a number in a list lets in", tokenPolicies, []edit{put(rbacBehind+".rules.policies", withRule(claimBy("levels", `{"list_match": {"one_of": {"double_match": {"exact": 4242424242}}}}`)))}, string(differs)},
		{"a level that no number has lets in", tokenPolicies, []edit{put(rbacBehind+".rules.policies", withRule(claimBy("level", `{"double_match": {"range": {"start": 7, "end": 7}}}`)))}, ""},
		{"a number between two that can be told lets in", tokenPolicies, []edit{put(rbacBehind+".rules.policies", withRule(claimBy("level", `{"double_match": {"exact": 0.00000001}}`)))}, "it compares with the number 1e-08"},
		{"a list in a list lets in", tokenPolicies, []edit{put(rbacBehind+".rules.policies", withRule(claimBy("a", `{"list_match": {"one_of": {"list_match": {"one_of": {"string_match": {"exact": "x"}}}}}}`)))}, "it asks for a list in a list"},

		{"no filter", tokenPolicies, []edit{drop(filters + ".0")}, `the tokens of "a" are taken on one side only`},
		{"no rules", tokenPolicies, []edit{drop(jwt + ".rules")}, `the tokens of "a" are taken on one side only`},
		{"a filter that the policies do not ask for", tokenPolicies[strings.Index(tokenPolicies, "---"):], nil, `the tokens of "a" are taken on one side only`},
		{"one issuer more", tokenPolicies, []edit{put(jwt+".providers.origins-1", second), put(requires, bothOf)}, `the tokens of "b" are taken on one side only`},
		{"one issuer less", twoIssuers, nil, `the tokens of "b" are taken on one side only`},
		{"a token is required", tokenPolicies, []edit{put(requires, `{"provider_name": "origins-0"}`)}, "a request without a token is refused on one side only"},
		{"another audience", tokenPolicies, []edit{put(provider+".audiences", `["api", "web"]`)}, `the audiences of "a" are`},
		{"any audience", tokenPolicies, []edit{drop(provider + ".audiences")}, `the audiences of "a" are`},
		{"any issuer", tokenPolicies, []edit{drop(provider + ".issuer")}, "are taken on one side only"},
		{"another key", tokenPolicies, []edit{put(provider+".local_jwks.inline_string", `"{\"keys\": [{\"kty\": \"oct\", \"k\": \"MQ\", \"kid\": \"1\"}, {\"kty\": \"oct\", \"k\": \"MQ\", \"kid\": \"2\"}, {\"kty\": \"oct\", \"k\": \"MQ\", \"kid\": \"3\"}]}"`)}, `the keys of "a" are`},
		{"keys of a server", tokenPolicies, []edit{drop(provider + ".local_jwks"), put(provider+".remote_jwks", `{"http_uri": {"uri": "https://a.example/keys", "cluster": "x", "timeout": "1s"}}`)}, "its keys come from a server"},
		{"keys of a file", tokenPolicies, []edit{put(provider+".local_jwks", `{"filename": "/tmp/keys"}`)}, "its keys are not in the filter"},
		{"no keys", tokenPolicies, []edit{put(provider+".local_jwks.inline_string", `"x"`)}, "no JSON Web Key Set"},
		{"keys at a URI in the policies", strings.Replace(tokenPolicies, `jwks: '{"keys": [{"kty": "oct", "k": "MQ", "kid": "2"}, {"kty": "oct", "k": "MQ", "kid": "1"}]}'`, "jwksUri: https://a.example/keys", 1), nil, `at https://a.example/keys`},
		{"another place", tokenPolicies, []edit{put(provider+".from_cookies", `["x"]`)}, `the tokens of "a" are in`},
		{"no words", tokenPolicies, []edit{drop(provider + ".normalize_payload_in_metadata")}, "are parted at spaces"},
		{"not forwarded", tokenPolicies, []edit{drop(provider + ".forward")}, "are forwarded on one side only"},
		{"no preflight", tokenPolicies, []edit{drop(jwt + ".bypass_cors_preflight")}, "a preflight request"},
		{"a bad token passes", tokenPolicies, []edit{put(requires+".requires_any.requirements.1", `{"allow_missing_or_failed": {}}`)}, "allow_missing_or_failed"},
		{"a bad token passes at once", tokenPolicies, []edit{put(requires, `{"allow_missing_or_failed": {}}`)}, "allow_missing_or_failed"},
		{"no token is verified", tokenPolicies, []edit{put(requires, `{"extract_only_without_validation": {}}`)}, "extract_only_without_validation"},
		{"no token is required", tokenPolicies, []edit{put(requires, `{"allow_missing": {}}`)}, "a requirement that is not known"},
		{"a requirement of a later API", tokenPolicies, []edit{put(requires, `{"requires_none": {}}`)}, "requires_none"},
		{"two tokens at once", tokenPolicies, []edit{put(jwt+".providers.origins-1", second), put(requires+".requires_any.requirements.1", `{"requires_all": {"requirements": [{"provider_name": "origins-0"}, {"provider_name": "origins-1"}]}}`)}, "several tokens at once"},
		{"a provider that is not there", tokenPolicies, []edit{put(requires+".requires_any.requirements.0.provider_name", `"x"`)}, "is not there"},
		{"a requirement that is not there", tokenPolicies, []edit{put(jwt+".rules.0", `{"match": {"prefix": "/"}, "requirement_name": "r"}`)}, "is not there"},
		{"some paths only", tokenPolicies, []edit{put(jwt+".rules.0.match.prefix", `"/api"`)}, "for some requests only"},
		{"some methods only", tokenPolicies, []edit{put(jwt+".rules.0.match.headers", `[{"name": ":method", "string_match": {"exact": "GET"}}]`)}, "for some requests only"},
		{"an open path in front", tokenPolicies, []edit{push(jwt+".rules", `{"match": {"prefix": "/open"}}`)}, "for some requests only"},
		{"rules by the state of filters", tokenPolicies, []edit{put(jwt+".filter_state_rules", `{"name": "x"}`)}, "filter_state_rules"},
		{"another key of the payload", tokenPolicies, []edit{put(provider+".payload_in_metadata", `"a"`)}, `under the key "a"`},
		{"no payload", tokenPolicies, []edit{drop(provider + ".payload_in_metadata")}, `under the key ""`},
		{"the failure in the place of the payload", tokenPolicies, []edit{put(provider+".failed_status_in_metadata", `"payload"`)}, "something else than the claims"},
		{"an old token", tokenPolicies, []edit{put(provider+".clock_skew_seconds", `4000000000`)}, "after their end"},
		{"a claim as a header", tokenPolicies, []edit{put(provider+".claim_to_headers", `[{"header_name": "x", "claim_name": "sub"}]`)}, `the claims of "a" are written into the headers`},
		{"a claim as a header, as the policies say", claimAsHeader, []edit{put(provider+".claim_to_headers", `[{"header_name": "x-sub", "claim_name": "sub"}]`)}, ""},
		{"a claim as a header, for which the sidecar asks", claimAsHeader, []edit{put(provider+".claim_to_headers", `[{"header_name": "x-sub", "claim_name": "sub"}]`), put(rbacBehind+".rules.policies", withRule(`{"header": {"name": "x-sub", "string_match": {"exact": "alice"}}}`))}, "a claim that the filter for tokens writes into it"},
		{"a claim as the path", tokenPolicies, []edit{put(provider+".claim_to_headers", `[{"header_name": ":path", "claim_name": "sub"}]`)}, "no header of its own"},
		{"the payload as a header", tokenPolicies, []edit{put(provider+".forward_payload_header", `"x-payload"`)}, `the claims of "a" are written into the headers`},
		{"the payload as a header, as the policies say", strings.Replace(tokenPolicies, "issuer: a,", "issuer: a, outputPayloadToHeader: x-payload,", 1), []edit{put(provider+".forward_payload_header", `"x-payload"`)}, ""},
		{"the payload as the host", strings.Replace(tokenPolicies, "issuer: a,", "issuer: a, outputPayloadToHeader: host,", 1), []edit{put(provider+".forward_payload_header", `"host"`)}, "no header of its own"},
		{"some subjects", tokenPolicies, []edit{put(provider+".subjects", `{"prefix": "al"}`)}, "subjects"},
		{"a field of a later API", tokenPolicies, []edit{put(provider+".trust_everybody", `true`)}, "trust_everybody"},
		{"a disabled filter", tokenPolicies, []edit{put(filters+".0.disabled", `true`)}, `the tokens of "a" are taken on one side only`},
		{"a filter of another name", tokenPolicies, []edit{put(filters+".0.name", `"jwt"`)}, "refuses requests without a sound token"},
		{"two filters", tokenPolicies, []edit{push(filters, typed("other", tokenFilter, ofIstio))}, "refuses requests without a sound token"},
		{"a token that the listener takes away", tokenPolicies, []edit{put(routes+".internal_only_headers", `["Authorization"]`)}, "tokens are in the header authorization"},
		{"a header that no token is in, and that the listener takes away", tokenPolicies, []edit{put(routes+".internal_only_headers", `["x-token"]`)}, ""},
		{"a token in a header with an underscore that is dropped", strings.Replace(tokenPolicies, "issuer: a,", "issuer: a, fromHeaders: [{name: x_token}],", 1), []edit{put(provider+".from_headers", `[{"name": "x_token"}]`), put(manager+".common_http_protocol_options", `{"headers_with_underscores_action": "DROP_HEADER"}`)}, "tokens are in the header x_token"},
		{"a token in a cookie that the listener takes away", strings.Replace(tokenPolicies, "issuer: a,", "issuer: a, fromCookies: [t],", 1), []edit{put(provider+".from_cookies", `["t"]`), put(routes+".internal_only_headers", `["cookie"]`)}, "tokens are in the header cookie"},
		{"behind RBAC", tokenPolicies, []edit{drop(filters + ".0"), behindRBAC(typed(inFront, tokenFilter, ofIstio))}, `the tokens of "a" are taken on one side only`},
		{"switched off for a route", tokenPolicies, []edit{put(route+".typed_per_filter_config", `{"envoy.filters.http.jwt_authn": {"@type": "T/envoy.extensions.filters.http.jwt_authn.v3.PerRouteConfig", "disabled": true}}`)}, "replaces the filter for tokens"},
		{"switched off for all routes", tokenPolicies, []edit{put(routes+".typed_per_filter_config", `{"envoy.filters.http.jwt_authn": {"@type": "T/envoy.config.route.v3.FilterConfig", "disabled": true}}`)}, "replaces the filter for tokens"},
		{"claims of a header", tokenPolicies, []edit{at1(filters, typed("h", "envoy.extensions.filters.http.header_to_metadata.v3.Config", header("x")))}, `filter "h"`},
		{"claims of a script", tokenPolicies, []edit{at1(filters, script("function envoy_on_request(h) h:streamInfo():dynamicMetadata():set('envoy.filters.http.jwt_authn', 'payload', {sub='alice'}) end"))}, `filter "lua"`},
		{"claims of a constant", tokenPolicies, []edit{at1(filters, typed("s", "envoy.extensions.filters.http.set_metadata.v3.Config", `"metadata_namespace": "envoy.filters.http.jwt_authn", "value": {"payload": {"sub": "alice"}}`))}, `filter "s"`},
		{"claims of a service", tokenPolicies, []edit{at1(filters, typed("e", "envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor", ""))}, `filter "e"`},
		{"RBAC asks another filter", tokenPolicies, []edit{put(rbacBehind+".rules.policies", fmt.Sprintf(rulesOf, claimIs("envoy.filters.http.lua", "iss", "a"), claimIs(inFront, "sub", "alice")))}, "it asks for metadata, which another filter writes"},
		{"RBAC asks for the failure", tokenPolicies, []edit{put(rbacBehind+".rules.policies", strings.ReplaceAll(fmt.Sprintf(rulesOf, claimIs(inFront, "iss", "a"), claimIs(inFront, "sub", "alice")), `"payload"`, `"failed"`))}, "it asks for metadata, which another filter writes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dump := exampleDump(t)
			for _, e := range slices.Concat(istioRules, tt.edits) {
				dump = e(dump)
			}
			text, err := json.Marshal(completed(dump))
			if err != nil {
				t.Fatal(err)
			}
			found, err := sidecar.Dump(text)
			if err != nil {
				t.Fatal(err)
			}
			published := token.Keys{"published": `[{"k":"MQ","kid":"1","kty":"oct"},{"k":"MQ","kid":"2","kty":"oct"}]`}
			v, err := matchOne(t, tt.policies, false, "", published, found)
			if err != nil {
				t.Fatal(err)
			}
			got := lines(v.Unverified)
			switch named := slices.ContainsFunc(got, func(line string) bool { return strings.Contains(line, tt.want) }); {
			case tt.want == string(differs):
				if outcomeOf(v) != differs {
					t.Errorf("%s: %q", outcomeOf(v), got)
				}
			case tt.want == "" && outcomeOf(v) != verified:
				t.Errorf("%s: %q, unknown %q", outcomeOf(v), got, lines(found.Unknown))
			case tt.want != "" && !named && !slices.ContainsFunc(lines(found.Unknown), func(line string) bool { return strings.Contains(line, tt.want) }), tt.want != "" && len(got) == 0:
				t.Errorf("%q, want %q, unknown %q", got, tt.want, lines(found.Unknown))
			}
		})
	}
}

// TestTokensOnTCP reads a listener for tcp in the place of one for HTTP: it refuses no token, where the policies refuse some.
func TestTokensOnTCP(t *testing.T) {
	t.Parallel()
	authentication, authorization, _ := strings.Cut(tokenPolicies, "---\n")
	everybody := authorization[:strings.Index(authorization, "spec:")] + "spec: {rules: [{}]}\n"
	const otherwise = "the policies decide otherwise there"
	for name, tt := range map[string]struct {
		policies string
		protocol policy.Protocol
		told     bool
	}{
		"HTTP is wanted":                 {authentication + "---\n" + everybody, policy.HTTP, true},
		"HTTP is wanted, without tokens": {everybody, policy.HTTP, false},
		"tcp is wanted":                  {authentication + "---\n" + everybody, policy.TCP, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read := files(t, tt.policies)
			described := policy.Inbound{Workload: policy.Workload{Name: "backend", Namespace: "default"}, Port: 8080, Protocol: tt.protocol}
			all, err := read.CasesFor(lab.Surroundings{Inbound: described}, read.Inbounds())
			if err != nil {
				t.Fatal(err)
			}
			v, err := Match(t.Context(), all, read, true, "", nil, sidecar.Sidecar{Inbounds: []sidecar.Inbound{inbound("10.0.0.1:8080")}})
			if err != nil {
				t.Fatal(err)
			}
			got := lines(v.Unverified)
			if told := slices.ContainsFunc(got, func(line string) bool { return strings.Contains(line, otherwise) }); told != tt.told {
				t.Errorf("told: %v, want %v: %q", told, tt.told, got)
			}
		})
	}
}
