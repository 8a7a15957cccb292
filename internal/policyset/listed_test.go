package policyset_test

import (
	"testing"

	"github.com/meshproof/meshproof/internal/policyset"
	"github.com/meshproof/meshproof/internal/verdict"
)

// A set that is a whole cluster is valid: its policies are copied into other namespaces, and its workloads are renamed.
func TestListedSetsAreValid(t *testing.T) {
	t.Parallel()
	for _, form := range []policyset.Form{policyset.GatewayAPI, policyset.Istio, policyset.Cilium, policyset.Linkerd, policyset.KumaOption1, policyset.KumaFrom} {
		for seed := range uint64(setsOf(40, 8)) {
			for _, number := range []uint64{4, 18, 32} { // the numbers of listed sets
				if _, err := verdict.Read(policyset.DrawFresh(seed, number, form)); err != nil {
					t.Errorf("%s, seed %d, set %d: %v", form, seed, number, err)
				}
			}
		}
	}
}
