package cases

import (
	"slices"
	"strconv"
	"strings"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// group is a workload with its inbounds, which stand anywhere in a case.
type group struct {
	name     string
	inbounds []Inbound
}

// groups returns the workloads in the order in which they first appear.
func groups(inbounds []Inbound) []group {
	var out []group
	for _, in := range inbounds {
		i := slices.IndexFunc(out, func(g group) bool { return g.name == in.Workload.Name })
		if i < 0 {
			i = len(out)
			out = append(out, group{name: in.Workload.Name})
		}
		out[i].inbounds = append(out[i].inbounds, in)
	}
	return out
}

func (p *printer) workloads() {
	for i, g := range groups(p.c.Inbounds) {
		if i == 0 {
			p.line(0, "workloads:")
		}
		p.item(2, p.workload(i, g))
	}
}

// workload are the lines of the workload at an index.
func (p *printer) workload(i int, g group) []string {
	first := g.inbounds[0]
	w := first.Workload
	f := fields{"name: " + quote(w.Name)}
	if w.Namespace != defaultNamespace {
		f.add("namespace", text(w.Namespace))
	}
	key, value := p.identity(first)
	f.add(key, value)
	if w.Mesh != defaultMesh {
		f.add("mesh", text(w.Mesh))
	}
	f.add("zone", text(w.Zone))
	f.add("origin", text(w.Origin))
	f.add("labels", mapping(w.Labels))
	if first.IP != defaultIP(i) {
		f.add("ip", quote(first.IP.String()))
	}
	f = append(f, "inbounds:")
	for _, in := range g.inbounds {
		f = append(f, "  - "+inbound(in))
	}
	return f
}

// identity is the field that gives a workload its SPIFFE ID, none where it has the
// default one.
func (p *printer) identity(in Inbound) (key, value string) {
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

func inbound(in Inbound) string {
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
