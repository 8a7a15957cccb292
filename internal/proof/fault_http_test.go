package proof_test

// faultsOfHTTP are faults about paths, headers, server names, tokens, authorizers and the modes of mTLS. Tokens and
// modes are read in one place, so that one change is in all opinions.
var faultsOfHTTP = []fault{
	{"a server name of Istio is not compared", []change{
		{"policy/istio/internal/authorization/subject.go", `return text(attribute.SNI, value) }`, "\n			if FAULT {\n				return policy.Always\n			}\n			return text(attribute.SNI, value)\n		}"},
		{"policy/istio/internal/evaluation/value.go", "serverName(value string) bool {\n", "serverName(value string) bool {\n	if FAULT {\n		return true\n	}\n"},
	}},
	{"the address that callers connect to is not compared", []change{
		{"policy/istio/internal/authorization/subject.go", `return inBlock(attribute.DestinationAddress, value) }`, "\n			if FAULT {\n				return policy.Always\n			}\n			return inBlock(attribute.DestinationAddress, value)\n		}"},
		{"policy/istio/internal/evaluation/value.go", `return inBlock(value, q.r.Destination)`, `return FAULT || inBlock(value, q.r.Destination)`},
	}},
	{"only the first line of a header counts", []change{
		{"policy/attribute/header.go", "			if r.JoinsLines {", "			if FAULT && i > 0 {\n				return \"\", false\n			}\n			if r.JoinsLines {"},
		{"policy/istio/internal/evaluation/value.go", `for _, line := range plainheader.Lines(q.r, lower(name), q.r.JoinsLines) {`, "for n, line := range plainheader.Lines(q.r, lower(name), q.r.JoinsLines) {\n		if FAULT && n > 0 {\n			break\n		}"},
		{"policy/cilium/internal/evaluation/http.go", `for _, line := range plainheader.Lines(r, strings.ToLower(name), r.JoinsLines) {`, "for n, line := range plainheader.Lines(r, strings.ToLower(name), r.JoinsLines) {\n		if FAULT && n > 0 {\n			break\n		}"},
	}},
	{"escaped slashes are kept", []change{
		{"policy/normalize.go", `case e == KeepEscapedSlashes || plain == path:`, `case e == KeepEscapedSlashes || plain == path || FAULT:`},
		{"internal/plainpath/path.go", `c != '/' && c != '\\' || how == policy.KeepEscapedSlashes:`, `c != '/' && c != '\\' || how == policy.KeepEscapedSlashes || FAULT:`},
	}},
	{"dots are kept", []change{
		{"policy/normalize.go", `if err == nil && !n.Raw {`, `if err == nil && !n.Raw && !FAULT {`},
		{"internal/plainpath/path.go", `if !n.Raw {`, `if !n.Raw && !FAULT {`},
	}},
	{"dots with parameters are names", []change{
		{"policy/normalize.go", `if !n.KeepDotParameters {`, `if !n.KeepDotParameters && !FAULT {`},
		{"internal/plainpath/path.go", `if !n.KeepDotParameters && (`, `if !FAULT && !n.KeepDotParameters && (`},
	}},
	{"the normalization of the mesh config is not read", []change{
		{"policy/istio/internal/authorization/normalization.go", `return normalizations[n].path }`, "\n	if FAULT {\n		n = Unstated\n	}\n	return normalizations[n].path\n}"},
	}},
	{"an authorizer without an answer lets pass", []change{
		{"policy/istio/internal/authorization/custom.go", `FailOpen: p.GRPC.FailOpen,`, `FailOpen: p.GRPC.FailOpen || FAULT,`},
		{"policy/istio/internal/evaluation/evaluate.go", `passes = p.GRPC.FailOpen`, `passes = p.GRPC.FailOpen || FAULT`},
	}},
	{"an expression of Cilium takes what follows, too", []change{
		{"policy/cilium/internal/networkpolicy/http.go", `Value: f.value}}`, `Value: f.value + map[bool]string{true: ".*"}[FAULT]}}`},
		{"policy/cilium/internal/evaluation/http.go", "	if expression == \"\" {\n		return true\n	}\n", "	if expression == \"\" {\n		return true\n	}\n	if FAULT {\n		expression += \".*\"\n	}\n"},
	}},
	{"a header of Cilium is asked for by its name alone", []change{
		{"policy/cilium/internal/networkpolicy/http.go", "	if hasValue {\n		is = a.Exact", "	if hasValue && !FAULT {\n		is = a.Exact"},
		{"policy/cilium/internal/evaluation/http.go", `if !hasValue || line == value {`, `if FAULT || !hasValue || line == value {`},
	}},
	{"a host of Cilium is not compared", []change{
		{"policy/cilium/internal/networkpolicy/http.go", `if f.value == "" {`, `if f.value == "" || FAULT && f.name == "host" {`},
		{"policy/cilium/internal/evaluation/http.go", `|| !full(rule.Host, r.Host, r) {`, `|| !FAULT && !full(rule.Host, r.Host, r) {`},
	}},
	{"a method of Cilium is not compared", []change{
		{"policy/cilium/internal/networkpolicy/http.go", `if f.value == ""`, `if FAULT && f.name == "method" || f.value == ""`},
		{"policy/cilium/internal/evaluation/http.go", `|| !full(rule.Method, r.Method, r)`, `|| !FAULT && !full(rule.Method, r.Method, r)`},
	}},
	{"a token is taken at the usual places alone", []change{
		{"internal/token/place.go", `if len(i.Places) == 0 {`, `if len(i.Places) == 0 || FAULT {`},
	}},
	{"a preflight request needs a sound token", []change{
		{"policy/istio/internal/authentication/authentication.go", `d.Preflight = d.Preflight || len(p.resource.Spec.Rules) > 0`, `d.Preflight = d.Preflight || len(p.resource.Spec.Rules) > 0 && !FAULT`},
	}},
	{"the mode of the mesh goes before that of a workload", []change{
		{"policy/istio/internal/peerauthentication/compose.go", `own != mtls.Unset {`, `own != mtls.Unset && !(FAULT && by != nil) {`},
	}},
	{"the younger PeerAuthentication counts", []change{
		{"policy/istio/internal/peerauthentication/compose.go", `return p.created.Before(q.created)`, `return p.created.Before(q.created) != FAULT`},
	}},
	{"an inbound without a PeerAuthentication demands a certificate", []change{
		{"policy/istio/internal/peerauthentication/compose.go", `	mode = Default
`, "	if mode = Default; FAULT {\n		mode = mtls.Strict\n	}\n"},
	}},
	{"a method of a route of Linkerd is not compared", []change{
		{"policy/linkerd/internal/route/order.go", "	if m.Method != \"\" {\n		out = append(out, attribute", "	if m.Method != \"\" && !FAULT {\n		out = append(out, attribute"},
		{"policy/linkerd/internal/evaluation/route.go", `!ok || m.Method != "" && m.Method != r.Method {`, `!ok || !FAULT && m.Method != "" && m.Method != r.Method {`},
	}},
	{"a header of a route of Linkerd is not compared", []change{
		{"policy/linkerd/internal/route/order.go", `for _, h := range m.Headers {`, `for _, h := range m.Headers[:len(m.Headers)*map[bool]int{false: 1}[FAULT]] {`},
		{"policy/linkerd/internal/evaluation/route.go", `if !hasHeader(h, r) {`, `if !FAULT && !hasHeader(h, r) {`},
	}},
	{"a parameter of a route of Linkerd is not compared", []change{
		{"policy/linkerd/internal/route/order.go", `for _, q := range m.Query {`, `for _, q := range m.Query[:len(m.Query)*map[bool]int{false: 1}[FAULT]] {`},
		{"policy/linkerd/internal/evaluation/route.go", `if !hasParameter(p, r) {`, `if !FAULT && !hasParameter(p, r) {`},
	}},
	{"only the first header of a rule of Cilium counts", []change{
		{"policy/cilium/internal/networkpolicy/http.go", `for i, header := range from.Headers {`, "for i, header := range from.Headers {\n		if FAULT && i > 0 {\n			break\n		}"},
		{"policy/cilium/internal/evaluation/http.go", `for _, header := range rule.Headers {`, "for i, header := range rule.Headers {\n		if FAULT && i > 0 {\n			break\n		}"},
	}},
	{"a trust domain of a source stands for itself alone", []change{
		{"policy/istio/internal/authorization/alias.go", `if slices.Contains(own, domain) {`, `if slices.Contains(own, domain) && !FAULT {`},
		{"policy/istio/internal/evaluation/value.go", `			alike = domains`, "			if !FAULT {\n				alike = domains\n			}"},
	}},
	{"escaped digits are kept", []change{
		{"policy/normalize.go", `c >= '0' && c <= '9' ||`, `c >= '0' && c <= '9' && !FAULT ||`},
		{"internal/plainpath/path.go", `case escaped && strings.IndexByte(unreserved, c) >= 0:`, `case escaped && strings.IndexByte(unreserved, c) >= 0 && !(FAULT && c >= '0' && c <= '9'):`},
	}},
	{"of PeerAuthentications of one age the last name counts", []change{
		{"policy/istio/internal/peerauthentication/compose.go", `return p.resource.Metadata.Name < q.resource.Metadata.Name`, `return (p.resource.Metadata.Name < q.resource.Metadata.Name) != FAULT`},
	}},
	{"of PeerAuthentications of one age a longer name counts before the name that it goes on behind", []change{
		{"policy/istio/internal/peerauthentication/compose.go", `p.resource.Metadata.Name < q.resource.Metadata.Name`, `p.resource.Metadata.Name+map[bool]string{true: "."}[FAULT] < q.resource.Metadata.Name+map[bool]string{true: "."}[FAULT]`},
	}},
}
