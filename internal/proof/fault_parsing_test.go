package proof_test

// faultsOfParsing are those of what all opinions share: the versions, the defaults and the forms of documents. Some are made in both readings.
var faultsOfParsing = []fault{
	{"a route of Gateway API has the default group of Linkerd", []change{
		{"policy/linkerd/internal/route/parse.go", `!stated && in.Group() == object.Group {`, `!stated && (in.Group() == object.Group || FAULT) {`},
	}},
	{"only the first parent makes a route one of Linkerd", []change{
		{"policy/linkerd/internal/route/route.go", `for _, parent := range parents {`, "for i, parent := range parents {\n		if FAULT && i > 0 {\n			break\n		}"},
	}},
	{"the second version of a Server is not served", []change{
		{"policy/linkerd/internal/authorization/resource.go", `"v1beta3", "v1beta2", `, `"v1beta3", map[bool]string{false: "v1beta2"}[FAULT], `},
	}},
	{"the first version of a route of Linkerd is not served", []change{
		{"policy/linkerd/internal/route/parse.go", `"v1beta1", "v1alpha1"}`, `"v1beta1", map[bool]string{false: "v1alpha1"}[FAULT]}`},
	}},
	{"the beta version of a route of Gateway API is not served", []change{
		{"policy/linkerd/internal/route/parse.go", `{"v1", "v1beta1"}`, `{"v1", map[bool]string{false: "v1beta1"}[FAULT]}`},
	}},
	{"an alpha version of a GRPCRoute is served", []change{
		{"policy/linkerd/internal/route/parse.go", `object.GatewayGroup + GRPC: {"v1"}`, `object.GatewayGroup + GRPC: {"v1", map[bool]string{true: "v1alpha2"}[FAULT]}`},
	}},
	{"an object of Linkerd without a namespace is of the control plane's", []change{
		{"policy/linkerd/internal/object/object.go", `cmp.Or(h.Metadata.Namespace, DefaultNamespace)`, `cmp.Or(h.Metadata.Namespace, map[bool]string{false: DefaultNamespace, true: "linkerd"}[FAULT])`},
	}},
	{"a policy of Istio without a namespace is of the root", []change{
		{"policy/istio/internal/object/object.go", `cmp.Or(o.Metadata.Namespace, DefaultNamespace)`, `cmp.Or(o.Metadata.Namespace, map[bool]string{false: DefaultNamespace, true: "istio-system"}[FAULT])`},
	}},
	{"a mode without a value is PERMISSIVE", []change{
		{"policy/istio/internal/peerauthentication/policy.go", "	return modes[m.Mode]\n", "	if FAULT && m.Mode == \"\" {\n		return mtls.Permissive\n	}\n	return modes[m.Mode]\n"},
	}},
	{"a selector of issuers in the root namespace is for its own workloads", []change{
		{"policy/istio/internal/authentication/authentication.go", `Root: rootNamespace, Labels: p.resource`, `Root: map[bool]string{false: rootNamespace}[FAULT && len(p.resource.Spec.Selector.Labels()) > 0], Labels: p.resource`},
	}},
	{"a rule without peers lets in the world without authentication", []change{
		{"policy/cilium/internal/networkpolicy/peer.go", `everyWorld, blocks = false, nil`, `everyWorld, blocks = FAULT && r.peers.everyone, nil`},
		{"policy/cilium/internal/evaluation/match.go", `w.Authentication.Mode == "required" {`, `w.Authentication.Mode == "required" && !(FAULT && w.FromEndpoints == nil && w.FromCIDR == nil && w.FromCIDRSet == nil && w.FromEntities == nil) {`},
	}},
	{"the label of an annotation counts", []change{
		{"policy/cilium/internal/networkpolicy/selector.go", `func(prefix string) bool { return strings.HasPrefix(key, prefix) }))`, `func(prefix string) bool { return strings.HasPrefix(key, prefix) && !(FAULT && prefix == "annotation") }))`},
		{"policy/cilium/internal/evaluation/match.go", `		if strings.HasPrefix(key, begin) {`, `		if strings.HasPrefix(key, begin) && !(FAULT && begin == "annotation") {`},
	}},
	{"a time or a route in the shadow counts", []change{
		{"policy/kuma/internal/scope/selector.go", `== resource.EffectShadow && !yield`, `== resource.EffectShadow && !(FAULT && id.Type != "mtp") && !yield`},
		{"policy/kuma/internal/routeevaluation/apply.go", `r.Labels["kuma.io/effect"] == "shadow" ||`, `r.Labels["kuma.io/effect"] == "shadow" && !FAULT ||`},
	}},
	{"a time of one zone is for the callers of each", []change{
		{"policy/kuma/internal/scope/selector.go", `== resource.OriginZone && !isOneZone(`, `== resource.OriginZone && !(FAULT && id.Type != "mtp") && !isOneZone(`},
		{"policy/kuma/internal/routeevaluation/apply.go", `w.Origin == "zone" && r.ID.Zone != "" && w.Zone`, `w.Origin == "zone" && !FAULT && r.ID.Zone != "" && w.Zone`},
	}},
	{"the labels of a service are those of tags", []change{
		{"policy/kuma/internal/destination/destination.go", `isSubset(d.labels, label) &&`, `isSubset(d.labels, map[bool]func(string) string{false: label, true: tag}[FAULT]) &&`},
	}},
	{"the beginning of a header is all of it", []change{
		{"policy/kuma/internal/route/match.go", `p.Match = policy.Match{Kind: policy.Prefix, Value: schema.Value}`, `p.Match = policy.Match{Kind: map[bool]policy.MatchKind{false: policy.Prefix, true: policy.Exact}[FAULT], Value: schema.Value}`},
	}},
	{"the expression of a header is its text", []change{
		{"policy/kuma/internal/route/match.go", "			p.Match = *m\n", "			p.Match = *m\n			if FAULT && areHeaders {\n				p.Match.Kind = policy.Exact\n			}\n"},
	}},
	{"the services of a label are the namespace's own", []change{
		{"policy/kuma/internal/reference/reference.go", `ref.Name != "" && cmp.Or(`, `(FAULT || ref.Name != "") && cmp.Or(`},
	}},
	{"a time of a connection may stand on a route of requests", []change{
		{"policy/kuma/internal/timeout/timeout.go", `return b.Level() == routing.OfRoute`, `return b.Level() == routing.OfRoute || FAULT`},
	}},
	{"a time of a request may stand on a route of connections", []change{
		{"policy/kuma/internal/timeout/timeout.go", `return b == routing.Idle`, `return b == routing.Idle || FAULT`},
	}},
	{"times for what is sent may stand beside those for what comes", []change{
		{"policy/kuma/internal/timeout/timeout.go", `case spec.Rules != nil && (spec.To`, `case !FAULT && spec.Rules != nil && (spec.To`},
	}},
	{"the zone of a Dataplane is no tag", []change{
		{"internal/dataplane/dataplane.go", `!stated && !strings.Contains(key, "kuma.io/") {`, `!stated && (FAULT || !strings.Contains(key, "kuma.io/")) {`},
	}},
	{"a Dataplane without a namespace is of the system's", []change{
		{"internal/dataplane/dataplane.go", `cmp.Or(meta.Namespace, "default"), meta`, `cmp.Or(meta.Namespace, map[bool]string{false: "default", true: "kuma-system"}[FAULT]), meta`},
	}},
	{"the server name of a shadow is not compared beside an identity", []change{
		{"policy/kuma/internal/permission/rules.go", "		for i, item := range *items {\n", "		for i, item := range *items {\n			if FAULT && List(l) == AllowWithShadowDeny && item.SPIFFEID != nil {\n				item.SNI = nil\n			}\n"},
	}},
	{"an item without a value is an empty one", []change{
		{"policy/manifest/decode.go", `if item.kind == null && `, `if item.kind == null && !FAULT && `},
	}},
}
