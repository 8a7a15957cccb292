package clusterobject

import (
	"strings"

	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// IsOfIstio reports whether an object is one of Istio, or tells Istio something.
func (o Object) IsOfIstio() bool {
	labels := fieldvalue.Mapping(fieldvalue.Lookup(o.Fields, "metadata", "labels"))
	if IsWithin(o.Group, []string{"istio.io"}) || labels["istio-injection"] != nil {
		return true
	}
	for _, head := range []string{"metadata", o.PodPlace() + "metadata"} {
		for _, field := range []string{"labels", "annotations"} {
			settings := fieldvalue.Mapping(fieldvalue.Lookup(o.Fields, append(strings.Split(head, "."), field)...))
			for key := range settings {
				if IsWithin(DomainOf(key), []string{"istio.io"}) {
					return true
				}
			}
		}
	}
	return false
}

// IsOfLinkerd reports whether an object is one of Linkerd, or a route that Linkerd shares with others.
func (o Object) IsOfLinkerd() bool {
	return strings.HasSuffix(o.Group, "linkerd.io") || o.Group == "gateway.networking.k8s.io"
}
