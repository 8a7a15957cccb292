package proof_test

// faultsOfPlaces are those of names, of zones and of ports, of what counts beside something else, and of paths.
var faultsOfPlaces = []fault{
	{"what an item of a timeout is for weighs more than what its policy is", []change{
		{"policy/kuma/internal/outbound/rules.go", `return cmp.Or(e.rank.CompareWeight(f.rank),`, `return cmp.Or(map[bool]int{true: cmp.Compare(e.kind, f.kind)}[FAULT], e.rank.CompareWeight(f.rank),`},
		{"policy/kuma/internal/routeevaluation/apply.go", `	for i := range w.numbers {
		if i == 1 &&`, `	if FAULT && between[0] != ofOther[0] {
		return between[0] > ofOther[0]
	}
	for i := range w.numbers {
		if i == 1 &&`},
	}},
	{"a backend without a port is asked on the name of the port that was called", []change{
		{"policy/kuma/internal/outbound/build.go", `strconv.Itoa(int(from.Number))`, `map[bool]string{false: strconv.Itoa(int(from.Number)), true: from.Section()}[FAULT]`},
		{"policy/kuma/internal/routeevaluation/evaluate.go", `strconv.Itoa(int(c.port.Number))`, `map[bool]string{false: strconv.Itoa(int(c.port.Number)), true: sectionOf(c.port)}[FAULT]`},
	}},
	{"released Kuma leaves a route with a time of its own no time without bytes of its service", []change{
		{"policy/kuma/internal/outbound/build.go", `return limits(conf, rest)`, `if FAULT {
			rest[routing.StreamIdle] = routing.Limit{}
		}
		return limits(conf, rest)`},
		{"policy/kuma/internal/routeevaluation/limit.go", `if bound == routing.Request {`, `if bound == routing.Request || FAULT && bound == routing.StreamIdle {`},
	}},
	{"released Kuma sets no bound of a connection of HTTP/2", []change{
		{"policy/kuma/internal/outbound/resources.go", `d == Released && protocol == policy.GRPC`, `d == Released && (protocol == policy.GRPC || FAULT && protocol == policy.HTTP2)`},
	}},
	{"a policy of the global control plane names a Dataplane", []change{
		{"policy/kuma/internal/resource/zone.go", `return !r.IsGlobal() && (r.ID.Zone`, `return (FAULT || !r.IsGlobal()) && (r.ID.Zone`},
		{"policy/kuma/internal/evaluation/select.go", `if zone := p.ID.Zone; zone == "" && p.Labels`, `if zone := p.ID.Zone; !FAULT && zone == "" && p.Labels`},
	}},
	{"a policy names a Dataplane of another zone", []change{
		{"policy/kuma/internal/resource/zone.go", `zone == "" || r.ID.Zone == zone)`, `zone == "" || FAULT || r.ID.Zone == zone)`},
		{"policy/kuma/internal/evaluation/select.go", `== "global" || zone != "" && w.Zone`, `== "global" || !FAULT && zone != "" && w.Zone`},
	}},
	{"a service of several zones may be one of a zone", []change{
		{"policy/kuma/internal/resource/zone.go", `r.ID.Type == kri.MeshMultiZoneService)`, `!FAULT && r.ID.Type == kri.MeshMultiZoneService)`},
		{"policy/kuma/internal/routeevaluation/apply.go", `r.ID.Type == "mzsvc")`, `!FAULT && r.ID.Type == "mzsvc")`},
	}},
	{"a name ends at its first dot", []change{
		{"policy/kuma/internal/resource/resource.go", `	r.Origin = r.ID.String()`, `	if FAULT {
		r.ID.Name, _, _ = strings.Cut(r.ID.Name, ".")
	}
	r.Origin = r.ID.String()`},
	}},
	{"times for what is sent do not count beside those for what comes", []change{
		{"policy/kuma/internal/timeout/timeout.go", `if t.Inbound != "" && len(spec.To) == 0 {`, `if t.Inbound != "" && (FAULT || len(spec.To) == 0) {`},
	}},
	{"a timeout may name a port by its number, whatever its name is", []change{
		{"policy/kuma/internal/outbound/rules.go", `|| ref.Section == p.Section() {`, `|| ref.Section == p.Section() || FAULT && ref.Section[0] <= '9' {`},
		{"policy/kuma/internal/routeevaluation/limit.go", `|| ref.Section == section)`, `|| ref.Section == section || FAULT && ref.Section[0] <= '9')`},
	}},
	{"a time may be less than a millisecond", []change{
		{"policy/kuma/internal/timeout/timeout.go", `if d.Duration%time.Millisecond != 0 {`, `if d.Duration%time.Millisecond != 0 && !FAULT {`},
	}},
	{"the time to connect may be without a limit", []change{
		{"policy/kuma/internal/timeout/timeout.go", `if bound == routing.Connection && d.Duration == 0 {`, `if bound == routing.Connection && d.Duration == 0 && !FAULT {`},
	}},
	{"the time of the headers may stand alone", []change{
		{"policy/kuma/internal/timeout/timeout.go", `if schema.Default.setsNoHTTP() {`, `if schema.Default.setsNoHTTP() && !FAULT {`},
	}},
	{"one dot with parameters is a name", []change{
		{"policy/normalize.go", `has && (name == "." || name == "..")`, `has && (name == "." && !FAULT || name == "..")`},
		{"internal/plainpath/path.go", `(strings.HasPrefix(written, ".;") ||`, `(!FAULT && strings.HasPrefix(written, ".;") ||`},
	}},
	{"stars at both ends of a header stand for any text", []change{
		{"policy/istio/internal/authorization/subject.go", `return text(a, value).(policy.Is)`, `if FAULT && strings.HasPrefix(value, "*") && strings.HasSuffix(value, "*") {
		return policy.Is{Attribute: a, Match: policy.Match{Kind: policy.Contains, Value: strings.Trim(value, "*")}}
	}
	return text(a, value).(policy.Is)`},
		{"policy/istio/internal/evaluation/value.go", `if value == "*" || compare(value, line) {`, `if value == "*" || compare(value, line) || FAULT && strings.HasPrefix(value, "*") && strings.HasSuffix(value, "*") && strings.Contains(line, strings.Trim(value, "*")) {`},
	}},
}
