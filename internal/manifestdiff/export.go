package manifestdiff

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// agents are the kinds of which an agent of Cilium writes each object. By such an object an address gets the name of another
// caller, so it counts where an author may have written it.
var agents = fieldpath.SetOf("CiliumEndpoint CiliumIdentity CiliumNode")

func isOfAgent(o clusterobject.Object) bool { return o.Group == "cilium.io" && agents[o.Kind] }

// isStored reports whether an object has what an API server writes into each object.
func isStored(o clusterobject.Object) bool {
	text := func(field string) string {
		value, _ := fieldvalue.Lookup(o.Fields, "metadata", field).(string)
		return value
	}
	return storedVersion(o) != "" && text("uid") != "" && text("creationTimestamp") != ""
}

// storedVersion returns the version that an API server gave to an object, "" where there is none.
func storedVersion(o clusterobject.Object) string {
	version, _ := fieldvalue.Lookup(o.Fields, "metadata", "resourceVersion").(string)
	if version = strings.TrimLeft(version, "0"); strings.Trim(version, "0123456789") != "" {
		return ""
	}
	return version
}

// isLaterVersion reports whether an API server gave the first version after the second one.
func isLaterVersion(a, b string) bool {
	return len(a) > len(b) || len(a) == len(b) && a > b
}

// isExported reports whether no author wrote the objects of an agent: both sides are exports of one cluster, and of the kind
// too. An author could write into one object what an API server writes. What differs is younger than the old side.
func (c *comparison) isExported(olds, recents []clusterobject.Object) bool {
	o := slices.Concat(olds, recents)[0]
	isOfKind := func(other clusterobject.Object) bool { return isOfAgent(other) && other.Kind == o.Kind }
	former := slices.DeleteFunc(slices.Clone(c.oldObjects.All), func(other clusterobject.Object) bool { return !isOfKind(other) })
	latter := slices.DeleteFunc(slices.Clone(c.recentObjects.All), func(other clusterobject.Object) bool { return !isOfKind(other) })
	for _, other := range slices.Concat(former, latter, c.oldPolicies.All, c.recentPolicies.All) {
		if !isStored(other) {
			return false
		}
	}
	if len(former) == 0 || len(olds) > 1 || len(recents) > 1 {
		return false
	}
	switch {
	case len(recents) == 0:
		return true
	case len(olds) == 1:
		return olds[0].Doc.Flow() == recents[0].Doc.Flow() || isLaterVersion(storedVersion(recents[0]), storedVersion(olds[0]))
	default:
		return !slices.ContainsFunc(former, func(other clusterobject.Object) bool {
			return !isLaterVersion(storedVersion(recents[0]), storedVersion(other))
		})
	}
}
