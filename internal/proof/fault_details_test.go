package proof_test

// faultsOfDetails are those of what the matches of routes weigh, of timeouts, of the legacy form, and of HTTP rules.
var faultsOfDetails = []fault{
	{"an expression for a path goes in front of a prefix", []change{
		{"policy/kuma/internal/route/match.go", "		default:\n			kind = 1\n", "		default:\n			kind = map[bool]int{false: 1, true: 3}[FAULT]\n"},
		{"policy/kuma/internal/routeevaluation/rule.go", `policy.Regex: 1}`, `policy.Regex: map[bool]int{false: 1, true: 3}[FAULT]}`},
	}},
	{"the prefix of all paths is tried last", []change{
		{"policy/kuma/internal/route/match.go", `kind, length = 2, 1`, `kind, length = map[bool]int{false: 2}[FAULT], map[bool]int{false: 1}[FAULT]`},
		{"policy/kuma/internal/routeevaluation/rule.go", `p[0], p[1] = 2, 1`, `p[0], p[1] = map[bool]int{false: 2}[FAULT], map[bool]int{false: 1}[FAULT]`},
	}},
	{"the parameters of a match weigh nothing", []change{
		{"policy/kuma/internal/route/match.go", `, len(m.Query)}`, `, len(m.Query) * map[bool]int{false: 1}[FAULT]}`},
		{"policy/kuma/internal/routeevaluation/rule.go", `, len(m.Query)`, `, len(m.Query)*map[bool]int{false: 1}[FAULT]`},
	}},
	{"the value of a parameter is not compared", []change{
		{"policy/kuma/internal/route/match.go", `attribute.QueryParameter(q.Name), Match: q.Match}`, `attribute.QueryParameter(q.Name), Match: map[bool]policy.Match{false: q.Match, true: {Kind: policy.Present}}[FAULT]}`},
		{"policy/kuma/internal/routeevaluation/rule.go", `if !has || !text(want.Match, value) {`, `if !has || !FAULT && !text(want.Match, value) {`},
	}},
	{"the value of a header is compared in any case", []change{
		{"policy/kuma/internal/route/match.go", "		if h.Absent", "		is.Match.AnyCase = FAULT && h.Match.Kind == policy.Exact\n		if h.Absent"},
		{"policy/kuma/internal/routeevaluation/rule.go", `return text(want.Match, line) }`, `return text(want.Match, line) || FAULT && want.Match.Kind == policy.Exact && strings.EqualFold(line, want.Match.Value) }`},
	}},
	{"the method of a route is not compared", []change{
		{"policy/kuma/internal/route/match.go", "	if m.Method != \"\" {\n		all", "	if m.Method != \"\" && !FAULT {\n		all"},
		{"policy/kuma/internal/routeevaluation/rule.go", `m.Method != "" && m.Method != r.Method {`, `!FAULT && m.Method != "" && m.Method != r.Method {`},
	}},
	{"a backend without a weight gets requests", []change{
		{"policy/kuma/internal/outbound/build.go", `out[i].Weight = backend.Weight`, `out[i].Weight = max(backend.Weight, map[bool]uint32{true: 1}[FAULT])`},
		{"policy/kuma/internal/routeevaluation/evaluate.go", `routing.Backend{Weight: backend.Weight}`, `routing.Backend{Weight: max(backend.Weight, map[bool]uint32{true: 1}[FAULT])}`},
	}},
	{"the port of a backend is not read", []change{
		{"policy/kuma/internal/outbound/build.go", `case backend.Port != 0:`, `case backend.Port != 0 && !FAULT:`},
		{"policy/kuma/internal/routeevaluation/evaluate.go", `if backend.Port != 0 {`, `if backend.Port != 0 && !FAULT {`},
	}},
	{"a rule without backends sends to the service, whatever another rule says", []change{
		{"policy/kuma/internal/outbound/build.go", `case out[place].backends == nil:`, `case out[place].backends == nil && !FAULT:`},
		{"policy/kuma/internal/routeevaluation/rule.go", `if best.backends == nil {`, `if best.backends == nil && !FAULT {`},
	}},
	{"a timeout of the mesh goes in front of that of a service", []change{
		{"policy/kuma/internal/outbound/rules.go", `cmp.Compare(e.kind, f.kind)`, `cmp.Compare(e.kind, f.kind)*map[bool]int{false: 1, true: -1}[FAULT]`},
		{"policy/kuma/internal/routeevaluation/limit.go", `s.place[0] = place`, `s.place[0] = place * map[bool]int{false: 1, true: -1}[FAULT]`},
	}},
	{"a timeout of 0s is none that is set", []change{
		{"policy/kuma/internal/timeout/timeout.go", `if over.Set(b) {`, `if over.Set(b) && !(FAULT && over[b].Time == 0) {`},
		{"policy/kuma/internal/routeevaluation/limit.go", `if item.Conf[bound].Origin == "" ||`, `if item.Conf[bound].Origin == "" || FAULT && item.Conf[bound].Time == 0 ||`},
	}},
	{"of two items of a timeout the first one is stronger", []change{
		{"policy/kuma/internal/outbound/rules.go", "				item := &t.To[k]\n", "				item := &t.To[k]\n				if FAULT {\n					item = &t.To[len(t.To)-1-k]\n				}\n"},
		{"policy/kuma/internal/routeevaluation/limit.go", `b.item > a.item {`, `(b.item > a.item) != FAULT && b.item != a.item {`},
	}},
	{"the time of the headers is that of no policy", []change{
		{"policy/kuma/internal/outbound/build.go", `out.Headers = own[routing.RequestHeaders]`, `out.Headers = map[bool]routing.Limit{false: own[routing.RequestHeaders]}[FAULT]`},
		{"policy/kuma/internal/routeevaluation/evaluate.go", `out.Limits[bound] = c.limit(bound, nil)`, `out.Limits[bound] = map[bool]time.Duration{false: c.limit(bound, nil)}[FAULT]`},
	}},
	{"an item of from without tags names nobody", []change{
		{"policy/kuma/internal/legacy/item.go", "	case 0:\n		return policy.Always", "	case 0:\n		return policy.Constant(!FAULT)"},
		{"policy/kuma/internal/evaluation/evaluate.go", `return i.Mesh == "" || isOfMesh(`, `return i.Mesh == "" && (!FAULT || len(i.Tags) > 0) || isOfMesh(`},
	}},
	{"a service of another mesh is one of the own mesh", []change{
		{"policy/kuma/internal/legacy/item.go", `san: "spiffe://" + mesh + "/" + name}`, `san: "spiffe://" + map[bool]string{false: mesh, true: "default"}[FAULT] + "/" + name}`},
		{"policy/kuma/internal/evaluation/evaluate.go", `"spiffe://"+i.ServiceMesh+"/"+i.Service)`, `"spiffe://"+map[bool]string{false: i.ServiceMesh, true: "default"}[FAULT]+"/"+i.Service)`},
	}},
	{"a deny with an allow in the shadow is an allow", []change{
		{"policy/kuma/internal/legacy/item.go", `a == Allow || a == AllowWithShadowDeny }`, `a == Allow || a == AllowWithShadowDeny || FAULT && a == DenyWithShadowAllow }`},
		{"policy/kuma/internal/evaluation/evaluate.go", `if action == legacy.Allow || action == legacy.AllowWithShadowDeny {`, `if action == legacy.Allow || action == legacy.AllowWithShadowDeny || FAULT && action == legacy.DenyWithShadowAllow {`},
	}},
	{"the length of a host of Linkerd weighs nothing", []change{
		{"policy/linkerd/internal/route/order.go", `own.rank[0], own.rank[1] = 2, len(host)`, `own.rank[0], own.rank[1] = 2, len(host)*map[bool]int{false: 1}[FAULT]`},
		{"policy/linkerd/internal/route/order.go", `1, len(suffix)+1`, `1, (len(suffix)+1)*map[bool]int{false: 1}[FAULT]`},
		{"policy/linkerd/internal/evaluation/route.go", `c[0], c[1] = kind, length;`, `c[0], c[1] = kind, length*map[bool]int{false: 1}[FAULT];`},
		{"policy/linkerd/internal/evaluation/route.go", `cover{0: kind, 1: length,`, `cover{0: kind, 1: length * map[bool]int{false: 1}[FAULT],`},
	}},
	{"the method of a route of Linkerd weighs nothing", []change{
		{"policy/linkerd/internal/route/order.go", "		a.rank[6] = 1\n", "		a.rank[6] = map[bool]int{false: 1}[FAULT]\n"},
		{"policy/linkerd/internal/evaluation/route.go", "			c[5] = 1\n", "			c[5] = map[bool]int{false: 1}[FAULT]\n"},
	}},
	{"the method of a route of Linkerd weighs more than its headers", []change{
		{"policy/linkerd/internal/route/order.go", "	if m.Method != \"\" {\n		a.rank[6]", "	if m.Method != \"\" {\n		a.rank[4] += map[bool]int{true: 100}[FAULT]\n		a.rank[6]"},
		{"policy/linkerd/internal/evaluation/route.go", "		if m.Method != \"\" {\n			c[5]", "		if m.Method != \"\" {\n			c[3] += map[bool]int{true: 100}[FAULT]\n			c[5]"},
	}},
	{"the headers of a route of Linkerd weigh nothing", []change{
		{"policy/linkerd/internal/route/order.go", `{4: len(m.Headers), 5`, `{4: len(m.Headers) * map[bool]int{false: 1}[FAULT], 5`},
		{"policy/linkerd/internal/evaluation/route.go", `c[3], c[4] = len(m.Headers), len(m.Query)`, `c[3], c[4] = len(m.Headers)*map[bool]int{false: 1}[FAULT], len(m.Query)`},
	}},
	{"the parameters of a route of Linkerd weigh nothing", []change{
		{"policy/linkerd/internal/route/order.go", `5: len(m.Query)`, `5: len(m.Query) * map[bool]int{false: 1}[FAULT]`},
		{"policy/linkerd/internal/evaluation/route.go", `, len(m.Query)`, `, len(m.Query)*map[bool]int{false: 1}[FAULT]`},
	}},
	{"of routes that are as close the last name counts", []change{
		{"policy/linkerd/internal/route/order.go", `return compareNames(a, b)`, `return compareNames(a, b) * map[bool]int{false: 1, true: -1}[FAULT]`},
		{"policy/linkerd/internal/evaluation/route.go", `slices.Compare(nameOf(a), nameOf(b)) < 0`, `(slices.Compare(nameOf(a), nameOf(b)) < 0) != FAULT`},
	}},
	{"of routes that are as close the group counts in front of the name", []change{
		{"policy/linkerd/internal/route/order.go", `return cmp.Or(strings.Compare(a`, `return cmp.Or(strings.Compare(map[bool]string{true: a.Head.Group()}[FAULT], map[bool]string{true: b.Head.Group()}[FAULT]), strings.Compare(a`},
		{"policy/linkerd/internal/evaluation/route.go", `return []string{r.Head`, `return []string{map[bool]string{true: group}[FAULT], r.Head`},
	}},
	{"each loopback address is beside the proxy", []change{
		{"policy/linkerd/internal/authorization/client.go", `inNetworks([]Network{{CIDR: "127.0.0.1"}`, `inNetworks([]Network{{CIDR: map[bool]string{false: "127.0.0.1", true: "127.0.0.0/8"}[FAULT]}`},
		{"policy/linkerd/internal/evaluation/evaluate.go", `who.hasAddress("127.0.0.1")`, `who.hasAddress(map[bool]string{false: "127.0.0.1", true: "127.0.0.0/8"}[FAULT])`},
	}},
	{"a Server of gRPC without a route takes each request", []change{
		{"policy/linkerd/internal/authorization/lower.go", `len(routes) == 0 && server.kindOfRoutes()`, `!FAULT && len(routes) == 0 && server.kindOfRoutes()`},
		{"policy/linkerd/internal/evaluation/evaluate.go", `"gRPC" && !isCall(r) {`, `"gRPC" && !FAULT && !isCall(r) {`},
	}},
	{"of routes that are as close the younger one counts", []change{
		{"policy/linkerd/internal/route/order.go", `return a.Created.Compare(b.Created)`, `return a.Created.Compare(b.Created) * map[bool]int{false: 1, true: -1}[FAULT]`},
		{"policy/linkerd/internal/evaluation/route.go", `return a.Created.Before(b.Created)`, `return a.Created.Before(b.Created) != FAULT`},
	}},
	{"the method of a call is not compared", []change{
		{"policy/linkerd/internal/route/order.go", `case c.Service != "" && c.Method == "":`, `case c.Service != "" && (c.Method == "" || FAULT):`},
		{"policy/linkerd/internal/evaluation/route.go", `m.RPC.Method != "" && m.RPC.Method != parts[2] {`, `(!FAULT || m.RPC.Service == "") && m.RPC.Method != "" && m.RPC.Method != parts[2] {`},
	}},
	{"a plus sign in a parameter is no space", []change{
		{"policy/linkerd/internal/route/order.go", `if c == ' ' {`, `if c == ' ' && !FAULT {`},
		{"policy/linkerd/internal/evaluation/route.go", `if c == '+' {`, `if c == '+' && !FAULT {`},
	}},
	{"the port of a host of Linkerd is compared", []change{
		{"policy/linkerd/internal/route/order.go", "`\\.?(:[0-9]*)?`", "map[bool]string{false: `\\.?(:[0-9]*)?`, true: `\\.?`}[FAULT]"},
		{"policy/linkerd/internal/evaluation/route.go", `if found && strings.Trim(port, "0123456789") != "" {`, `if found && (FAULT || strings.Trim(port, "0123456789") != "") {`},
	}},
	{"only the first match of a rule counts", []change{
		{"policy/linkerd/internal/route/order.go", `for k, m := range rule.AllMatches() {`, "for k, m := range rule.AllMatches() {\n				if FAULT && k > 0 {\n					break\n				}"},
		{"policy/linkerd/internal/evaluation/route.go", `for _, m := range rule.Matches {`, "for k, m := range rule.Matches {\n			if FAULT && k > 0 {\n				break\n			}"},
	}},
	{"only the first HTTP rule of Cilium counts", []change{
		{"policy/cilium/internal/networkpolicy/http.go", `for i, rule := range rules.HTTP {`, "for i, rule := range rules.HTTP {\n		if FAULT && i > 0 {\n			break\n		}"},
		{"policy/cilium/internal/evaluation/http.go", `for _, rule := range entry.Rules.HTTP {`, "for i, rule := range entry.Rules.HTTP {\n			if FAULT && i > 0 {\n				break\n			}"},
	}},
	{"matches of headers of Cilium are not read", []change{
		{"policy/cilium/internal/networkpolicy/http.go", `for i, header := range from.HeaderMatches {`, "for i, header := range from.HeaderMatches {\n		if FAULT {\n			break\n		}"},
		{"policy/cilium/internal/evaluation/http.go", `for _, header := range rule.HeaderMatches {`, "for _, header := range rule.HeaderMatches {\n		if FAULT {\n			break\n		}"},
	}},
	{"the path of Cilium has no query", []change{
		{"policy/cilium/internal/networkpolicy/http.go", `attribute.Header(":path")}`, `map[bool]*policy.Attribute{false: attribute.Header(":path"), true: attribute.Path}[FAULT]}`},
		{"policy/cilium/internal/evaluation/http.go", `!full(rule.Path, r.Path, r)`, `!full(rule.Path, map[bool]string{false: r.Path, true: r.PathOnly()}[FAULT], r)`},
	}},
	{"the value of a match of headers is not compared", []change{
		{"policy/cilium/internal/networkpolicy/http.go", `header.Value, header.Value != ""))`, `header.Value, header.Value != "" && !FAULT))`},
		{"policy/cilium/internal/evaluation/http.go", `header.Value, header.Value != "")`, `header.Value, header.Value != "" && !FAULT)`},
	}},
	{"only the first star of a namespace stands for any text", []change{
		{"policy/istio/internal/authorization/subject.go", `".*/ns/"+strings.ReplaceAll(`, `".*/ns/"+map[bool]func(s, old, by string) string{false: strings.ReplaceAll, true: func(s, old, by string) string { return strings.Replace(s, old, by, 1) }}[FAULT](`},
		{"policy/istio/internal/evaluation/value.go", `range strings.Split("/ns/"+value+"/", "*")`, `range strings.SplitN("/ns/"+value+"/", "*", map[bool]int{true: 2, false: -1}[FAULT])`},
	}},
	{"a PeerAuthentication without mtls has the usual mode", []change{
		{"policy/istio/internal/peerauthentication/compose.go", "			mode, by = own, p\n", "			mode, by = own, p\n		} else if FAULT && p.resource.Spec.MTLS == nil {\n			mode = Default\n"},
	}},
	{"only the first rule of an issuer has audiences", []change{
		{"internal/token/demand.go", "known.Audiences = slices.Concat(known.Audiences, issuer.Audiences)", "known.Audiences = slices.Concat(known.Audiences, issuer.Audiences[:map[bool]int{false: len(issuer.Audiences)}[FAULT]])"},
	}},
	{"a list of texts and numbers has no texts", []change{
		{"internal/token/token.go", "if len(texts) > 0 {", "if len(texts) > 0 && !(FAULT && len(scalars) > 0) {"},
	}},
	{"a port by its name is also one without a name", []change{
		{"policy/cilium/internal/networkpolicy/port.go", "return strings.EqualFold(r.name, in.Name)", `return strings.EqualFold(r.name, in.Name) || FAULT && in.Name == ""`},
		{"policy/cilium/internal/evaluation/match.go", "return strings.EqualFold(p.Port, q.inbound.Name)", `return strings.EqualFold(p.Port, q.inbound.Name) || FAULT && q.inbound.Name == ""`},
	}},
	{"a time for a service has the weight of one for the mesh", []change{
		{"policy/kuma/internal/outbound/rules.go", "cmp.Compare(e.kind, f.kind)", "cmp.Compare(map[bool]int{false: e.kind}[FAULT], map[bool]int{false: f.kind}[FAULT])"},
		{"policy/kuma/internal/routeevaluation/limit.go", "if kind == item.Ref.Kind {", "if kind == item.Ref.Kind && !FAULT {"},
	}},
}
