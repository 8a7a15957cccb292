package manifestdiff

import (
	"regexp"

	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// idleQuota are the bounds of a ResourceQuota on what costs something, and on objects that are no policies.
var idleQuota = regexp.MustCompile(`^((requests|limits)\.\S+|cpu|memory|pods|storage|ephemeral-storage|hugepages-\S+|(\S+\.)?storageclass\.storage\.k8s\.io/\S+|persistentvolumeclaims|replicationcontrollers|resourcequotas|services(\.\w+)?|secrets|configmaps|` +
	`count/(pods|persistentvolumeclaims|services|secrets|configmaps|replicationcontrollers|(deployments|replicasets|statefulsets)\.apps|(jobs|cronjobs)\.batch|ingresses\.networking\.k8s\.io))$`)

// boundsPolicies reports whether a ResourceQuota may bound how many policies there are: an API server refuses one more, and that
// one may be a deny.
func (o object) boundsPolicies() bool {
	bounds, _ := fieldvalue.Lookup(o.fields, "spec", "hard").(map[string]any)
	for name := range bounds {
		if o.kind == "ResourceQuota" && o.group == "" && !idleQuota.MatchString(name) {
			return true
		}
	}
	return false
}
