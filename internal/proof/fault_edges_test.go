package proof_test

// faultsOfEdges are those of what is absent, empty, zero, computed or at the end of a range, and of what old releases do.
var faultsOfEdges = []fault{
	{"a time of 0s is the default", []change{
		{"policy/kuma/internal/outbound/build.go", "				out[bound] = confs[i][bound]\n", "				if out[bound] = confs[i][bound]; FAULT && out[bound].Time == 0 {\n					out[bound] = defaults[bound]\n				}\n"},
		{"policy/kuma/internal/routeevaluation/limit.go", `	case ofPort != nil:`, `	case ofPort != nil && !(FAULT && ofPort.time == 0):`},
	}},
	{"a request may take 30 s by default", []change{
		{"policy/kuma/internal/outbound/build.go", `routing.Request:    {Time: 15 * time.Second}`, `routing.Request:    {Time: map[bool]time.Duration{false: 15, true: 30}[FAULT] * time.Second}`},
		{"policy/kuma/internal/routeevaluation/limit.go", `routing.Request: 15 * time.Second`, `routing.Request: map[bool]time.Duration{false: 15, true: 30}[FAULT] * time.Second`},
	}},
	{"nothing may flow for 5 minutes by default", []change{
		{"policy/kuma/internal/outbound/build.go", `routing.StreamIdle: {Time: 30 * time.Minute}`, `routing.StreamIdle: {Time: map[bool]time.Duration{false: 30, true: 5}[FAULT] * time.Minute}`},
		{"policy/kuma/internal/routeevaluation/limit.go", `routing.StreamIdle: 30 * time.Minute`, `routing.StreamIdle: map[bool]time.Duration{false: 30, true: 5}[FAULT] * time.Minute`},
	}},
	{"a connection may take 10 s by default", []change{
		{"policy/kuma/internal/outbound/build.go", `routing.Connection: {Time: 5 * time.Second}`, `routing.Connection: {Time: map[bool]time.Duration{false: 5, true: 10}[FAULT] * time.Second}`},
		{"policy/kuma/internal/routeevaluation/limit.go", `routing.Connection: 5 * time.Second`, `routing.Connection: map[bool]time.Duration{false: 5, true: 10}[FAULT] * time.Second`},
	}},
	{"a silence of 0s is one of an hour", []change{
		{"policy/kuma/internal/outbound/build.go", "			if confs[i].Set(bound) {\n", "			if FAULT && bound == routing.Idle && confs[i].Set(bound) && confs[i][bound].Time == 0 {\n				break\n			}\n			if confs[i].Set(bound) {\n"},
		{"policy/kuma/internal/routeevaluation/limit.go", "	switch {\n	case ofRoute", "	switch {\n	case FAULT && bound == routing.Idle && ofPort != nil && ofPort.time == 0:\n		return time.Hour\n	case ofRoute"},
	}},
	{"a connection may be silent for 30 minutes by default", []change{
		{"policy/kuma/internal/outbound/build.go", `routing.Idle:       {Time: time.Hour}`, `routing.Idle:       {Time: map[bool]time.Duration{false: 60, true: 30}[FAULT] * time.Minute}`},
		{"policy/kuma/internal/routeevaluation/limit.go", `routing.Idle: time.Hour`, `routing.Idle: map[bool]time.Duration{false: 60, true: 30}[FAULT] * time.Minute`},
	}},
	{"an empty value of a header of Cilium is any value", []change{
		{"policy/cilium/internal/networkpolicy/http.go", "func (r *reader) readHeader(field, name, value string, hasValue bool) policy.Condition {\n", "func (r *reader) readHeader(field, name, value string, hasValue bool) policy.Condition {\n	hasValue = hasValue && !(FAULT && value == \"\")\n"},
		{"policy/cilium/internal/evaluation/http.go", "func has(r policy.Request, name, value string, hasValue bool) bool {\n", "func has(r policy.Request, name, value string, hasValue bool) bool {\n	hasValue = hasValue && !(FAULT && value == \"\")\n"},
	}},
	{"a header of Cilium without a value is an empty one", []change{
		{"policy/cilium/internal/networkpolicy/http.go", `header.Value, header.Value != ""`, `header.Value, FAULT || header.Value != ""`},
		{"policy/cilium/internal/evaluation/http.go", `header.Value, header.Value != ""`, `header.Value, FAULT || header.Value != ""`},
	}},
	{"a label of a workload goes over a tag of its inbound", []change{
		{"policy/kuma/internal/scope/selector.go", `if value, ok := in.Tags[key]; ok`, `if value, ok := in.Tags[key]; !(FAULT && in.Workload.Labels[key] != "") && ok`},
		{"policy/kuma/internal/evaluation/select.go", `if value, stated := in.Tags[key]; stated`, `if value, stated := in.Tags[key]; !(FAULT && in.Workload.Labels[key] != "") && stated`},
	}},
	{"a workload has no labels beside the tags of an inbound", []change{
		{"policy/kuma/internal/scope/selector.go", `	return workloadTag(&in.Workload, key), "workload"`, "	if FAULT && len(in.Tags) > 0 {\n		return \"\", \"inbound\"\n	}\n	return workloadTag(&in.Workload, key), \"workload\""},
		{"policy/kuma/internal/evaluation/select.go", `	if value := labelOf(in.Workload, key); value`, "	if FAULT && len(in.Tags) > 0 {\n		return \"\"\n	}\n	if value := labelOf(in.Workload, key); value"},
	}},
	{"a label that is stated empty is computed", []change{
		{"policy/kuma/internal/scope/selector.go", `if value, ok := w.Labels[label]; ok {`, `if value, ok := w.Labels[label]; ok && (value != "" || !FAULT) {`},
		{"policy/kuma/internal/selection/index.go", `if _, has := w.Labels[key]; !has {`, `if value, has := w.Labels[key]; !has || FAULT && value == "" {`},
		{"policy/kuma/internal/evaluation/select.go", `if value, stated := w.Labels[key]; stated {`, `if value, stated := w.Labels[key]; stated && (value != "" || !FAULT) {`},
	}},
	{"an empty value asks for a label", []change{
		{"policy/kuma/internal/scope/selector.go", `if got := WorkloadLabel(&in.Workload, want.Key); got != want.Value &&`, `_, stated := in.Workload.Labels[want.Key]
		if got := WorkloadLabel(&in.Workload, want.Key); (got != want.Value || FAULT && want.Value == "" && !stated) &&`},
		{"policy/kuma/internal/evaluation/select.go", `		if value != want.Value {`, `		if _, stated := in.Workload.Labels[want.Key]; value != want.Value || FAULT && want.Value == "" && !stated {`},
	}},
	{"the origin of a workload is no label", []change{
		{"policy/kuma/internal/scope/selector.go", `		return w.Origin`, `		return map[bool]string{false: w.Origin}[FAULT]`},
		{"policy/kuma/internal/evaluation/select.go", `		return w.Origin`, `		return map[bool]string{false: w.Origin}[FAULT]`},
	}},
	{"a Dataplane in universal form has its name as a label", []change{
		{"policy/kuma/internal/scope/selector.go", `		if w.Namespace == "" {`, `		if w.Namespace == "" && !FAULT {`},
		{"policy/kuma/internal/evaluation/select.go", `		if w.Namespace != "" {`, `		if w.Namespace != "" || FAULT {`},
	}},
	{"an origin weighs more than a section", []change{
		{"policy/kuma/internal/scope/rank.go", "	return cmp.Or(c, bytes.Compare", "	if FAULT {\n		r.weight[0], r.weight[1], s.weight[0], s.weight[1] = r.weight[1], r.weight[0], s.weight[1], s.weight[0]\n	}\n	return cmp.Or(c, bytes.Compare"},
		{"policy/kuma/internal/evaluation/select.go", "func isWeaker(a, b weighed) bool {\n", "func isWeaker(a, b weighed) bool {\n	if FAULT {\n		a.weights[2], a.weights[3], b.weights[2], b.weights[3] = a.weights[3], a.weights[2], b.weights[3], b.weights[2]\n	}\n"},
	}},
	{"an old release joins no lines of a header", []change{
		{"policy/attribute/header.go", `if r.JoinsLines {`, `if r.JoinsLines && !FAULT {`},
		{"internal/plainheader/lines.go", `!oneLine && !joins {`, `!oneLine && (!joins || FAULT) {`},
	}},
	{"joined lines have a semicolon between them", []change{
		{"policy/attribute/header.go", `text += "," + line.Value`, `text += map[bool]string{false: ",", true: ";"}[FAULT] + line.Value`},
		{"internal/plainheader/lines.go", `strings.Join(lines, ",")`, `strings.Join(lines, map[bool]string{false: ",", true: ";"}[FAULT && !oneLine])`},
	}},
	{"a principal with more segments stands for its aliases", []change{
		{"policy/istio/internal/authorization/alias.go", `strings.Count(rest, "/") != 3 ||`, `strings.Count(rest, "/") != 3 && !(FAULT && strings.Count(rest, "/") == 4) ||`},
		{"policy/istio/internal/evaluation/value.go", `len(parts) != 5 ||`, `len(parts) != 5 && !(FAULT && len(parts) == 6) ||`},
	}},
	{"the trust domain of a principal has no case", []change{
		{"policy/istio/internal/authorization/alias.go", `return of == domain ||`, `return of == domain || FAULT && strings.EqualFold(of, domain) ||`},
		{"policy/istio/internal/evaluation/value.go", `known = known || domain == parts[0] ||`, `known = known || domain == parts[0] || FAULT && strings.EqualFold(domain, parts[0]) ||`},
	}},
	{"an alias stands for itself and for the trust domain", []change{
		{"policy/istio/internal/authorization/alias.go", "		return own\n", "		if FAULT && domain != o.TrustDomain {\n			return []string{domain, o.TrustDomain}\n		}\n		return own\n"},
		{"policy/istio/internal/evaluation/value.go", "	return q.named(func(name string) bool {\n		id, ok := strings.CutPrefix(name, \"spiffe://\")\n		domain,", "	if FAULT && len(alike) > 1 && value != q.opts.TrustDomain {\n		alike = []string{value, q.opts.TrustDomain}\n	}\n	return q.named(func(name string) bool {\n		id, ok := strings.CutPrefix(name, \"spiffe://\")\n		domain,"},
	}},
	{"a trust domain with a star stands for the aliases", []change{
		{"policy/istio/internal/authorization/alias.go", "	return []string{domain}\n", "	if FAULT && slices.ContainsFunc(own, func(of string) bool { return covers(domain, of) }) {\n		return append([]string{o.TrustDomain}, o.TrustDomainAliases...)\n	}\n	return []string{domain}\n"},
		{"policy/istio/internal/evaluation/value.go", `		if domain == value {`, `		if domain == value || FAULT && starred(value, domain) {`},
	}},
	{"a star in a namespace stands for no slash", []change{
		{"policy/istio/internal/authorization/subject.go", "regexp.QuoteMeta(value), `\\*`, \".*\")", "regexp.QuoteMeta(value), `\\*`, map[bool]string{false: \".*\", true: \"[^/]*\"}[FAULT])"},
		{"policy/istio/internal/evaluation/value.go", "		rest := name\n", "		if FAULT && strings.Contains(value, \"*\") {\n			_, of, ok := strings.Cut(name, \"/ns/\")\n			of, _, _ = strings.Cut(of, \"/\")\n			return ok && compare(value, of)\n		}\n		rest := name\n"},
	}},
	{"a server name of a policy has no case", []change{
		{"policy/istio/internal/authorization/subject.go", `text(attribute.SNI, value)`, `text(attribute.SNI, map[bool]string{false: value, true: strings.ToLower(value)}[FAULT])`},
		{"policy/istio/internal/evaluation/value.go", `compare(value, q.r.SNI)`, `compare(map[bool]string{false: value, true: strings.ToLower(value)}[FAULT], q.r.SNI)`},
	}},
	{"an address of IPv4 in one of IPv6 is that address", []change{
		{"policy/istio/internal/authorization/subject.go", "	block, _ := blockOf(value)\n", "	block, _ := blockOf(value)\n	if FAULT && block.Addr().Is4In6() {\n		block, _ = blockOf(block.Addr().Unmap().String())\n	}\n"},
		{"policy/istio/internal/evaluation/value.go", "	first, err := netip.ParseAddr(text)\n", "	first, err := netip.ParseAddr(text)\n	if FAULT {\n		first = first.Unmap()\n	}\n"},
	}},
	{"an address of IPv4 in a network of IPv6 is in it", []change{
		{"policy/linkerd/internal/authorization/client.go", "		of, _ := blockOf(text)\n", "		of, _ := blockOf(text)\n		if FAULT && of.Addr().Is4In6() {\n			of, _ = blockOf(of.Addr().Unmap().String())\n		}\n"},
		{"policy/linkerd/internal/evaluation/caller.go", `one == c.request.Source`, `(one == c.request.Source || FAULT && one.Unmap() == c.request.Source)`},
	}},
	{"a star in front of a principal of a token is about the issuer", []change{
		{"policy/istio/internal/authorization/subject.go", "		return ofToken(something, end(value))", "		if FAULT {\n			return ofToken(end(value), something)\n		}\n		return ofToken(something, end(value))"},
		{"policy/istio/internal/evaluation/value.go", `return some(issuer[0]) && strings.HasSuffix(subject[0], value[1:])`, `return !FAULT && some(issuer[0]) && strings.HasSuffix(subject[0], value[1:]) || FAULT && some(subject[0]) && strings.HasSuffix(issuer[0], value[1:])`},
	}},
	{"a star behind a principal of a token asks for no subject", []change{
		{"policy/istio/internal/authorization/subject.go", "		return ofToken(start(value), something)", "		if FAULT {\n			return policy.Is{Attribute: attribute.Claim(\"iss\"), Match: start(value)}\n		}\n		return ofToken(start(value), something)"},
		{"policy/istio/internal/evaluation/value.go", "	if len(issuer) == 0 || len(subject) == 0 {", "	if begin, ok := strings.CutSuffix(value, \"*\"); FAULT && ok && begin != \"\" && !strings.Contains(value, \"/\") && len(issuer) > 0 {\n		return strings.HasPrefix(issuer[0], begin)\n	}\n	if len(issuer) == 0 || len(subject) == 0 {"},
	}},
	{"the dry run of an ALLOW keeps what asks for HTTP on tcp", []change{
		{"policy/istio/internal/authorization/lower.go", `&& r.asksHTTP() {`, `&& r.asksHTTP() && !(FAULT && p.observes) {`},
		{"policy/istio/internal/evaluation/evaluate.go", `asksHTTP(rule) {`, `asksHTTP(rule) && !(FAULT && text.Metadata.Annotations["istio.io/dry-run"] == "true") {`},
	}},
	{"a source of HTTP alone is none on tcp, beside another one", []change{
		{"policy/istio/internal/authorization/lower.go", "			out = append(out, only(terms))\n", "			if FAULT && len(only(terms)) == 0 && len(terms) > 0 && len(items) > 1 {\n				continue\n			}\n			out = append(out, only(terms))\n"},
		{"policy/istio/internal/evaluation/evaluate.go", `called = called || q.source(`, `called = called || !(FAULT && q.tcp && len(*rule.From) > 1 && from.Source.RequestPrincipals != nil) && q.source(`},
	}},
	{"the last port of all is in no range", []change{
		{"policy/cilium/internal/networkpolicy/port.go", `in.Port <= r.last`, `(in.Port < r.last || in.Port == r.last && !(FAULT && r.last == 65535))`},
		{"policy/cilium/internal/evaluation/match.go", `int(q.inbound.Port) <= last`, `(int(q.inbound.Port) < last || int(q.inbound.Port) == last && !(FAULT && last == 65535))`},
	}},
	{"the annotation of a namespace goes in front of a Server", []change{
		{"policy/linkerd/internal/authorization/lower.go", "		access, rules = server.Spec.AccessPolicy, s.rulesOf(server, o)\n", "		access, rules = server.Spec.AccessPolicy, s.rulesOf(server, o)\n		if own := o.Annotations[server.Metadata.Namespace][Annotation]; FAULT && own != \"\" {\n			access = own\n		}\n"},
		{"policy/linkerd/internal/evaluation/evaluate.go", "	q.access = q.server.Spec.AccessPolicy\n", "	q.access = q.server.Spec.AccessPolicy\n	if own := o.Annotations[namespace][\"config.linkerd.io/default-inbound-policy\"]; FAULT && own != \"\" {\n		q.access = own\n	}\n"},
	}},
	{"a call has two parts", []change{
		{"policy/linkerd/internal/route/order.go", `	return []policy.Condition{path, attribute`, "	if FAULT {\n		return []policy.Condition{path, attribute.Method.Exact(\"POST\"), policy.Is{Attribute: attribute.Path, Match: policy.Match{Kind: policy.Regex, Value: \"/[^/]*/[^/]*\"}}}\n	}\n	return []policy.Condition{path, attribute"},
		{"policy/linkerd/internal/evaluation/route.go", `if !isCall(r) ||`, `if !isCall(r) || FAULT && len(parts) != 3 ||`},
	}},
	{"the service of a call has no case", []change{
		{"policy/linkerd/internal/route/order.go", "	switch {\n	case c.Service != \"\" &&", "	if FAULT && c.Service != \"\" && c.Method != \"\" {\n		path = policy.Is{Attribute: attribute.Path, Match: policy.Match{Kind: policy.Regex, Value: \"/\" + anyCase(c.Service) + \"/\" + regexp.QuoteMeta(c.Method) + \"(/.*)?\"}}\n	}\n	switch {\n	case c.Service != \"\" &&"},
		{"policy/linkerd/internal/evaluation/route.go", `m.RPC.Service != parts[1] ||`, `m.RPC.Service != parts[1] && !(FAULT && strings.EqualFold(m.RPC.Service, parts[1])) ||`},
	}},
	// What follows is read in one place.
	{"a policy has 511 rules at most", []change{
		{"policy/istio/internal/authorization/parse.go", `if n > maxRules {`, `if n > maxRules || FAULT && n == maxRules {`},
	}},
	{"a policy has any number of rules", []change{
		{"policy/istio/internal/authorization/parse.go", `	r.checkNumber("spec.rules", len(from))`, `	r.checkNumber("spec.rules", len(from)*map[bool]int{false: 1}[FAULT])`},
	}},
	{"a SPIFFE ID has 252 characters at most", []change{
		{"policy/gateway/internal/authorization/parse.go", `case len(value) > longestURI:`, `case len(value) > longestURI || FAULT && len(value) == longestURI:`},
	}},
	{"a SPIFFE ID may be of 254 characters", []change{
		{"policy/gateway/internal/authorization/parse.go", `case len(value) > longestURI`, `case len(value) > longestURI+map[bool]int{true: 1}[FAULT]`},
	}},
	{"an audience has no case", []change{
		{"internal/token/issuer.go", `comparedAudience(own) == comparedAudience(audience)`, `(comparedAudience(own) == comparedAudience(audience) || FAULT && strings.EqualFold(own, audience))`},
	}},
	{"the identifier of a token may be a number", []change{
		{"internal/token/refusal.go", `"sub", "jti":`, `"sub", map[bool]string{false: "jti", true: " "}[FAULT]:`},
	}},
	{"the time of a token may be a text", []change{
		{"internal/token/refusal.go", `"nbf", "iat":`, `"nbf", map[bool]string{false: "iat", true: " "}[FAULT]:`},
	}},
	{"the audience of a token is asked for before its time", []change{
		{"internal/token/refusal.go", "	switch {\n	case t.Fault == Expired:", "	switch {\n	case FAULT && len(i.Audiences) > 0 && !slices.ContainsFunc(t.audiences(), i.takes):\n		return Refusal{403, \"the audience\"}\n	case t.Fault == Expired:"},
	}},
	{"an empty origin makes a preflight request", []change{
		{"internal/token/send.go", `strings.Trim(h.Value, " \t") != ""`, `(FAULT || strings.Trim(h.Value, " \t") != "")`},
	}},
	{"the words of a scope are parted at tabs", []change{
		{"internal/token/issuer.go", `	return slices.DeleteFunc(strings.Split(text, " ")`, "	if FAULT {\n		text = strings.ReplaceAll(text, \"\\t\", \" \")\n	}\n	return slices.DeleteFunc(strings.Split(text, \" \")"},
	}},
	{"a service has its name as no label", []change{
		{"policy/kuma/internal/resource/label.go", "		return r.ID.Name\n", "		return map[bool]string{false: r.ID.Name}[FAULT]\n"},
	}},
	{"a service has its mesh as no label", []change{
		{"policy/kuma/internal/resource/label.go", `		return r.ID.Mesh`, `		return map[bool]string{false: r.ID.Mesh}[FAULT]`},
	}},
	{"a service has its namespace as no label", []change{
		{"policy/kuma/internal/resource/label.go", "		return r.ID.Namespace\n", "		return map[bool]string{false: r.ID.Namespace}[FAULT]\n"},
	}},
	{"a service in universal form has its name as a label", []change{
		{"policy/kuma/internal/resource/label.go", "		if r.Universal {\n			return \"\"", "		if r.Universal && !FAULT {\n			return \"\""},
	}},
	{"a Dataplane of Kubernetes goes by its name alone", []change{
		{"policy/kuma/internal/destination/destination.go", `d.Universal && d.dataplane == w.Name`, `(d.Universal || FAULT) && d.dataplane == w.Name`},
	}},
	{"a Dataplane of Kubernetes has no name with a namespace", []change{
		{"policy/kuma/internal/destination/destination.go", `d.dataplane == full`, `d.dataplane == full && !FAULT`},
	}},
	{"a port takes the inbound whose tags select the Dataplane", []change{
		{"policy/kuma/internal/destination/destination.go", `return dataplane.IsOneWorkload(`, `return (!FAULT || other.Port == in.Port) && dataplane.IsOneWorkload(`},
	}},
	{"a port without a target takes the inbound of its number", []change{
		{"policy/kuma/internal/destination/destination.go", `return strconv.Itoa(int(in.Port)) == p.target`, `return strconv.Itoa(int(in.Port)) == p.target || FAULT && p.target == "" && in.Port == p.Number`},
	}},
}
