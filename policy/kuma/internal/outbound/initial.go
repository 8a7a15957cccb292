package outbound

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/policy/kuma/internal/reference"
	"github.com/meshproof/meshproof/policy/kuma/internal/resource"
	"github.com/meshproof/meshproof/policy/kuma/internal/scope"
	"github.com/meshproof/meshproof/policy/kuma/internal/target"
	"github.com/meshproof/meshproof/policy/kuma/internal/timeout"
	"github.com/meshproof/meshproof/policy/manifest"
)

// A control plane makes a MeshTimeout with each mesh. Its name begins with initialTimeout and ends with the name of the mesh. It sets
// [initialBounds] to the defaults, for all sidecars and all that they call.
const initialTimeout = "mesh-timeout-all-"

var initialBounds = [...]routing.Bound{routing.Connection, routing.Idle, routing.Request, routing.StreamIdle}

// InitialTimeouts tells which times of the documents do not count in Kuma. A MeshTimeout for the whole mesh and all that is called may be
// weaker than the one that Kuma makes with the mesh, whose times count then. Where Kuma's own one stands among the documents, or where
// they are refused, it says nothing.
func InitialTimeouts(docs []manifest.Document, systemNamespace string) (out []string) {
	all, err := timeout.ParseAll(slices.DeleteFunc(slices.Clone(docs), func(doc manifest.Document) bool { return !timeout.Kind.Owns(doc) }), systemNamespace)
	if err != nil {
		return nil
	}
	for i := range all {
		t := &all[i]
		initial := resource.Resource{ID: t.ID, Labels: t.Labels}
		initial.ID.Name = initialTimeout + t.ID.Mesh
		stands := slices.ContainsFunc(all, func(other timeout.Timeout) bool {
			return other.ID.Mesh == t.ID.Mesh && other.ID.Name == initial.ID.Name
		})
		ofSystem := scope.Selector{Resource: &initial, Target: &target.Target{}, Role: resource.RoleSystem}
		if stands || selectorOf(t).Rank().Compare(ofSystem.Rank()) >= 0 {
			continue
		}
		for _, item := range t.To {
			if lost := lostTimes(item); lost != "" {
				out = append(out, fmt.Sprintf("%s: Kuma makes the MeshTimeout %s with the mesh, which is stronger by its name and sets %s too: give this policy a name that sorts before it, or write that one beside it",
					t.Doc.Place(item.Ref.Field), initial.ID.Name, lost))
			}
		}
	}
	return out
}

// lostTimes are the times of an item for the whole mesh that the initial policy sets to other ones.
func lostTimes(item timeout.Item) string {
	var lost []string
	for _, bound := range initialBounds {
		if item.Ref.Kind == reference.Mesh && item.Conf.Set(bound) && item.Conf[bound].Time != defaults[bound].Time {
			lost = append(lost, bound.String())
		}
	}
	return strings.Join(lost, ", ")
}
