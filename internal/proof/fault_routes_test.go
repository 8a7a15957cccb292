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
		{"policy/kuma/internal/outbound/rules.go", `e.section = 1`, `e.section = map[bool]int{false: 1}[FAULT]`},
		{"policy/kuma/internal/routeevaluation/limit.go", `s.place[1] = 1`, `s.place[1] = map[bool]int{false: 1}[FAULT]`},
	}},
	{"the section of a timeout is not compared", []change{
		{"policy/kuma/internal/outbound/rules.go", `if ref.Section == "" || ref.Section == p.Section() {`, `if FAULT || ref.Section == "" || ref.Section == p.Section() {`},
		{"policy/kuma/internal/routeevaluation/limit.go", `(ref.Section == "" || ref.Section == section)`, `(FAULT || ref.Section == "" || ref.Section == section)`},
	}},
	{"a timeout of a route is not read", []change{
		{"policy/kuma/internal/outbound/build.go", `case len(own) == 0:`, `case len(own) == 0 || FAULT:`},
		{"policy/kuma/internal/routeevaluation/limit.go", `	case ofRoute != nil:`, `	case ofRoute != nil && !FAULT:`},
	}},
}
