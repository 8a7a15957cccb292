package manifestdiff

import (
	"slices"

	"github.com/meshproof/meshproof/internal/clusterobject"
)

// attachedPolicies returns those of some objects that are policies for gateways: they name callers, too.
func attachedPolicies(all []clusterobject.Object) []clusterobject.Object {
	return slices.DeleteFunc(slices.Clone(all), func(o clusterobject.Object) bool { return !o.IsForGateways() })
}
