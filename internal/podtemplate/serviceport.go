package podtemplate

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/policy/manifest"
)

// ServicePort is a port of a Service that leads to a port of another number.
type ServicePort struct {
	// Service is the kind, the namespace and the name of the Service.
	Service string
	// Target is the port of the pods.
	Target uint16
}

// Services are the Services of some documents, by their namespaces.
type Services map[string][]document

// ServicesOf returns the Services among some documents.
func ServicesOf(docs []manifest.Document) Services {
	out := Services{}
	for _, doc := range docs {
		if d := read(doc); d.isOfCore("Service") {
			out[d.Namespace] = append(out[d.Namespace], d)
		}
	}
	return out
}

// servedBy yields the Services that lead to the pods.
func (t Template) servedBy(of Services) iter.Seq[document] {
	return func(yield func(document) bool) {
		for _, d := range of[t.Namespace] {
			if t.pods.selectedBy(fieldvalue.Mapping(fieldvalue.Lookup(d.fields, "spec", "selector"))) && !yield(d) {
				return
			}
		}
	}
}

// ServicePorts returns the ports of Services of the pods that lead to a port of another number, but for those that the pods have too, or may have.
func (t Template) ServicePorts(of Services) map[uint16]ServicePort {
	own, out := map[uint16]bool{}, map[uint16]ServicePort{}
	byName := map[string]uint16{}
	for port := range t.containerPorts {
		if number, ok := portOf(port["containerPort"]); ok {
			own[number] = true
			byName[fmt.Sprint(port["name"])] = number
		}
	}
	for d := range t.servedBy(of) {
		for _, port := range fieldvalue.Mappings(fieldvalue.Lookup(d.fields, "spec", "ports")) {
			number, ok := portOf(port["port"])
			target, isNumber := portOf(port["targetPort"])
			if name, isName := port["targetPort"].(string); isName {
				target, isNumber = byName[name]
			} else if port["targetPort"] == nil {
				target, isNumber = number, ok
			}
			switch {
			case !ok:
			case !isNumber:
				own[number] = true // a pod may have the named port under any number
			default:
				own[target] = true
				if target != number {
					out[number] = ServicePort{d.String(), target}
				}
			}
		}
	}
	for number := range own {
		delete(out, number)
	}
	return out
}

// PortNames returns the names of the ports of the pods, in order. It returns false where the workload states no container.
func (t Template) PortNames() (names []string, known bool) {
	for port := range t.containerPorts {
		if name, ok := port["name"].(string); ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, len(fieldvalue.Mappings(t.pods.Spec["containers"])) > 0
}

// Port returns the number of the port of the pods that has this name, or this number.
func (t Template) Port(named string) (number uint16, known bool) {
	for port := range t.containerPorts {
		if number, known = portOf(port["containerPort"]); known && (port["name"] == named || fmt.Sprint(number) == named) {
			return number, true
		}
	}
	return 0, false
}

// containerPorts yields the ports that the containers of the pods state.
func (t Template) containerPorts(yield func(map[string]any) bool) {
	for _, field := range []string{"containers", "initContainers"} {
		for _, container := range fieldvalue.Mappings(t.pods.Spec[field]) {
			for _, port := range fieldvalue.Mappings(container["ports"]) {
				if !yield(port) {
					return
				}
			}
		}
	}
}

// ServicePortNames returns the names of the ports of the Services that lead to the pods. It returns false where none of these Services does.
func (t Template) ServicePortNames(of Services) (names []string, served bool) {
	for d := range t.servedBy(of) {
		served = true
		for _, port := range fieldvalue.Mappings(fieldvalue.Lookup(d.fields, "spec", "ports")) {
			if name, ok := port["name"].(string); ok {
				names = append(names, name)
			}
		}
	}
	return names, served
}

// GoesByNamesOfServices reports whether a policy is of Kuma, which makes an inbound of each port of a Service and names it by the port, or by that of the container.
func GoesByNamesOfServices(doc manifest.Document) bool {
	return metadata.IdentityOf(doc).Group == "kuma.io"
}

// GoesByPortNames reports whether a policy is of a mesh that finds a named port by the containers of a pod: Linkerd or Cilium.
func GoesByPortNames(doc manifest.Document) bool {
	group := metadata.IdentityOf(doc).Group
	return group == "policy.linkerd.io" || group == "cilium.io"
}

// portOf reads the number of a port.
func portOf(value any) (uint16, bool) {
	var number float64
	if _, err := fmt.Sscan(fmt.Sprint(value), &number); err != nil || number < 1 || number > math.MaxUint16 || number != math.Trunc(number) {
		return 0, false
	}
	return uint16(number), true
}
