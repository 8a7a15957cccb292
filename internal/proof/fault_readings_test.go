package proof_test

// faultsOfReadings are those of somebody who took the words of a specification for something else: what counts of two
// values, what is empty, and what is compared as it stands.
var faultsOfReadings = []fault{
	{"only the first header of a match of a route is asked for", []change{
		{"policy/kuma/internal/route/match.go", "	for _, h := range m.Headers {\n		is", "	for i, h := range m.Headers {\n		if FAULT && i > 0 {\n			break\n		}\n		is"},
		{"policy/kuma/internal/routeevaluation/rule.go", "	for _, want := range m.Headers {", "	for i, want := range m.Headers {\n		if FAULT && i > 0 {\n			break\n		}"},
	}},
	{"only the first parameter of a match of a route is asked for", []change{
		{"policy/kuma/internal/route/match.go", "	for _, q := range m.Query {\n		all", "	for i, q := range m.Query {\n		if FAULT && i > 0 {\n			break\n		}\n		all"},
		{"policy/kuma/internal/routeevaluation/rule.go", "	for _, want := range m.Query {", "	for i, want := range m.Query {\n		if FAULT && i > 0 {\n			break\n		}"},
	}},
	{"an empty header is not there for a route", []change{
		{"policy/kuma/internal/route/match.go", "		if h.Absent", "		if FAULT && h.Match.Kind == policy.Present {\n			is.Match = policy.Match{Kind: policy.Regex, Value: \".+\"}\n		}\n		if h.Absent"},
		{"policy/kuma/internal/routeevaluation/rule.go", "	case policy.Present:\n		return true", "	case policy.Present:\n		return got != \"\" || !FAULT"},
	}},
	{"the last of two parameters counts for a route", []change{
		{"policy/attribute/query.go", "			for parameter := range strings.SplitSeq(query, \"&\") {", "			all := strings.Split(query, \"&\")\n			if FAULT {\n				for i := range len(all) / 2 {\n					all[i], all[len(all)-1-i] = all[len(all)-1-i], all[i]\n				}\n			}\n			for _, parameter := range all {"},
		{"policy/kuma/internal/routeevaluation/rule.go", `name == want.Name && !has && query != ""`, `name == want.Name && (!has || FAULT) && query != ""`},
	}},
	{"a parameter without a value is not there for a route", []change{
		{"policy/attribute/query.go", `if key, value, _ := strings.Cut(parameter, "="); key == name {`, `if key, value, valued := strings.Cut(parameter, "="); key == name && (valued || !FAULT) {`},
		{"policy/kuma/internal/routeevaluation/rule.go", `if name, of, _ := strings.Cut(part, "=");`, `if name, of, valued := strings.Cut(part, "="); (valued || !FAULT) &&`},
	}},
	{"the parameters of a route are decoded", []change{
		{"policy/attribute/query.go", `_, query, _ := strings.Cut(r.Path, "?")`, "_, query, _ := strings.Cut(r.Path, \"?\")\n			if FAULT {\n				query = strings.NewReplacer(\"%31\", \"1\", \"%76\", \"v\").Replace(query)\n			}"},
		{"policy/kuma/internal/routeevaluation/rule.go", `path, query, _ := strings.Cut(r.Path, "?")`, "path, query, _ := strings.Cut(r.Path, \"?\")\n	if FAULT {\n		query = strings.NewReplacer(\"%31\", \"1\", \"%76\", \"v\").Replace(query)\n	}"},
	}},
	{"a backend without a port is asked on its first one", []change{
		{"policy/kuma/internal/outbound/build.go", "		section = strconv.Itoa(int(from.Number))", "		if section = strconv.Itoa(int(from.Number)); FAULT {\n			section = meant[0].Ports[0].Section()\n		}"},
		{"policy/kuma/internal/routeevaluation/evaluate.go", "				section = strconv.Itoa(int(c.port.Number))", "				if section = strconv.Itoa(int(c.port.Number)); FAULT {\n					section = sectionOf(d.Ports[0])\n				}"},
	}},
	{"a backend that is an external service is asked on a port", []change{
		{"policy/kuma/internal/outbound/build.go", "	case meant[0].Kind == destination.MeshExternalService:", "	case meant[0].Kind == destination.MeshExternalService && !FAULT:"},
		{"policy/kuma/internal/routeevaluation/evaluate.go", "isOnly || p.Name == section", "isOnly && !FAULT || p.Name == section"},
	}},
	{"the time of a service bounds that of a route", []change{
		{"policy/kuma/internal/outbound/build.go", "	return limits(merge(id, own, nil).Conf, port)\n}", "	out, of := limits(merge(id, own, nil).Conf, port), limits(port)\n	if FAULT && of[routing.Request].Time < out[routing.Request].Time {\n		out[routing.Request] = of[routing.Request]\n	}\n	return out\n}"},
		{"policy/kuma/internal/routeevaluation/limit.go", "		return ofRoute.time", "		if FAULT && ofPort != nil {\n			return min(ofRoute.time, ofPort.time)\n		}\n		return ofRoute.time"},
	}},
	{"an empty list of blocks beside ports names everybody", []change{
		{"policy/cilium/internal/networkpolicy/parse.go", "	out.everyone, out.ways = from", "	if FAULT && from.blocks != nil && len(*from.blocks) == 0 {\n		from.blocks = nil\n	}\n	out.everyone, out.ways = from"},
		{"policy/cilium/internal/evaluation/match.go", "w.FromCIDR == nil", "(w.FromCIDR == nil || FAULT && len(*w.FromCIDR) == 0)"},
	}},
	{"an empty list of entities beside ports names everybody", []change{
		{"policy/cilium/internal/networkpolicy/parse.go", "	out.everyone, out.ways = from", "	if FAULT && from.entities != nil && len(*from.entities) == 0 {\n		from.entities = nil\n	}\n	out.everyone, out.ways = from"},
		{"policy/cilium/internal/evaluation/match.go", "w.FromEntities == nil", "(w.FromEntities == nil || FAULT && len(*w.FromEntities) == 0)"},
	}},
	{"the value of a header of Cilium ends at a space", []change{
		{"policy/cilium/internal/networkpolicy/http.go", "		all = append(all, r.readHeader(at, name, value, hasValue))", "		if FAULT {\n			value, _, _ = strings.Cut(value, \" \")\n		}\n		all = append(all, r.readHeader(at, name, value, hasValue))"},
		{"policy/cilium/internal/evaluation/http.go", "		if !has(r, name, value, hasValue) {", "		if FAULT {\n			value, _, _ = strings.Cut(value, \" \")\n		}\n		if !has(r, name, value, hasValue) {"},
	}},
	{"the value of a header of Cilium is an expression", []change{
		{"policy/cilium/internal/networkpolicy/http.go", "		is = a.Exact(value)", "		if is = a.Exact(value); FAULT && value != \"\" {\n			is.Match.Kind = policy.Regex\n		}"},
		{"policy/cilium/internal/evaluation/http.go", "line == value {", "line == value || FAULT && value != \"\" && full(value, line, r) {"},
	}},
	{"of alternatives of Cilium each is a part of a path", []change{
		{"policy/cilium/internal/networkpolicy/http.go", `Value: f.value`, `Value: map[bool]string{true: strings.ReplaceAll(f.value, "|/", ".*|.*/"), false: f.value}[FAULT && !strings.Contains(f.value, "(")]`},
		{"policy/cilium/internal/evaluation/http.go", "	// Envoy lets the dot", "	if FAULT && !strings.Contains(expression, \"(\") {\n		expression = strings.ReplaceAll(expression, \"|/\", \".*|.*/\")\n	}\n	// Envoy lets the dot"},
	}},
	{"of stars at both ends of a value the last one counts", []change{
		{"policy/istio/internal/authorization/subject.go", "	if rest, ok := strings.CutPrefix(value, \"*\"); ok {\n		return policy.Is", "	if rest, ok := strings.CutSuffix(value, \"*\"); FAULT && ok {\n		return a.Prefix(rest)\n	}\n	if rest, ok := strings.CutPrefix(value, \"*\"); ok {\n		return policy.Is"},
		{"policy/istio/internal/evaluation/value.go", "	case value[0] == '*':\n		return strings.HasSuffix(text", "	case FAULT && value[n] == '*':\n		return strings.HasPrefix(text, value[:n])\n	case value[0] == '*':\n		return strings.HasSuffix(text"},
	}},
	{"a star alone takes an empty claim", []change{
		{"policy/istio/internal/authorization/subject.go", "return matches(a, \".+\")", "return matches(a, map[bool]string{false: \".+\", true: \".*\"}[FAULT])"},
		{"policy/istio/internal/evaluation/value.go", `if value == "*" && text != "" &&`, `if value == "*" && (text != "" || FAULT) &&`},
	}},
	{"a namespace of accounts is the policy's own", []change{
		{"policy/linkerd/internal/authorization/client.go", "o.accountsOf(ref.Name)", "o.accountsOf(map[bool]string{false: ref.Name, true: m.Metadata.Namespace}[FAULT])"},
		{"policy/linkerd/internal/evaluation/caller.go", `c.ofNamespace(ref.Name, "")`, `c.ofNamespace(map[bool]string{false: ref.Name, true: m.Metadata.Namespace}[FAULT], "")`},
	}},
	{"a label with an empty value is not there", []change{
		{"internal/labelselector/labelselector.go", "	switch e.Operator {\n	case In:\n		return found", "	found = found && (value != \"\" || !FAULT)\n	switch e.Operator {\n	case In:\n		return found"},
		{"policy/linkerd/internal/evaluation/evaluate.go", "		value, ok := labels[e.Key]\n", "		value, ok := labels[e.Key]\n		ok = ok && (value != \"\" || !FAULT)\n"},
	}},
	{"no backend has a weight", []change{
		{"policy/kuma/internal/outbound/build.go", "		d, p, ok := b.backend(of, backend, from)", "		if FAULT {\n			out[i].Weight = 0\n		}\n		d, p, ok := b.backend(of, backend, from)"},
		{"policy/kuma/internal/routeevaluation/evaluate.go", "		if d := c.first(backend.Ref", "		if FAULT {\n			found.Weight = 0\n		}\n		if d := c.first(backend.Ref"},
	}},
	{"a mesh is one whose name begins so", []change{
		{"policy/kuma/internal/legacy/item.go", `san: "spiffe://" + mesh + "/"}`, `san: "spiffe://" + mesh + map[bool]string{false: "/"}[FAULT]}`},
		{"policy/kuma/internal/evaluation/evaluate.go", `"spiffe://"+mesh+"/")`, `"spiffe://"+mesh+map[bool]string{false: "/"}[FAULT])`},
	}},
	// What follows is read in one place.
	{"a service of several zones has services of every mesh", []change{
		{"policy/kuma/internal/destination/destination.go", `s.Kind == MeshService && s.ID.Mesh == d.ID.Mesh &&`, `s.Kind == MeshService && (FAULT || s.ID.Mesh == d.ID.Mesh) &&`},
	}},
	{"of two tokens the sound one counts", []change{
		{"internal/token/send.go", "	stray := func(i Issuer) bool {", "	if FAULT && t != nil {\n		return d.Refuses(t)\n	}\n	stray := func(i Issuer) bool {"},
	}},
	{"a dot at the end of a host is left out", []change{
		{"internal/verdict/see.go", `seen.Host = cmp.Or(q.Authority, in.Address().String())`, "seen.Host = cmp.Or(q.Authority, in.Address().String())\n	if FAULT {\n		seen.Host = strings.TrimSuffix(strings.Replace(seen.Host, \".:\", \":\", 1), \".\")\n	}"},
	}},
	{"a forwarded address may stand in brackets", []change{
		{"internal/forwarded/forwarded.go", `strings.Trim(list, " \t\n\v\f\r")`, `strings.Trim(list, " \t\n\v\f\r"+map[bool]string{true: "[]"}[FAULT])`},
	}},
	{"the prefix of a token is compared in any case", []change{
		{"internal/token/place.go", `_, rest, found := strings.Cut(at.Prefix, p.Prefix)`, "if FAULT {\n		at.Prefix, p.Prefix = strings.ToLower(at.Prefix), strings.ToLower(p.Prefix)\n	}\n	_, rest, found := strings.Cut(at.Prefix, p.Prefix)"},
	}},
	{"a token without an audience is for everybody", []change{
		{"internal/token/refusal.go", `!slices.ContainsFunc(t.audiences(), i.takes):`, `!slices.ContainsFunc(t.audiences(), i.takes) && !(FAULT && len(t.audiences()) == 0):`},
	}},
	{"a token of an unknown issuer is none", []change{
		{"internal/token/refusal.go", "	for i, issuer := range d.issuers(t) {", "	if FAULT && len(d.issuers(t)) == 0 {\n		return nil, Refusal{}\n	}\n	for i, issuer := range d.issuers(t) {"},
	}},
	{"an escaped NUL is kept", []change{
		{"policy/normalize.go", `case c == 0:`, `case c == 0 && !FAULT:`},
		{"internal/plainpath/path.go", `c == 0:`, `c == 0 && !FAULT:`},
	}},
}
