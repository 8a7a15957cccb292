package examination

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/meshproof/meshproof/internal/authorizer"
	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// listenerApart says in what a compiler's listener takes other callers, or other paths, than the
// policies demand. A case that states the mode or the normalization by itself asks no compiler.
func listenerApart(in verdict.Inbound, filters xds.Filters) (apart []string) {
	if want := cmp.Or(in.Program.MTLS, in.Program.DefaultMTLS); filters.MTLS != mtls.Unset && want != mtls.Unset && filters.MTLS != want {
		apart = append(apart, fmt.Sprintf("the compiler says that mtls of the inbound is %s, and the policies say %s", filters.MTLS, want))
	}
	if want, ok := in.MeshNormalization(); ok && filters.Normalization != nil && *filters.Normalization != want {
		apart = append(apart, fmt.Sprintf("the compiler normalizes paths otherwise than the mesh does: %+v, want %+v", *filters.Normalization, want))
	}
	return apart
}

// asksApart says in what a compiler's filters ask an authorizer otherwise than the policies do. What
// they ask about is up to the classes.
func asksApart(in verdict.Inbound, filters xds.Filters) (apart []string) {
	own := in.Authorizers()
	for _, asks := range []map[int]authorizer.Authorizer{filters.NetworkAsks, filters.HTTPAsks} {
		for _, i := range slices.Sorted(maps.Keys(asks)) {
			given := asks[i]
			want, known := own[given.Provider]
			if in.Protocol.Layer() == policy.L4 {
				want.StatusOnError = 0 // a connection has no status
			}
			switch {
			case !known:
				apart = append(apart, fmt.Sprintf("the filters ask the authorizer %q, and the policies do not", given.Provider))
			case given != want:
				apart = append(apart, fmt.Sprintf("the filters ask the authorizer %q otherwise than the mesh does: %+v, want %+v", given.Provider, given, want))
			}
		}
	}
	return apart
}
