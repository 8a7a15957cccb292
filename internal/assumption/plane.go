package assumption

import (
	"slices"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// isLabelled reports whether an object with pods has a label.
func isLabelled(o clusterobject.Object, key, value string) bool {
	return o.PodPlace() != "" && fieldvalue.Lookup(o.Fields, "metadata", "labels", key) == value
}

// runsImage reports whether the pods of an object have a container with one of these parts of an image.
func runsImage(o clusterobject.Object, images ...string) bool {
	return slices.ContainsFunc(o.Containers("containers"), func(container map[string]any) bool {
		return fieldvalue.HasAnyPart(clusterobject.ImageOf(container), images)
	})
}

// movesKuma returns the field where a control plane of Kuma is in another namespace than the usual one, whose policies are
// those of the system.
func movesKuma(o clusterobject.Object, options Options) string {
	if !options.state("systemNamespace") && runsImage(o, "/kuma-cp") && o.Namespace != "kuma-system" {
		return "metadata.namespace"
	}
	return ""
}
