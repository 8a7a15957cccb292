package proof_test

// faultsOfRoutes are those of the requests through sidecars, and of the tags that select inbounds of the legacy form.
var faultsOfRoutes = []fault{
	{"the tags of an inbound are not read", []change{
		{"policy/kuma/internal/scope/selector.go", `if value, ok := in.Tags[key]; ok {`, `if value, ok := in.Tags[key]; ok && !FAULT {`},
		{"policy/kuma/internal/evaluation/select.go", `if value, stated := in.Tags[key]; stated {`, `if value, stated := in.Tags[key]; stated && !FAULT {`},
	}},
	{"the method of a match weighs nothing", []change{
		{"policy/kuma/internal/route/match.go", `		method = 1`, `		method = map[bool]int{false: 1}[FAULT]`},
		{"policy/kuma/internal/routeevaluation/rule.go", `		p[2] = 1`, `		p[2] = map[bool]int{false: 1}[FAULT]`},
	}},
	{"the headers of a match weigh nothing", []change{
		{"policy/kuma/internal/route/match.go", `len(m.Headers), len(m.Query)}`, `len(m.Headers) * map[bool]int{false: 1}[FAULT], len(m.Query)}`},
		{"policy/kuma/internal/routeevaluation/rule.go", `p[3], p[4] = len(m.Headers), len(m.Query)`, `p[3], p[4] = len(m.Headers)*map[bool]int{false: 1}[FAULT], len(m.Query)`},
	}},
	{"the length of a path weighs nothing", []change{
		{"policy/kuma/internal/route/match.go", `length = len(m.Path.Value)`, `length = len(m.Path.Value) * map[bool]int{false: 1}[FAULT]`},
		{"policy/kuma/internal/routeevaluation/rule.go", `p[1] = len(m.Path.Value)`, `p[1] = len(m.Path.Value) * map[bool]int{false: 1}[FAULT]`},
	}},
	{"a header that must be absent is asked for", []change{
		{"policy/kuma/internal/route/match.go", `if h.Absent {`, `if h.Absent && !FAULT {`},
		{"policy/kuma/internal/routeevaluation/rule.go", `has == want.Absent {`, `has == (want.Absent && !FAULT) {`},
	}},
	{"a timeout of one port weighs no more than that of a service", []change{
		{"policy/kuma/internal/outbound/rules.go", `section: sectionWeight(item.Ref)}`, `section: sectionWeight(item.Ref) * map[bool]int{false: 1}[FAULT]}`},
		{"policy/kuma/internal/routeevaluation/limit.go", `s.place[1] = 1`, `s.place[1] = map[bool]int{false: 1}[FAULT]`},
	}},
	{"a timeout of one port of a service of several zones weighs more than that of the service", []change{
		{"policy/kuma/internal/outbound/rules.go", `if ref.Kind == destination.MeshService.Name &&`, `if (FAULT || ref.Kind == destination.MeshService.Name) &&`},
		{"policy/kuma/internal/routeevaluation/limit.go", `if item.Ref.Kind == "MeshService" &&`, `if (FAULT || item.Ref.Kind == "MeshService") &&`},
	}},
	{"a route for one port weighs no more than one for the service", []change{
		{"policy/kuma/internal/outbound/build.go", `sectionWeight(to.Ref), place}`, `sectionWeight(to.Ref) * map[bool]int{false: 1}[FAULT], place}`},
		{"policy/kuma/internal/routeevaluation/rule.go", `x, y := [2]int{a.section}, [2]int{b.section}`, `x, y := [2]int{a.section}, [2]int{b.section}
	if FAULT {
		x, y = [2]int{}, [2]int{}
	}`},
	}},
	{"of two items of a route the first one is stronger", []change{
		{"policy/kuma/internal/outbound/build.go", `j.rank.CompareName(i.rank), cmp.Compare(j.place, i.place)`, `j.rank.CompareName(i.rank), cmp.Compare(j.place, i.place)*map[bool]int{false: 1, true: -1}[FAULT]`},
		{"policy/kuma/internal/routeevaluation/rule.go", `return a.item > b.item`, `return (a.item > b.item) != FAULT`},
	}},
	{"the backend of a merged rule is of the namespace of the rule with the name", []change{
		{"policy/kuma/internal/outbound/build.go", `if b.design == Released {
		of = m.named`, `if FAULT || b.design == Released {
		of = m.named`},
		{"policy/kuma/internal/routeevaluation/rule.go", `	if c.Released {
		best.backendRoute`, `	if FAULT || c.Released {
		best.backendRoute`},
	}},
	{"a backend without a port does not exist", []change{
		{"policy/kuma/internal/outbound/build.go", `case section == "":`, `case section == "" && !FAULT:`},
		{"policy/kuma/internal/routeevaluation/evaluate.go", `} else if section == "" {`, `} else if section == "" && !FAULT {`},
	}},
	{"the section of a timeout is not compared", []change{
		{"policy/kuma/internal/outbound/rules.go", `if ref.Section == "" || ref.Section == p.Section() {`, `if FAULT || ref.Section == "" || ref.Section == p.Section() {`},
		{"policy/kuma/internal/routeevaluation/limit.go", `(ref.Section == "" || ref.Section == section)`, `(FAULT || ref.Section == "" || ref.Section == section)`},
	}},
	{"a timeout of a route is not read", []change{
		{"policy/kuma/internal/outbound/build.go", `case len(own) == 0:`, `case len(own) == 0 || FAULT:`},
		{"policy/kuma/internal/routeevaluation/limit.go", `	case ofRoute != nil:`, `	case ofRoute != nil && !FAULT:`},
	}},
	{"a route for one port of a service is one for each", []change{
		{"policy/kuma/internal/outbound/parts.go", `(item.Ref.Section == "" ||`, `(FAULT || item.Ref.Section == "" ||`},
		{"policy/kuma/internal/routeevaluation/rule.go", `			if !c.isPort(item.Ref, r.Resource) {`, `			ref := item.Ref
			if FAULT {
				ref.Section = ""
			}
			if !c.isPort(ref, r.Resource) {`},
	}},
	{"a route for requests takes connections", []change{
		{"policy/kuma/internal/outbound/parts.go", `&& p.Protocol.Layer() == layerOf(of)`, `&& (FAULT || p.Protocol.Layer() == layerOf(of))`},
		{"policy/kuma/internal/routeevaluation/rule.go", `if r.Kind.Name != kind ||`, `if r.Kind.Name != kind && !(FAULT && kind == tcpRoute) ||`},
	}},
}
