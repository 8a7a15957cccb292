package sidecar

import (
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
)

// What package xds puts into its listeners besides the filters of an inbound.
const (
	observerName      = "meshproof.effective_policy"
	canaryName        = "canary"
	canaryDestination = "240.0.0.1"
)

// isObserver reports whether a network filter is the filter of the lab that tells the
// effective policy. It is skipped only because it refuses no request.
func isObserver(name string, rbac *networkrbacv3.RBAC) bool {
	return name == observerName && rbac.Rules == nil && rbac.Matcher == nil
}

// isCanary reports whether a filter chain is the chain in which the lab reads the version.
// No workload can have its destination.
func isCanary(chain *listenerv3.FilterChain) bool {
	ranges := chain.GetFilterChainMatch().GetPrefixRanges()
	return chain.GetName() == canaryName && len(ranges) == 1 &&
		ranges[0].GetAddressPrefix() == canaryDestination && ranges[0].GetPrefixLen().GetValue() == 32
}
