package lab

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/manifestdiff"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
)

// portWarnings warns of each port that a policy of a namespace asks for, where each workload that it selects has another one behind a Service
// with that port: a sidecar never sees the port of a Service.
func (f *Files) portWarnings(targets []capability.Target, pods podsByNamespace, like policy.Inbound) (out []policy.Warning) {
	services := manifestdiff.ServicesOf(f.Others)
	known := map[*manifestdiff.Template]map[uint16]manifestdiff.ServicePort{}
	for _, t := range targets {
		port, asks := portAsked(t, like)
		if !asks {
			continue
		}
		var of manifestdiff.ServicePort
		others, selected := 0, 0
		on := like
		on.Port = port
		for _, template := range pods.near(t, on) {
			if !t.Selects(inboundLike(on, template)) {
				continue
			}
			selected++
			if known[template] == nil {
				known[template] = template.ServicePorts(services)
			}
			if other, is := known[template][port]; is {
				of, others = other, others+1
			}
		}
		if others == 0 || others < selected {
			continue
		}
		text := fmt.Sprintf("port %d is that of %s, and its pods have %d: a port is the workload's, not that of a Service", port, of.Service, of.Target)
		if w := (policy.Warning{Kind: warning.PortOfNoInbound, Place: t.Place, Policy: t.Policy, Message: text}); !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// portAsked returns the port that a target of one namespace asks for.
func portAsked(t capability.Target, like policy.Inbound) (port uint16, asks bool) {
	if !isOfNamespace(t, like) {
		return 0, false
	}
	one, two := like, like
	one.Port, two.Port = 1, 2
	port = t.Fit(one).Port
	return port, port == t.Fit(two).Port
}
