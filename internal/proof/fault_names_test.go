package proof_test

// faultsOfNames are those of what names and values are compared with, where few policies show it.
var faultsOfNames = []fault{
	{"a semicolon parts the parameters of a query", []change{
		{"policy/attribute/query.go", `_, query, _ := strings.Cut(r.Path, "?")`, "_, query, _ := strings.Cut(r.Path, \"?\")\n			if FAULT {\n				query = strings.ReplaceAll(query, \";\", \"&\")\n			}"},
	}},
	{"a trust domain is compared in small letters", []change{
		{"policy/istio/internal/authorization/subject.go", `		return attribute.URISAN.Prefix(scheme + value + "/")`, "		if FAULT {\n			value = strings.ToLower(value)\n		}\n		return attribute.URISAN.Prefix(scheme + value + \"/\")"},
	}},
	{"the value of a header begins behind all spaces", []change{
		{"policy/cilium/internal/networkpolicy/http.go", `		all = append(all, r.readHeader(at, name, value, hasValue))`, "		if FAULT {\n			value = strings.TrimSpace(value)\n		}\n		all = append(all, r.readHeader(at, name, value, hasValue))"},
	}},
	{"a grant by labels is about Servers of every namespace", []change{
		{"policy/linkerd/internal/authorization/select.go", `	case g.Metadata.Namespace != s.Metadata.Namespace:`, `	case g.Metadata.Namespace != s.Metadata.Namespace && !(FAULT && g.Spec.Server.Selector != nil):`},
	}},
	{"an absent label has the empty value", []change{
		{"policy/gateway/internal/authorization/lower.go", `			found, ok := w.Labels[r.Key()]`, "			if FAULT && r.Operator() == selection.In && r.Values().Has(w.Labels[r.Key()]) {\n				continue\n			}\n			found, ok := w.Labels[r.Key()]"},
	}},
	{"an account of the namespace default is of the policy's own", []change{
		{"policy/gateway/internal/authorization/lower.go", `		namespace = *s.ServiceAccount.Namespace`, "		if !FAULT || *s.ServiceAccount.Namespace != \"default\" {\n			namespace = *s.ServiceAccount.Namespace\n		}"},
	}},
	{"a label is compared in any case", []change{
		{"policy/kuma/internal/scope/selector.go", `got != want.Value && !yield(differs(want.Value, got, func() string {`, `got != want.Value && !(FAULT && len(got) == len(want.Value) && policy.Match{AnyCase: true, Value: want.Value}.Matches(got)) && !yield(differs(want.Value, got, func() string {`},
	}},
	{"a workload without an origin is of a zone", []change{
		{"policy/kuma/internal/scope/selector.go", `w.Origin == resource.OriginZone &&`, `(w.Origin == resource.OriginZone || FAULT && w.Origin == "") &&`},
	}},
}
