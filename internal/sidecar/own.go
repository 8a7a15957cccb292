package sidecar

import (
	"strings"

	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
)

// What package xds puts into its listeners besides the filters of an inbound.
const (
	observerName      = "meshproof.effective_policy"
	canaryName        = "canary"
	canaryDestination = "240.0.0.1"
)

// isObserver reports whether a filter is one of the filters of the lab that tell the
// effective policy. It is skipped only because it refuses no request.
func isObserver(name string, rbac interface {
	GetRules() *rbacv3.RBAC
	GetMatcher() *matcherv3.Matcher
}) bool {
	return (name == observerName || strings.HasPrefix(name, observerName+".")) && rbac.GetRules() == nil && rbac.GetMatcher() == nil
}

// isCanary reports whether a filter chain is the chain in which the lab reads the version.
// No workload can have its destination.
func isCanary(chain *listenerv3.FilterChain) bool {
	ranges := chain.GetFilterChainMatch().GetPrefixRanges()
	return chain.GetName() == canaryName && len(ranges) == 1 &&
		ranges[0].GetAddressPrefix() == canaryDestination && ranges[0].GetPrefixLen().GetValue() == 32
}
