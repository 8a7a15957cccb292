package manifestdiff

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// attachesToRoutes reports whether a document beside the policies says something about single routes: requests that come by another
// route pass it. What Linkerd's policies say of routes is about those of its Servers.
func attachesToRoutes(o clusterobject.Object) bool {
	return fieldvalue.Any(o.Fields, func(value any) bool {
		fields := fieldvalue.Mapping(value)
		return slices.ContainsFunc(append(fieldvalue.Mappings(fields["targetRefs"]), fieldvalue.Mapping(fields["targetRef"])), func(ref map[string]any) bool {
			kind, _ := ref["kind"].(string)
			return strings.HasSuffix(kind, "Route")
		})
	})
}
