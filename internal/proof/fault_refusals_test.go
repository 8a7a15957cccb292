package proof_test

// faultsOfRefusals read what a mesh or meshproof refuses, or refuse what they take. Most are made where the parsing is shared.
var faultsOfRefusals = []fault{
	{"a principal whose trust domain has a star is of no name of the mesh", []change{
		{"policy/istio/internal/authorization/alias.go", `|| covers(of, domain) || covers(domain, of)`, `|| !FAULT && (covers(of, domain) || covers(domain, of))`},
		{"policy/istio/internal/evaluation/value.go", `|| starred(domain, parts[0]) || starred(parts[0], domain)`, `|| !FAULT && (starred(domain, parts[0]) || starred(parts[0], domain))`},
	}},
	{"a principal whose trust domain begins with a star is one of each name of the mesh", []change{
		{"policy/istio/internal/authorization/alias.go", `ok && strings.HasSuffix(of, tail) {`, `ok && !FAULT && strings.HasSuffix(of, tail) {`},
		{"policy/istio/internal/evaluation/value.go", `if parts[0] != "" && parts[0][0] == '*'`, `if !FAULT && parts[0] != "" && parts[0][0] == '*'`},
	}},
	{"CUSTOM may have a condition about the caller", []change{
		{"policy/istio/internal/authorization/parse.go", `r.checkCustom(subject, at+".key", []string{c.Key})`, `r.checkCustom(subject, at+".key", []string{c.Key}[:map[bool]int{false: 1}[FAULT]])`},
	}},
	{"service accounts may stand beside excluded namespaces", []change{
		{"policy/istio/internal/authorization/parse.go", `|| s.NotNamespaces != nil)`, `|| s.NotNamespaces != nil && !FAULT)`},
	}},
	{"what a condition excludes is not checked", []change{
		{"policy/istio/internal/authorization/parse.go", "		r.check(subject, t.notField, t.not)\n		out = append(out, t)", "		if !FAULT {\n			r.check(subject, t.notField, t.not)\n		}\n		out = append(out, t)"},
	}},
	{"a rule for tokens may name a gateway", []change{
		{"policy/istio/internal/authentication/authentication.go", `object.RefuseTargets(doc, refuse)`, `if !FAULT {
		object.RefuseTargets(doc, refuse)
	}`},
	}},
	{"a rule may write the header of the cookies in which a token is read", []change{
		{"policy/istio/internal/authentication/check.go", `p.Kind == token.InCookie && header`, `p.Kind == token.InCookie && !FAULT && header`},
	}},
	{"an exact path of Linkerd weighs less than a prefix", []change{
		{"policy/linkerd/internal/route/order.go", "		a.rank[2] = 1\n		return []Alternative{with(attribute.Path.Exact", "		a.rank[2] = map[bool]int{false: 1}[FAULT]\n		return []Alternative{with(attribute.Path.Exact"},
		{"policy/linkerd/internal/evaluation/route.go", `return len(path), of.Value == path`, `return len(path) * map[bool]int{false: 1}[FAULT], of.Value == path`},
	}},
	{"a Server that says HTTP 1 takes HTTP 2", []change{
		{"policy/linkerd/internal/authorization/select.go", `says == protocolHTTP1 && !one`, `says == protocolHTTP1 && !one && !FAULT`},
	}},
	{"a Server that says gRPC takes HTTP 1", []change{
		{"policy/linkerd/internal/authorization/select.go", `|| says == protocolGRPC) && one`, `|| says == protocolGRPC && !FAULT) && one`},
	}},
	{"a grant may name a Server and select others", []change{
		{"policy/linkerd/internal/authorization/parse.go", `case server.Name != "" && server.Selector != nil:`, `case server.Name != "" && server.Selector != nil && !FAULT:`},
	}},
	{"a grant may be for clients with and without an identity", []change{
		{"policy/linkerd/internal/authorization/parse.go", `	case client.Unauthenticated:
`, `	case client.Unauthenticated && !FAULT:
`},
	}},
	{"a route may name a port of its Server", []change{
		{"policy/linkerd/internal/route/parse.go", `case object.IsSet(parent.Port):`, `case object.IsSet(parent.Port) && !FAULT:`},
	}},
	{"two ways to read the same calls go together", []change{
		{"policy/cilium/internal/networkpolicy/call.go", "		out = append(out, c)\n", "		if !FAULT {\n			out = append(out, c)\n		}\n"},
	}},
	{"a range may have every port", []change{
		{"policy/cilium/internal/networkpolicy/port.go", `case from.EndPort != 0 && number == 0:`, `case from.EndPort != 0 && number == 0 && !FAULT:`},
	}},
	{"an exception may be wider than its block", []change{
		{"policy/cilium/internal/networkpolicy/parse.go", `except.Bits() < of.Bits()`, `except.Bits() < of.Bits() && !FAULT`},
	}},
}
