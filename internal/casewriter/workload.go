package casewriter

import (
	"slices"
	"strconv"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// workload is a workload with its inbounds. A case has the inbounds of all workloads in one list.
type workload struct {
	name     string
	inbounds []cases.Inbound
}

// workloadsOf returns the workloads in the order of their first inbounds.
func workloadsOf(inbounds []cases.Inbound) []workload {
	var out []workload
	for _, in := range inbounds {
		i := slices.IndexFunc(out, func(w workload) bool { return w.name == in.Workload.Name })
		if i < 0 {
			i = len(out)
			out = append(out, workload{name: in.Workload.Name})
		}
		out[i].inbounds = append(out[i].inbounds, in)
	}
	return out
}

func (p *printer) workloads() {
	for i, g := range workloadsOf(p.c.Inbounds) {
		if i == 0 {
			p.line(0, "workloads:")
		}
		p.item(2, p.workload(i, g))
	}
}

// workload are the lines of the workload at an index.
func (p *printer) workload(i int, g workload) []string {
	first := g.inbounds[0]
	w := first.Workload
	f := fields{"name: " + quote(w.Name)}
	if w.Namespace != casefile.DefaultNamespace {
		f.add("namespace", text(w.Namespace))
	}
	key, value := p.identity(first)
	f.add(key, value)
	if w.Mesh != casefile.DefaultMesh {
		f.add("mesh", text(w.Mesh))
	}
	f.add("zone", text(w.Zone))
	f.add("origin", text(w.Origin))
	f.add("labels", mapping(w.Labels))
	if first.IP != casefile.DefaultIP(i) {
		f.add("ip", quote(first.IP.String()))
	}
	f = append(f, "inbounds:")
	for _, in := range g.inbounds {
		f = append(f, "  - "+inbound(in))
	}
	return f
}

// identity is the field that gives a workload its SPIFFE ID, and no field for the default one.
func (p *printer) identity(in cases.Inbound) (key, value string) {
	if id, ok := p.defaultIdentity(in.Workload.Namespace, in.Workload.Name); ok && id == in.Identity {
		return "", ""
	}
	uri := in.Identity.String()
	account := uri[strings.LastIndexByte(uri, '/')+1:]
	if id, ok := p.defaultIdentity(in.Workload.Namespace, account); ok && id == in.Identity {
		return "serviceAccount", quote(account)
	}
	return "identity", quote(uri)
}

func inbound(in cases.Inbound) string {
	var f fields
	f.add("name", text(in.Name))
	f.add("port", strconv.Itoa(int(in.Port)))
	if in.Protocol != policy.HTTP {
		f.add("protocol", in.Protocol.String())
	}
	if in.Permissive {
		f.add("mtls", "permissive")
	}
	f.add("tags", mapping(in.Tags))
	if len(in.Routes) > 0 {
		routes := make([]string, len(in.Routes))
		for i, r := range in.Routes {
			routes[i] = route(r)
		}
		f.add("routes", "["+strings.Join(routes, ", ")+"]")
	}
	return f.flow()
}

func route(r policy.InboundRoute) string {
	f := fields{"name: " + quote(r.Name)}
	for c := range policy.Walk(r.When) {
		is, _ := c.(policy.Is)
		switch is.Attribute {
		case attribute.Path:
			kind := "Exact"
			if is.Match.Kind == policy.Segments {
				kind = "Prefix"
			}
			f.add("path", "{type: "+kind+", value: "+quote(is.Match.Value)+"}")
		case attribute.Method:
			f.add("method", quote(is.Match.Value))
		}
	}
	return f.flow()
}
