package verify

import "strings"

// forgedRequests are dumps with back doors for requests that the lab does not send: its client
// refuses the method, its listener rewrites the path, its CAs do not sign the name.
var forgedRequests = []forged{
	{"a method in lower case", unverified, []edit{method(`"exact": "get"`)}},
	{"the beginning of a method", unverified, []edit{method(`"prefix": "X"`)}},
	{"the end of a method", differs, []edit{method(`"suffix": "ET"`)}},
	{"a method that is no token", unverified, []edit{method(`"exact": "G(T"`)}},
	{"a method with a space", unverified, []edit{method(`"exact": "G T"`)}},
	{"a method beyond ASCII", unverified, []edit{method(`"exact": "É"`)}},
	{"a method that begins beyond ASCII", unverified, []edit{method(`"prefix": "É"`)}},
	{"a method by a regular expression", unverified, []edit{method(`"safe_regex": {"regex": "[^A-Z]+"}`)}},
	{"CONNECT alone", unverified, []edit{method(`"exact": "CONNECT"`)}},
	{"not a method in capitals", unverified, []edit{allowUnless(header, `"header_name": ":method"`, inList(`"safe_regex": {"regex": "[A-Z]+"}`))}},
	{"a path beyond ASCII", unverified, []edit{path(`"prefix": "/é"`)}},
	{"a path with a control character", unverified, []edit{path(`"prefix": "/a\u0001"`)}},
	{"a path with a tab", unverified, []edit{path(`"prefix": "/a\t"`)}},
	{"a path with an escape of nothing", unverified, []edit{path(`"prefix": "/%zz"`)}},
	{"a path with an escape of half", differs, []edit{path(`"prefix": "/%2"`)}},
	{"a path with a fragment", unverified, []edit{path(`"prefix": "/a#"`)}},
	{"a path with a backslash", unverified, []edit{path(`"prefix": "/a\\"`)}},
	{"a path with a brace", unverified, []edit{path(`"prefix": "/{"`)}},
	{"a path with a quotation mark", unverified, []edit{path(`"prefix": "/\""`)}},
	{"a path with a space", unverified, []edit{path(`"prefix": "/a b"`)}},
	{"a path without its slash, and a route for it", unverified, []edit{path(`"prefix": "http://"`), put(route+".match.prefix", `""`)}},
	{"no slash, and a route for it", unverified, []edit{allowUnless(header, `"header_name": ":path"`, inList(`"prefix": "/"`)), put(route+".match.prefix", `""`)}},
	{"a star, and a route for it", unverified, []edit{path(`"prefix": "*"`), put(route+".match", `{"path": "*"}`)}},
	{"a star, and a route by a regular expression for it", unverified, []edit{path(`"prefix": "*"`), put(route+".match", `{"safe_regex": {"regex": ".*"}}`)}},
	{"a star, and a route in two ways for it", unverified, []edit{path(`"prefix": "*"`), put(route+".match", `{"safe_regex": {"regex": "/.*|[*]"}}`)}},
	{"a route by a regular expression", verified, []edit{put(route+".match", `{"safe_regex": {"regex": "/.*"}}`)}},
	{"a route for a star, by discovery", unverified, []edit{byRDS(put("virtual_hosts.0.routes.0.match.prefix", `"*"`))}},
	{"two names", differs, []edit{name(`"exact": "spiffe://default.zone-1.mesh.local/ns/evil,spiffe://td/x"`)}},
	{"a tag of Kuma behind the name", unverified, []edit{name(`"contains": "kuma://role/admin"`)}},
	{"a tag of Kuma at the end", unverified, []edit{name(`"suffix": ",kuma://role/admin"`)}},
	{"a tag of Kuma in front", unverified, []edit{name(`"prefix": "kuma://role/admin"`)}},
	{"a tag of Kuma alone", unverified, []edit{name(`"exact": "kuma://role/admin"`)}},
	{"a name of the web", unverified, []edit{name(`"exact": "https://evil"`)}},
	{"an escape in a name", unverified, []edit{name(`"prefix": "spiffe://default.zone-1.mesh.local/%61"`)}},
	{"a query in a name", unverified, []edit{name(`"prefix": "spiffe://default.zone-1.mesh.local/a?"`)}},
	{"a scheme in capitals", unverified, []edit{name(`"prefix": "SPIFFE://"`)}},
	{"a trust domain in capitals", unverified, []edit{name(`"prefix": "spiffe://DEFAULT"`)}},
	{"a space in a name", unverified, []edit{name(`"contains": " "`)}},
	{"a name beyond ASCII", unverified, []edit{name(`"contains": "é"`)}},
	{"a line break in a name", unverified, []edit{name(`"contains": "\n"`)}},
	{"a slash behind a name", unverified, []edit{name(`"suffix": "/"`)}},
	{"two slashes in a name", unverified, []edit{name(`"contains": "a//b"`)}},
	{"dots in a name", unverified, []edit{name(`"contains": "/../"`)}},
	{"a trust domain for a name", unverified, []edit{name(`"exact": "spiffe://default.zone-1.mesh.local"`)}},
	{"not a name of SPIFFE", unverified, []edit{allowUnless(uriSAN, "", inList(`"safe_regex": {"regex": "(spiffe://.*)?"}`))}},
	{"two parts that no name of SPIFFE has", unverified, []edit{put(rbac+".matcher.matcher_list.matchers.0.predicate", `{"and_matcher": {"predicate": [`+predicate(uriSAN, "", inList(`"contains": "kuma://a"`))+`, `+predicate(uriSAN, "", inList(`"contains": "kuma://b"`))+`]}}`), put(rbac+".matcher.matcher_list.matchers.0.on_match.action.typed_config.action", `"ALLOW"`)}},
	{"a long name", differs, []edit{name(`"suffix": "/` + strings.Repeat("a", 3000) + `"`)}},
	{"a subject for a principal", differs, []edit{letting(anyone, `{"authenticated": {"principal_name": {"exact": "CN=evil"}}}`)}},
	{"not a principal of SPIFFE", differs, []edit{letting(anyone, `{"not_id": {"authenticated": {"principal_name": {"prefix": "spiffe://"}}}}`)}},
}

func path(match string) edit   { return allowing(header, `"header_name": ":path"`, inList(match)) }
func method(match string) edit { return allowing(header, `"header_name": ":method"`, inList(match)) }
func name(match string) edit   { return allowing(uriSAN, "", inList(match)) }

// predicate is a predicate on one input.
func predicate(message, fields, match string) string {
	return `{"single_predicate": {"input": ` + typed("in", message, fields) + `, ` + match + `}}`
}

// allowUnless puts a rule in front of the rules of the HTTP inbound, that lets callers in unless a
// predicate holds.
func allowUnless(message, fields, match string) edit {
	return push(rbac+".matcher.matcher_list.matchers", `{"predicate": {"not_matcher": `+predicate(message, fields, match)+`},
		"on_match": {"action": `+typed("act", "envoy.config.rbac.v3.Action", `"name": "back-door"`)+`}}`)
}
