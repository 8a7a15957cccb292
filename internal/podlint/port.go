package podlint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/podtemplate"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
)

// portWarnings warns of each port that a policy of a namespace asks for, where each workload that it selects has another one behind a Service
// with that port: a sidecar never sees the port of a Service.
func portWarnings(f *lab.Files, targets []capability.Target, pods podsByNamespace, like policy.Inbound) (out []policy.Warning) {
	services := podtemplate.ServicesOf(f.Others)
	known := map[*podtemplate.Template]map[uint16]podtemplate.ServicePort{}
	for _, t := range targets {
		port, asks := portAsked(t, like)
		if !asks {
			continue
		}
		var of podtemplate.ServicePort
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
		text := fmt.Sprintf("port %d is that of %s, and its pods have %d: a port is the workload's, not that of a Service: write %d", port, of.Service, of.Target, of.Target)
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

// injectedPorts are the names of the ports of containers that a mesh adds to pods, as Linkerd and Istio do.
var injectedPorts = []string{"linkerd-admin", "linkerd-proxy", "http-envoy-prom"}

// portNameWarnings warns of each port that a policy of a namespace asks for by its name, where no container of the pods that it selects has the name, and
// in Kuma no Service of theirs either: the policy selects nothing then, and the port that is meant stays as it is without the policy.
func portNameWarnings(f *lab.Files, targets []capability.Target, pods podsByNamespace, like policy.Inbound) (out []policy.Warning) {
	byContainers, byServices := slices.ContainsFunc(f.Policies, podtemplate.GoesByPortNames), slices.ContainsFunc(f.Policies, podtemplate.GoesByNamesOfServices)
	if !byContainers && !byServices {
		return nil
	}
	services := podtemplate.ServicesOf(f.Others)
	namesOf := func(template *podtemplate.Template) (names []string, known bool) {
		names, known = template.PortNames()
		if byServices {
			more, served := template.ServicePortNames(services)
			names, known = append(names, more...), known && served
		}
		return names, known
	}
	for _, t := range targets {
		name := portNameAsked(t, like)
		if name == "" || slices.Contains(injectedPorts, name) {
			continue
		}
		on := like
		on.Name = name
		selected := slices.DeleteFunc(pods.near(t, on), func(template *podtemplate.Template) bool { return !t.Selects(inboundLike(on, template)) })
		mayHave := func(template *podtemplate.Template) bool {
			names, known := namesOf(template)
			return !known || slices.ContainsFunc(names, func(other string) bool { return strings.EqualFold(other, name) })
		}
		if len(selected) == 0 || slices.ContainsFunc(selected, mayHave) {
			continue
		}
		own := "none"
		if names, _ := namesOf(selected[0]); len(names) > 0 {
			own = strings.Join(slices.Compact(slices.Sorted(slices.Values(names))), ", ")
		}
		whose := "containers"
		if byServices {
			whose = "containers and Services"
		}
		text := fmt.Sprintf("no pods that the policy selects have a port with the name %s (the %s of %s name %s): by this name it is about no port of theirs", name, whose, selected[0].Object, own)
		if w := (policy.Warning{Kind: warning.PortOfNoInbound, Place: t.Place, Policy: t.Policy, Message: text}); !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// portNameAsked returns the name of a port that a target of one namespace asks for, "" where it asks for none.
func portNameAsked(t capability.Target, like policy.Inbound) string {
	one, two := like, like
	one.Name, two.Name = "a", "b"
	if name := t.Fit(one).Name; isOfNamespace(t, like) && name == t.Fit(two).Name {
		return name
	}
	return ""
}
