package suite

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/podtemplate"
)

// otherwiseDeployed says of which workloads the case states a label otherwise than an object of that name, such as a Deployment, in the files that it names. It is
// silent about labels that a control plane computes, and where another file may change labels.
func otherwiseDeployed(c cases.Case) (out []string) {
	for _, doc := range c.LeftOut {
		if namespaces, everywhere := podtemplate.MakesPods(doc); everywhere || len(namespaces) > 0 {
			return nil
		}
	}
	for _, deployed := range podtemplate.Templates(c.LeftOut) {
		of := func(in cases.Inbound) bool {
			return in.Workload.Name == deployed.Name && in.Workload.Namespace == deployed.Namespace
		}
		i := slices.IndexFunc(c.Inbounds, of)
		if i < 0 {
			continue
		}
		stated := c.Inbounds[i].Workload.Labels
		for _, key := range slices.Sorted(maps.Keys(stated)) {
			own, has := deployed.Labels[key]
			if own == stated[key] || !has && strings.Contains(key, "/") && !strings.HasPrefix(key, "app.kubernetes.io/") {
				continue
			}
			instead := "none"
			if has {
				instead = fmt.Sprintf("%q", own)
			}
			out = append(out, fmt.Sprintf("the case states the label %s=%q of %s/%s, and %s of the named files has %s: the run is about the workload that the case states", key, stated[key], deployed.Namespace, deployed.Name, deployed.Object, instead))
		}
	}
	return out
}
