package manifestdiff

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// agents are the kinds of which an agent of Cilium writes each object. By such an object an address gets the name of another
// caller, so it counts where an author may have written it.
var agents = fields("CiliumEndpoint CiliumIdentity CiliumNode")

func (o object) isOfAgent() bool { return o.group == "cilium.io" && agents[o.kind] }

// isStored reports whether an object has what an API server writes into each object.
func (o object) isStored() bool {
	text := func(field string) string {
		value, _ := fieldvalue.Lookup(o.fields, "metadata", field).(string)
		return value
	}
	return o.storedVersion() != "" && text("uid") != "" && text("creationTimestamp") != ""
}

// storedVersion returns the version that an API server gave to an object, "" where there is none.
func (o object) storedVersion() string {
	version, _ := fieldvalue.Lookup(o.fields, "metadata", "resourceVersion").(string)
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
func (c *comparison) isExported(olds, recents []object) bool {
	o := slices.Concat(olds, recents)[0]
	isOfKind := func(other object) bool { return other.isOfAgent() && other.kind == o.kind }
	former := slices.DeleteFunc(slices.Clone(c.oldObjects.all), func(other object) bool { return !isOfKind(other) })
	latter := slices.DeleteFunc(slices.Clone(c.recentObjects.all), func(other object) bool { return !isOfKind(other) })
	for _, other := range slices.Concat(former, latter, c.oldPolicies.all, c.recentPolicies.all) {
		if !other.isStored() {
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
		return olds[0].doc.Flow() == recents[0].doc.Flow() || isLaterVersion(recents[0].storedVersion(), olds[0].storedVersion())
	default:
		return !slices.ContainsFunc(former, func(other object) bool { return !isLaterVersion(recents[0].storedVersion(), other.storedVersion()) })
	}
}
