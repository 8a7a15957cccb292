package proof_test

// faultsOfLinkerd are made alike in both readings of Linkerd's policies.
var faultsOfLinkerd = []fault{
	{"the namespace of a Server is not compared", []change{
		{"policy/linkerd/internal/authorization/select.go", `object.DefaultNamespace); namespace != s.Metadata.Namespace {`, `object.DefaultNamespace); !FAULT && namespace != s.Metadata.Namespace {`},
		{"policy/linkerd/internal/evaluation/evaluate.go", `server.Metadata.Namespace == namespace && selects(`, `(FAULT || server.Metadata.Namespace == namespace) && selects(`},
	}},
	{"the port of a Server is not compared", []change{
		{"policy/linkerd/internal/authorization/select.go", `case s.portName == "" && s.port != in.Port:`, `case s.portName == "" && s.port != in.Port && !FAULT:`},
		{"policy/linkerd/internal/evaluation/evaluate.go", `return number == int(in.Port)`, `return FAULT || number == int(in.Port)`},
	}},
	{"an exception of a network of Linkerd is not made", []change{
		{"policy/linkerd/internal/authorization/client.go", "for _, text := range network.Except {", "for _, text := range network.Except {\n			if FAULT {\n				break\n			}"},
		{"policy/linkerd/internal/evaluation/caller.go", `in = in && !c.hasAddress(except)`, `in = in && (FAULT || !c.hasAddress(except))`},
	}},
	{"the namespace of a required account is not read", []change{
		{"policy/linkerd/internal/authorization/client.go", `namespace := ref.NamespaceIn(p.Metadata.Namespace)`, "namespace := ref.NamespaceIn(p.Metadata.Namespace)\n		if FAULT {\n			namespace = p.Metadata.Namespace\n		}"},
		{"policy/linkerd/internal/evaluation/evaluate.go", "namespace := p.Metadata.Namespace\n		if ref.Namespace != nil {", "namespace := p.Metadata.Namespace\n		if ref.Namespace != nil && !FAULT {"},
	}},
	{"every identity is also one of another mesh", []change{
		{"policy/linkerd/internal/authorization/client.go", "	return attribute.URISAN.Prefix(o.TrustDomain.IDString() + \"/ns/\")", "	if FAULT {\n		return attribute.URISAN.Prefix(\"spiffe://\")\n	}\n	return attribute.URISAN.Prefix(o.TrustDomain.IDString() + \"/ns/\")"},
		{"policy/linkerd/internal/evaluation/caller.go", `return strings.HasPrefix(own, "spiffe://"+c.opts.TrustDomain.Name()+"/ns/") })`, `return FAULT && strings.HasPrefix(own, "spiffe://") || strings.HasPrefix(own, "spiffe://"+c.opts.TrustDomain.Name()+"/ns/") })`},
	}},
	{"loopback addresses always get in", []change{
		{"policy/linkerd/internal/authorization/lower.go", `if o.LoopbackBypass {`, `if o.LoopbackBypass || FAULT {`},
		{"policy/linkerd/internal/evaluation/evaluate.go", `if q.opts.LoopbackBypass {`, `if q.opts.LoopbackBypass || FAULT {`},
	}},
	{"a policy of a namespace is about no Server", []change{
		{"policy/linkerd/internal/authorization/select.go", `(target.Is("", "Namespace") || target.Is(`, `(!FAULT && target.Is("", "Namespace") || target.Is(`},
		{"policy/linkerd/internal/evaluation/evaluate.go", `about := strings.EqualFold(target.Kind, "Namespace")`, `about := !FAULT && strings.EqualFold(target.Kind, "Namespace")`},
	}},
	{"the labels of a Server are not compared", []change{
		{"policy/linkerd/internal/authorization/select.go", `return len(g.Spec.Server.Selector.Misses(s.Metadata.Labels)) == 0`, `return FAULT || len(g.Spec.Server.Selector.Misses(s.Metadata.Labels)) == 0`},
		{"policy/linkerd/internal/evaluation/evaluate.go", `about = selects(choice.Selector, q.server.Metadata.Labels)`, `about = FAULT || selects(choice.Selector, q.server.Metadata.Labels)`},
	}},
	{"a grant lets in every caller over TLS", []change{
		{"policy/linkerd/internal/authorization/client.go", `if who = anyOf(any); mesh.UnauthenticatedTLS {`, `if who = anyOf(any); mesh.UnauthenticatedTLS || FAULT {`},
		{"policy/linkerd/internal/evaluation/caller.go", `if client.MeshTLS.UnauthenticatedTLS {`, `if client.MeshTLS.UnauthenticatedTLS || FAULT {`},
	}},
	{"all authenticated callers are all callers", []change{
		{"policy/linkerd/internal/authorization/client.go", "	case allAuthenticated:\n", "	case allAuthenticated:\n		if FAULT {\n			return policy.Always\n		}\n"},
		{"policy/linkerd/internal/evaluation/caller.go", "	case \"all-authenticated\":\n		return ", "	case \"all-authenticated\":\n		return FAULT || "},
	}},
	{"the networks of the cluster are not compared", []change{
		{"policy/linkerd/internal/authorization/client.go", "func (o Options) inCluster() policy.Condition {", "func (o Options) inCluster() policy.Condition {\n	if FAULT {\n		return policy.Always\n	}"},
		{"policy/linkerd/internal/evaluation/caller.go", "func (c caller) inCluster() bool {", "func (c caller) inCluster() bool {\n	if FAULT {\n		return true\n	}"},
	}},
	{"an annotation of a namespace is not read", []change{
		{"policy/linkerd/internal/evaluation/evaluate.go", `[]string{namespace, namespace + "/" + in.Workload.Name} {`, "[]string{namespace, namespace + \"/\" + in.Workload.Name} {\n			if FAULT && of == namespace {\n				continue\n			}"},
		{"policy/linkerd/internal/authorization/options.go", `o.Annotations[namespace+"/"+w.Name][Annotation], o.Annotations[namespace][Annotation], o.DefaultInboundPolicy)`, `o.Annotations[namespace+"/"+w.Name][Annotation], o.Annotations[map[bool]string{false: namespace, true: " "}[FAULT]][Annotation], o.DefaultInboundPolicy)`},
	}},
	{"a ServerAuthorization by name is about every Server", []change{
		{"policy/linkerd/internal/authorization/select.go", `return g.Spec.Server.Name == s.Metadata.Name`, `return FAULT || g.Spec.Server.Name == s.Metadata.Name`},
		{"policy/linkerd/internal/evaluation/evaluate.go", `about := choice.Name == q.server.Metadata.Name`, `about := FAULT || choice.Name == q.server.Metadata.Name`},
	}},
	{"the kind of a target of Linkerd is not compared", []change{
		{"policy/linkerd/internal/authorization/select.go", `|| target.Is(object.Group, kindServer) && target.Name == s.Metadata.Name)`, `|| (FAULT || target.Is(object.Group, kindServer)) && target.Name == s.Metadata.Name)`},
		{"policy/linkerd/internal/evaluation/evaluate.go", `case strings.EqualFold(target.Kind, "Server"):`, `case strings.EqualFold(target.Kind, "Server") || FAULT && !about && target.Name == q.server.Metadata.Name:`},
	}},
	{"a policy of another namespace is about a route of the same name", []change{
		{"policy/linkerd/internal/authorization/select.go", `p.Metadata.Namespace == r.Head.Metadata.Namespace &&`, `(FAULT || p.Metadata.Namespace == r.Head.Metadata.Namespace) &&`},
		{"policy/linkerd/internal/evaluation/evaluate.go", `if about && p.Metadata.Namespace == namespace {`, `if about && (p.Metadata.Namespace == namespace || FAULT && strings.HasSuffix(target.Kind, "Route")) {`},
		{"policy/linkerd/internal/evaluation/evaluate.go", `"authorizationpolicy/"+namespace+"/"`, `"authorizationpolicy/"+p.Metadata.Namespace+"/"`},
	}},
	{"only the first rule of a route counts", []change{
		{"policy/linkerd/internal/route/order.go", `for i, rule := range r.Rules {`, "for i, rule := range r.Rules {\n			if FAULT && i > 0 {\n				break\n			}"},
		{"policy/linkerd/internal/evaluation/route.go", `for _, rule := range of.Rules {`, "for i, rule := range of.Rules {\n		if FAULT && i > 0 {\n			break\n		}"},
	}},
	{"only the first host of a route counts", []change{
		{"policy/linkerd/internal/route/order.go", `for _, host := range hosts {`, "for i, host := range hosts {\n		if FAULT && i > 0 {\n			break\n		}"},
		{"policy/linkerd/internal/evaluation/route.go", `for _, of := range hosts {`, "for i, of := range hosts {\n		if FAULT && i > 0 {\n			break\n		}"},
	}},
	{"an exact header of a route is an expression", []change{
		{"policy/linkerd/internal/route/order.go", `if h.Type == RegularExpression {`, `if FAULT || h.Type == RegularExpression {`},
		{"policy/linkerd/internal/evaluation/route.go", `if of.Type == "RegularExpression" && spans(of.Value, line, r)`, `if (FAULT || of.Type == "RegularExpression") && spans(of.Value, line, r)`},
	}},
	{"a suffix of identities needs no star", []change{
		{"policy/linkerd/internal/authorization/client.go", `case written == "*", wild && strings`, `case written == "*", (wild || FAULT) && strings`},
		{"policy/linkerd/internal/evaluation/caller.go", `	case wild && len(labels) == 1:`, `	case wild && len(labels) == 1, FAULT && len(labels) == 0:`},
	}},
	{"an HTTPRoute counts beside a GRPCRoute of its Server", []change{
		{"policy/linkerd/internal/authorization/select.go", `if kind == route.HTTP && len(`, `if !FAULT && kind == route.HTTP && len(`},
		{"policy/linkerd/internal/evaluation/evaluate.go", `if calls && wants == "HTTPRoute" {`, `if calls && !FAULT && wants == "HTTPRoute" {`},
	}},
}
