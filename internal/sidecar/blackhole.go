package sidecar

import (
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	luav3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/lua/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/meshproof/meshproof/internal/messages"
)

// isBlackHole reports whether a cluster has no endpoint, so that connections end there.
func (r *reader) isBlackHole(name string) bool {
	return r.unreadCluster(name) == "" && discovery(r.Clusters[name].Message) == clusterv3.Cluster_STATIC && len(r.assignmentOf(r.Clusters[name].Message).GetEndpoints()) == 0
}

// leadsNowhere reports whether connections come to their end, because no cluster of a chain has an endpoint. What the chain logs
// may go to another machine, and to nothing that the inbounds guard.
func (r *reader) leadsNowhere(l *listenerv3.Listener, leads leading, g guarded) bool {
	if leads.chosen || leads.absent || len(leads.names) == 0 || len(leads.calls.unread)+len(leads.unread) > 0 {
		return false
	}
	for name := range leads.names {
		if !r.isBlackHole(name) {
			return false
		}
	}
	asksGuarded := slices.ContainsFunc(r.workloadsOf(r.called(leads), false), func(workload string) bool { return g.workloads[workload] })
	return !asksGuarded && r.sendsToGuarded(l, leads, g) == ""
}

// areQuiet reports whether all chains of a listener are quiet, with scripts that are known to be.
func (r *reader) areQuiet(l *listenerv3.Listener, scripts bool) bool {
	return !slices.ContainsFunc(chainsOf(l), func(of *listenerv3.FilterChain) bool { return !r.isQuiet(of, scripts) })
}

// isQuiet reports whether the filters of a chain are known to send no requests of their own. The
// clusters of the chain do not tell where a script or code goes; scripts are quiet, too, where that is asked for and each name in them is known.
func (r *reader) isQuiet(of *listenerv3.FilterChain, scripts bool) bool {
	quiet := true
	check := func(f anyFilter) (message string) {
		held := r.configurationOf(f)
		message = held.message()
		quiet = quiet && held.missing == "" && len(held.faults) == 0 && (message == httpManager || messages.Authorizes(message) || passing[message] != nil || containedFilters[message])
		if message == router {
			checkPassing(held.packed.ProtoReflect(), nil, func(*messages.Path, string) { quiet = false })
		}
		return message
	}
	for _, f := range of.GetFilters() {
		if check(f) != httpManager {
			continue
		}
		m, _, _ := messages.Unpack(f.GetTypedConfig())
		manager, _ := m.(*hcmv3.HttpConnectionManager)
		quiet = quiet && manager != nil && !slices.ContainsFunc(manager.GetUpgradeConfigs(), func(u *hcmv3.HttpConnectionManager_UpgradeConfig) bool { return len(u.Filters) > 0 })
		for _, f := range manager.GetHttpFilters() {
			if !scripts || !r.isQuietScript(manager, f) {
				check(f)
			}
		}
	}
	return quiet
}

// isQuietScript reports whether a filter is a script that sends no requests of its own, and that no route replaces.
func (r *reader) isQuietScript(manager *hcmv3.HttpConnectionManager, f *hcmv3.HttpFilter) bool {
	held := r.configurationOf(f)
	m, _, _ := messages.Unpack(held.packed)
	script, ok := m.(*luav3.Lua)
	if !ok || held.missing != "" || len(held.faults) > 0 || unprovenLua(script) != "" {
		return false
	}
	checkKnown(script.ProtoReflect(), nil, func(*messages.Path, string) { ok = false })
	refs, _ := r.routeRefs(manager)
	for _, ref := range refs {
		config := ref.inline
		if config == nil {
			config = r.Routes[ref.name].Message
		}
		ok = ok && config != nil && config.Vhds == nil && !overriding(config, []string{f.Name})
		for _, host := range config.GetVirtualHosts() {
			ok = ok && host.Matcher == nil
		}
	}
	return ok && len(refs) > 0
}
