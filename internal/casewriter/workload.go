package casewriter

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/internal/script"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/language"
)

func (p *printer) workloads() {
	for i, g := range workloadsOf(p.c) {
		if i == 0 {
			p.line(0, "workloads:")
		}
		p.item(p.workload(i, g))
	}
}

// workload are the lines of the workload at an index.
func (p *printer) workload(i int, g workload) []string {
	w := g.Workload
	f := fields{"name: " + quote(w.Name)}
	if w.Namespace != casefile.DefaultNamespace {
		f.add("namespace", text(w.Namespace))
	}
	p.addIdentity(&f, g.Peer)
	if w.Mesh != casefile.DefaultMesh {
		f.add("mesh", text(w.Mesh))
	}
	f.add("zone", text(w.Zone))
	f.add("origin", text(w.Origin))
	f.add("labels", mapping(w.Labels))
	if g.IP != casefile.DefaultIP(i) {
		f.add("ip", quote(g.IP.String()))
	}
	if len(g.inbounds) > 0 {
		f = append(f, "inbounds:")
	}
	for _, in := range g.inbounds {
		f = append(f, "  - "+inbound(in))
	}
	return f
}

// workload is a workload with its inbounds. A case has the inbounds of all workloads in one list.
type workload struct {
	language.Peer
	inbounds []cases.Inbound
}

// workloadsOf returns the workloads of a case: its peers, and what has an inbound beside them.
func workloadsOf(c cases.Case) []workload {
	var out []workload
	for _, peer := range c.Options.Peers {
		out = append(out, workload{Peer: peer})
	}
	for _, in := range c.Inbounds {
		i := slices.IndexFunc(out, func(w workload) bool { return w.Workload.Name == in.Workload.Name })
		if i < 0 {
			i = len(out)
			out = append(out, workload{})
		}
		out[i].Peer = language.Peer{Workload: in.Workload, Identity: in.Identity, IP: in.IP}
		out[i].inbounds = append(out[i].inbounds, in)
	}
	return out
}

// addIdentity adds the fields that give a workload its service account and its SPIFFE ID, and no
// field for a default.
func (p *printer) addIdentity(f *fields, in language.Peer) {
	uri := in.Identity.String()
	for _, account := range []string{cmp.Or(in.Workload.ServiceAccount, in.Workload.Name), uri[strings.LastIndexByte(uri, '/')+1:]} {
		id, ok := p.defaultIdentity(in.Workload.Namespace, account)
		if !ok || id != in.Identity {
			continue
		}
		if account != in.Workload.Name {
			f.add("serviceAccount", quote(account))
		}
		return
	}
	if account := in.Workload.ServiceAccount; account != in.Workload.Name {
		f.add("serviceAccount", text(account))
	}
	f.add("identity", quote(uri))
}

// defaultIdentity is the SPIFFE ID of a workload that states none.
func (p *printer) defaultIdentity(namespace, account string) (spiffeid.ID, bool) {
	if len(p.c.TrustDomains) == 0 {
		return spiffeid.ID{}, false
	}
	id, err := casefile.DefaultIdentity(p.c.TrustDomains[0], namespace, account)
	return id, err == nil
}

func inbound(in cases.Inbound) string {
	var f fields
	f.add("name", text(in.Name))
	f.add("port", strconv.Itoa(int(in.Port)))
	if in.Protocol != policy.HTTP {
		f.add("protocol", in.Protocol.String())
	}
	if in.MTLS != mtls.Unset {
		f.add("mtls", in.MTLS.String())
	}
	if in.TrustedHops > 0 {
		f.add("xffTrustedHops", strconv.Itoa(in.TrustedHops))
	}
	f.add("answer", answer(script.Answer{Reach: in.Reach}))
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
