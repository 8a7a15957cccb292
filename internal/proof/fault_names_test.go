package proof_test

// faultsOfNames are those of what names and values are compared with, where few policies show it.
var faultsOfNames = []fault{
	{"a semicolon parts the parameters of a query", []change{
		{"policy/attribute/query.go", `			for parameter := range`, "			if FAULT {\n				query = strings.ReplaceAll(query, \";\", \"&\")\n			}\n			for parameter := range"},
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
		{"policy/gateway/internal/authorization/lower.go", "			if r.Matches(labels.Set(w.Labels)) {\n				continue\n			}\n			found", "			if r.Matches(labels.Set(w.Labels)) || FAULT && r.Operator() == selection.In && r.Values().Has(w.Labels[r.Key()]) {\n				continue\n			}\n			found"},
	}},
}
