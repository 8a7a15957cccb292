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
	{"an empty value asks for a label", []change{
		{"policy/kuma/internal/scope/selector.go", `if got := WorkloadLabel(&in.Workload, want.Key); got != want.Value &&`, `_, stated := in.Workload.Labels[want.Key]
		if got := WorkloadLabel(&in.Workload, want.Key); (got != want.Value || FAULT && want.Value == "" && !stated) &&`},
		{"policy/kuma/internal/evaluation/select.go", `		if value != want.Value {`, `		if _, stated := in.Workload.Labels[want.Key]; value != want.Value || FAULT && want.Value == "" && !stated {`},
	}},
	{"the mesh that a workload does not state is no label", []change{
		{"policy/kuma/internal/scope/selector.go", "	case resource.LabelMesh:\n", "	case resource.LabelMesh:\n		if FAULT {\n			return w.Mesh\n		}\n"},
		{"policy/kuma/internal/evaluation/select.go", `		return orDefault(w.Mesh)`, `		return map[bool]string{false: orDefault(w.Mesh), true: w.Mesh}[FAULT]`},
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
	// What follows is read in one place.
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
