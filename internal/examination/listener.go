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
	mode := cmp.Or(in.Program.MTLS, in.Program.DefaultMTLS)
	if mode == mtls.Unset && in.MTLS == mtls.Unset {
		mode = mtls.Strict
	}
	if filters.MTLS != mtls.Unset && mode != mtls.Unset && filters.MTLS != mode {
		apart = append(apart, fmt.Sprintf("the compiler says that mtls of the inbound is %s, want %s", filters.MTLS, mode))
	}
	if filters.MTLS == mtls.Unset && in.Program.MTLS == mtls.Strict {
		apart = append(apart, "the policies say that mtls of the inbound is strict, and the compiler says nothing of it")
	}
	paths, ok := in.MeshNormalization()
	ok = ok || in.Surface().Normalization == policy.PathNormalization{} // the case states none
	if ok && filters.Normalization != nil && *filters.Normalization != paths {
		apart = append(apart, fmt.Sprintf("the compiler normalizes paths otherwise than the mesh does: %+v, want %+v", *filters.Normalization, paths))
	}
	return apart
}

// AsksApart says in what filters ask an authorizer otherwise than the policies do. What
// they ask about is up to the classes, and how the authorizer is reached, is up to the caller.
func AsksApart(in verdict.Inbound, filters xds.Filters) (apart []string) {
	own := in.Authorizers()
	for _, asks := range []map[int]authorizer.Authorizer{filters.NetworkAsks, filters.HTTPAsks} {
		for _, i := range slices.Sorted(maps.Keys(asks)) {
			given := asks[i]
			want, known := own[given.Provider]
			want.Cluster, want.Authority, want.Timeout = given.Cluster, given.Authority, given.Timeout
			if in.Protocol.Layer() == policy.L4 {
				want.StatusOnError, given.StatusOnError = 0, 0 // a connection has no status
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

// ReachedApart says in what filters reach an authorizer otherwise than the mesh config says: another server may answer, or
// a request may pass for which the answer comes too late.
func ReachedApart(in verdict.Inbound, filters xds.Filters) (apart []string) {
	own := in.Authorizers()
	for _, asks := range []map[int]authorizer.Authorizer{filters.NetworkAsks, filters.HTTPAsks} {
		for _, i := range slices.Sorted(maps.Keys(asks)) {
			given := asks[i]
			want, ok := own[given.Provider]
			switch {
			case !ok:
			case want.Cluster != given.Cluster:
				apart = append(apart, fmt.Sprintf("asks the authorizer %q behind the cluster %q, and in the mesh config it is behind %q", want.Provider, given.Cluster, want.Cluster))
			case given.Authority != "" && given.Authority != want.Authority:
				apart = append(apart, fmt.Sprintf("asks the authorizer %q for the host %q, and in the mesh config it is %q", want.Provider, given.Authority, want.Authority))
			case want.FailOpen && want.Timeout != given.Timeout:
				apart = append(apart, fmt.Sprintf("lets a request pass that the authorizer %q gives no answer about within %s, and the mesh config says %s", want.Provider, given.Timeout, want.Timeout))
			}
		}
	}
	return apart
}
