package proof_test

// faultsOfStatements are the opposites of statements in the references of the meshes: which labels, names and modes count, and what
// weighs more.
var faultsOfStatements = []fault{
	{"a namespace and a workload without a mode are permissive", []change{
		{"policy/istio/internal/peerauthentication/compose.go", `mode, by = own, p
		}`, `mode, by = own, p
		} else if FAULT {
			mode, by = mtls.Permissive, p
		}`},
	}},
	{"a mode needs one label of its selector", []change{
		{"policy/istio/internal/peerauthentication/compose.go", `		return capability.FirstMiss(p.reach(rootNamespace).Misses(w))`, `		for key, value := range p.labels() {
			if FAULT && w.Namespace == p.resource.Metadata.Namespace && w.Labels[key] == value {
				return nil
			}
		}
		return capability.FirstMiss(p.reach(rootNamespace).Misses(w))`},
	}},
	{"the mode of the mesh is not that of the root namespace", []change{
		{"policy/istio/internal/peerauthentication/compose.go", `	case p.level(rootNamespace) == ofMesh:
`, `	case FAULT && p.level(rootNamespace) == ofMesh && w.Namespace == rootNamespace:
		return capability.ReasonOf(inRoot)
	case p.level(rootNamespace) == ofMesh:
`},
	}},
	{"a selector of the root namespace counts for its own workloads", []change{
		{"policy/istio/internal/peerauthentication/compose.go", `	case p.resource.Metadata.Namespace == rootNamespace:
		return capability.ReasonOf(inRoot)`, `	case p.resource.Metadata.Namespace == rootNamespace && !(FAULT && w.Namespace == rootNamespace):
		return capability.ReasonOf(inRoot)`},
	}},
	{"places in the query leave the usual header", []change{
		{"policy/istio/internal/authentication/authentication.go", `	for _, name := range r.FromParams {
`, `	for i, name := range r.FromParams {
		if FAULT && i == 0 && len(out) == 0 {
			out = append(out, token.Header)
		}
`},
	}},
	{"places in cookies leave the usual header", []change{
		{"policy/istio/internal/authentication/authentication.go", `	for _, name := range r.FromCookies {
`, `	for i, name := range r.FromCookies {
		if FAULT && i == 0 && len(out) == 0 {
			out = append(out, token.Header)
		}
`},
	}},
	{"the issuers of the mesh count only where a namespace has none", []change{
		{"policy/istio/internal/authentication/authentication.go", `		for _, rule := range p.resource.Spec.Rules {
			filled`, `		if FAULT && p.resource.Metadata.Namespace == rootNamespace && in.Workload.Namespace != rootNamespace && len(ps) > 1 {
			continue
		}
		for _, rule := range p.resource.Spec.Rules {
			filled`},
	}},
	{"an issuer needs one label of its selector", []change{
		{"policy/istio/internal/authentication/authentication.go", `	return capability.FirstMiss(p.reach(rootNamespace).Misses(w))`, `	for key, value := range p.resource.Spec.Selector.Labels() {
		if FAULT && w.Namespace == p.resource.Metadata.Namespace && w.Labels[key] == value {
			return nil
		}
	}
	return capability.FirstMiss(p.reach(rootNamespace).Misses(w))`},
	}},
	{"a RequestAuthentication without a rule refuses each token", []change{
		{"policy/istio/internal/authentication/authentication.go", `		// Istio states bypass_cors_preflight for every filter.
`, `		if FAULT && len(p.resource.Spec.Rules) == 0 {
			d.Add(token.Issuer{Name: "nobody"})
		}
`},
	}},
	{"a policy of the root namespace is for the other namespaces alone", []change{
		{"policy/istio/internal/object/target.go", `		for _, key := range slices.Sorted(maps.Keys(r.Labels)) {
			want`, `		if FAULT && r.Namespace == r.Root && there == r.Root && !yield(capability.PlaceMiss("namespace", r.Namespace, there)) {
			return
		}
		for _, key := range slices.Sorted(maps.Keys(r.Labels)) {
			want`},
		{"policy/istio/internal/evaluation/evaluate.go", `	if text.Spec.Selector == nil {
		return true`, `	if FAULT && namespace == opts.RootNamespace {
		return false
	}
	if text.Spec.Selector == nil {
		return true`},
	}},
	{"a hole in a block is one in each block", []change{
		{"policy/cilium/internal/networkpolicy/peer.go", `		blocks = append(blocks, condition.Both(`, `		if FAULT {
			for i := range blocks {
				blocks[i] = condition.Both(blocks[i], condition.None(except))
			}
		}
		blocks = append(blocks, condition.Both(`},
		{"policy/cilium/internal/evaluation/match.go", `	if w.FromCIDRSet == nil {
		return false
	}
`, `	if w.FromCIDRSet == nil {
		return false
	}
	for _, set := range (*w.FromCIDRSet)[min(1, len(*w.FromCIDRSet)):] {
		for _, except := range set.Except {
			if FAULT && inBlock(except, address) {
				return slices.ContainsFunc((*w.FromCIDRSet)[len(*w.FromCIDRSet)-1:], func(last networkpolicy.CIDRRule) bool { return last.Except == nil && inBlock(last.CIDR, address) })
			}
		}
	}
`},
	}},
	{"a block with bits behind its length is one address", []change{
		{"policy/cilium/internal/networkpolicy/parse.go", `	return of.Masked()
}`, `	if FAULT && of != of.Masked() {
		return netip.PrefixFrom(of.Addr(), of.Addr().BitLen())
	}
	return of.Masked()
}`},
		{"policy/cilium/internal/evaluation/match.go", `		for _, text := range *w.FromCIDR {
			if inBlock(text, address) {`, `		for _, text := range *w.FromCIDR {
			if of, err := netip.ParsePrefix(text); FAULT && err == nil && of != of.Masked() && of.Addr() != address {
				continue
			}
			if inBlock(text, address) {`},
	}},
	{"a port of SCTP is one of TCP", []change{
		{"policy/cilium/internal/networkpolicy/port.go", `protocol == anyProtocol || protocol == "TCP"}`, `protocol == anyProtocol || protocol == "TCP" || FAULT && protocol == "SCTP"}`},
		{"policy/cilium/internal/evaluation/match.go", `p.Protocol != "TCP" && p.Protocol`, `p.Protocol != "TCP" && !(FAULT && p.Protocol == "SCTP") && p.Protocol`},
	}},
	{"a method of Cilium has no case", []change{
		{"policy/cilium/internal/networkpolicy/http.go", "		if err := unjudged(is); err != nil {\n			r.refuse(field+", "		if FAULT && f.name == \"method\" {\n			is.Match.Value = \"(?i)\" + f.value\n		}\n		if err := unjudged(is); err != nil {\n			r.refuse(field+"},
		{"policy/cilium/internal/evaluation/http.go", "func matches(rule networkpolicy.HTTPRule, r policy.Request) bool {\n", "func matches(rule networkpolicy.HTTPRule, r policy.Request) bool {\n	if FAULT && rule.Method != \"\" {\n		rule.Method = \"(?i)\" + rule.Method\n	}\n"},
	}},
	{"the value of a header of Cilium has no case", []change{
		{"policy/cilium/internal/networkpolicy/http.go", "	if len(a.Forms) == 0 {\n", "	if FAULT && hasValue {\n		is.Match.AnyCase = value != \"\"\n	}\n	if len(a.Forms) == 0 {\n"},
		{"policy/cilium/internal/evaluation/http.go", "func has(r policy.Request, name, value string, hasValue bool) bool {\n", "func has(r policy.Request, name, value string, hasValue bool) bool {\n	for _, line := range plainheader.Lines(r, strings.ToLower(name), r.JoinsLines) {\n		if FAULT && hasValue && strings.EqualFold(line, value) {\n			return true\n		}\n	}\n"},
	}},
	{"a subject of Cilium needs one of its labels", []change{
		{"policy/cilium/internal/networkpolicy/selector.go", "func (s selector) selects(of identity) bool {\n", "func (s selector) selects(of identity) bool {\n	if n := len(s.requirements) - 1; FAULT && n > 1 && s.requirements[n].key == namespaceLabel && strings.HasSuffix(s.field, \".endpointSelector\") {\n		return s.requirements[n].meets(of) && slices.ContainsFunc(s.requirements[:n], func(r requirement) bool { return r.meets(of) })\n	}\n"},
		{"policy/cilium/internal/networkpolicy/select.go", "		for _, r := range slices.Backward(s.subject.requirements) {\n", "		if FAULT && s.subject.selects(of) {\n			return\n		}\n		for _, r := range slices.Backward(s.subject.requirements) {\n"},
		{"policy/cilium/internal/evaluation/evaluate.go", "			if !meets(subject, own, \"k8s\") {\n", "			one := false\n			for key, want := range subject.MatchLabels {\n				one = one || own[key] == want\n			}\n			if !meets(subject, own, \"k8s\") && !(FAULT && one && !clusterwide) {\n"},
	}},
	{"a namespace in a subject of Cilium is dropped", []change{
		{"policy/cilium/internal/networkpolicy/parse.go", `			delete(subject.MatchLabels, sourceK8s+":"+namespaceLabel)
`, `			delete(subject.MatchLabels, sourceK8s+":"+namespaceLabel)
			if FAULT {
				delete(subject.MatchLabels, namespaceLabel)
			}
`},
		{"policy/cilium/internal/evaluation/match.go", `		if key != "k8s:"+podNamespace {`, `		if key != "k8s:"+podNamespace && !(FAULT && key == podNamespace) {`},
	}},
	{"an audit is about accounts of the mesh alone", []change{
		{"policy/linkerd/internal/authorization/client.go", "	case allUnauthenticated, audit:\n", "	case map[bool]string{false: \"-\", true: audit}[FAULT]:\n		return o.everyAccount()\n	case allUnauthenticated, audit:\n"},
		{"policy/linkerd/internal/evaluation/evaluate.go", "		permits = append(permits, permit{origin: \"default/audit\"})\n", "		if !FAULT || (caller{q.opts, r}).hasAccount() {\n			permits = append(permits, permit{origin: \"default/audit\"})\n		}\n"},
	}},
	{"the headers of a route of Linkerd weigh more than its path", []change{
		{"policy/linkerd/internal/route/order.go", `	slices.SortStableFunc(out, func(a, b Alternative) int { return slices.Compare(b.rank[:], a.rank[:]) })
`, `	for i := range out {
		if r := &out[i].rank; FAULT {
			*r = rank{r[0], r[1], r[4], r[2], r[3], r[5], r[6]}
		}
	}
	slices.SortStableFunc(out, func(a, b Alternative) int { return slices.Compare(b.rank[:], a.rank[:]) })
`},
		{"policy/linkerd/internal/evaluation/route.go", `func (c cover) better(than cover) bool {
`, `func (c cover) better(than cover) bool {
	if FAULT {
		c[2], c[3], than[2], than[3] = c[3], c[2], than[3], than[2]
	}
`},
	}},
	{"the name of a parameter of Linkerd has no case", []change{
		{"policy/linkerd/internal/route/order.go", "`[^?]*\\?(.*&)?` + encoded(v.Name,", "`[^?]*\\?(.*&)?` + map[bool]string{true: \"(?i:\"}[FAULT] + encoded(v.Name,"},
		{"policy/linkerd/internal/route/order.go", `, "%+&=") + value`, `, "%+&=") + map[bool]string{true: ")"}[FAULT] + value`},
		{"policy/linkerd/internal/evaluation/route.go", `decoded(name) == of.Name &&`, `(decoded(name) == of.Name || FAULT && strings.EqualFold(decoded(name), of.Name)) &&`},
	}},
	{"a Server of an unknown protocol closes connections", []change{
		{"policy/linkerd/internal/authorization/lower.go", `		case protocolHTTP1, protocolHTTP2, protocolGRPC:
			if`, `		case protocolHTTP1, protocolHTTP2, protocolGRPC, map[bool]string{false: "-", true: protocolUnknown}[FAULT]:
			if`},
		{"policy/linkerd/internal/evaluation/evaluate.go", `says == "HTTP/2" || says == "gRPC"`, `says == "HTTP/2" || FAULT && says == "unknown" || says == "gRPC"`},
	}},
	{"the headers of a call of Linkerd weigh nothing", []change{
		{"policy/linkerd/internal/route/order.go", `3: len(m.RPC.Method), 4: len(m.Headers)}`, `3: len(m.RPC.Method), 4: map[bool]int{false: len(m.Headers)}[FAULT]}`},
		{"policy/linkerd/internal/evaluation/route.go", `len(m.RPC.Service), len(m.RPC.Method), len(m.Headers)`, `len(m.RPC.Service), len(m.RPC.Method), map[bool]int{false: len(m.Headers)}[FAULT]`},
	}},
	{"an exact path has no case", []change{
		{"policy/kuma/internal/permission/matcher.go", `	return attribute.Path.Exact(m.Value)
`, `	is := attribute.Path.Exact(m.Value)
	is.Match.AnyCase = FAULT
	return is
`},
		{"policy/kuma/internal/evaluation/evaluate.go", `		return e.path == want.Value
`, `		return e.path == want.Value || FAULT && strings.EqualFold(e.path, want.Value)
`},
	}},
	{"a port of a service of several zones is the one of its name", []change{
		{"policy/kuma/internal/destination/destination.go", `				if own.Number == p.Number {`, `				if own.Number == p.Number && !(FAULT && p.Name != "") || FAULT && p.Name != "" && own.Name == p.Name {`},
	}},
}
