package sidecar

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	httpauthzv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_authz/v3"
	jwtauthnv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	xffv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/http/original_ip_detection/xff/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/internal/normalization"
	"github.com/meshproof/meshproof/internal/virtualhost"
	"github.com/meshproof/meshproof/policy"
)

// http reads an HTTP connection manager and its filters.
func (c *chain) http(name string, m *hcmv3.HttpConnectionManager) {
	c.inbound.Protocol = policy.HTTP
	switch m.CodecType {
	case hcmv3.HttpConnectionManager_HTTP2:
		c.inbound.Protocol = policy.HTTP2
	case hcmv3.HttpConnectionManager_HTTP3:
		c.tellIdle(dump.BesideRBAC, name, "", "it speaks HTTP/3, which the lab does not")
	}
	c.inbound.StatPrefix = m.StatPrefix
	c.inbound.ForwardClientCert = m.ForwardClientCertDetails
	c.inbound.UseRemoteAddress = m.GetUseRemoteAddress().GetValue()
	switch hops := c.trustedHops(name, m); {
	case hops > mostHops:
		c.remote = fmt.Sprintf("the connection manager trusts %d entries of x-forwarded-for, and the lab plays up to %d", hops, mostHops)
	default:
		c.inbound.TrustedHops = hops
	}
	switch {
	case m.GetRepresentIpv4RemoteAddressAsIpv4MappedIpv6():
		c.remote = "the connection manager turns it into an address of IPv6 (represent_ipv4_remote_address_as_ipv4_mapped_ipv6)"
	}
	var redirected bool
	if c.inbound.Normalization, redirected = normalization.FromManager(m); redirected {
		c.tell(dump.Note, name, "", "path_with_escaped_slashes_action UNESCAPE_AND_REDIRECT: a path with escaped slashes is redirected, taken for forwarded")
	}
	c.rewritten = rewritesOf(m)
	c.settings(name, m)
	for i, f := range m.HttpFilters {
		held := c.configurationOf(f)
		if i < len(m.HttpFilters)-1 && held.message() == router {
			c.tellIdle(dump.BesideRBAC, f.Name, "", "a router in front of other filters: nothing reaches them")
		}
		c.httpFilter(m.StatPrefix, f, held)
	}
	c.routes(m)
}

// mostHops bounds the entries of x-forwarded-for that the lab plays.
const mostHops = 16

// trustedHops returns the number of entries of x-forwarded-for that a manager trusts, the last
// ones. Without use_remote_address Envoy skips the trusted hops, and takes the entry in front of
// them; then one extension may say the same (xff_num_trusted_hops of
// envoy.extensions.http.original_ip_detection.xff.v3.XffConfig).
func (c *chain) trustedHops(name string, m *hcmv3.HttpConnectionManager) int {
	if m.GetUseRemoteAddress().GetValue() {
		return int(m.XffNumTrustedHops)
	}
	hops := m.XffNumTrustedHops
	for _, extension := range m.OriginalIpDetectionExtensions {
		unpacked, _, _ := messages.Unpack(extension.GetTypedConfig())
		xff, ok := unpacked.(*xffv3.XffConfig)
		if !ok || len(m.OriginalIpDetectionExtensions) > 1 {
			c.tell(dump.BesideRBAC, name, "", "original_ip_detection_extensions: an extension finds the address of the caller, or refuses the request")
			continue
		}
		c.checkKnown(name, xff)
		hops = xff.XffNumTrustedHops
	}
	return int(hops) + 1
}

// settings tells what may change the requests that the filters see, or lead past them.
func (c *chain) settings(name string, m *hcmv3.HttpConnectionManager) {
	c.checkKnown(name, m)
	if absolute := m.GetHttpProtocolOptions().GetAllowAbsoluteUrl(); absolute != nil && !absolute.Value {
		c.tellIdle(dump.BesideRBAC, name, "", "allow_absolute_url is false: the filters see a whole URL for a path")
	}
	for _, u := range m.UpgradeConfigs {
		if len(u.Filters) > 0 {
			c.tell(dump.Lost, name, "", fmt.Sprintf("requests that upgrade to %q pass other filters", u.UpgradeType))
		}
		c.upgrade(name, u.UpgradeType)
	}
}

// upgrade tells about a protocol whose requests the filters do not see one by one. Behind
// an upgrade to WebSocket there are no more requests.
func (c *chain) upgrade(filter, to string) {
	if !strings.EqualFold(to, "websocket") {
		c.tellIdle(dump.BesideRBAC, filter, "", fmt.Sprintf("after an upgrade to %q, no filter sees the requests inside", to))
	}
}

// checkKnown tells about the fields of a message that meshproof does not know.
func (c *chain) checkKnown(filter string, m proto.Message) {
	checkKnown(m.ProtoReflect(), nil, func(at *messages.Path, reason string) {
		u := c.unknown(dump.BesideRBAC, filter, reason)
		u.Path = at.String()
		c.found.add(u)
	})
}

// httpFilter reads a filter of an HTTP connection manager, by what it is configured with.
func (c *chain) httpFilter(statPrefix string, f *hcmv3.HttpFilter, held configuration) {
	behindRBAC := c.behindRBAC
	c.behindRBAC = false
	if held.missing != "" {
		c.replaceable = append(c.replaceable, f.Name)
		c.lostFilter(f, held)
		return
	}
	c.tellFaults(f.Name, held.faults)
	m, _, err := messages.Unpack(held.packed)
	rbac, ok := m.(*httprbacv3.RBAC)
	if ok && isObserver(f.Name, rbac) {
		c.observers = append(c.observers, f.Name)
		return
	}
	if ok || held.message() == httpRBAC {
		c.replaceable = append(c.replaceable, f.Name)
	}
	switch {
	case c.readTokens(f, m), c.asksBehind(f, m, behindRBAC && len(held.faults) == 0):
	case !ok:
		c.noteOther(f.Name, messages.TypeURL(held.packed), m, err)
	case f.Disabled:
		c.disabled = true
		c.noteFilter(dump.Note, f.Name, held.typeURL, "an RBAC filter that is disabled: it judges only where a route enables it")
	default:
		c.addHTTP(f.Name, statPrefix, rbac)
	}
}

// routes reads the filters of routes that replace the filters of the inbound. One virtual
// host for all authorities, and routes with one answer each, can be replayed. Everything
// else is lost.
func (c *chain) routes(m *hcmv3.HttpConnectionManager) {
	configs := c.routeConfigs(m)
	for _, config := range configs {
		c.checkKnown("", config)
		c.rewritten = append(c.rewritten, removes(config), changes(config), changesHost(config))
		eachMessage(config, func(m proto.Message) {
			if written, ok := changesByFilter(m); ok {
				c.rewritten = append(c.rewritten, written)
			}
			if hidesKeys(m) {
				c.inbound.Rewrites = append(c.inbound.Rewrites, fmt.Sprintf("route configuration %q takes the keys of callers away", config.Name))
			}
			if changesLine(m) {
				c.inbound.Rewrites = append(c.inbound.Rewrites, fmt.Sprintf("route configuration %q may change the path or the method", config.Name))
			}
		})
		c.tellUnnamed(config, m)
		c.tellScripts(config)
		if overriding(config, c.tokens) {
			c.tell(dump.BesideRBAC, c.tokens[0], typeURL(&jwtauthnv3.PerRouteConfig{}), fmt.Sprintf("route configuration %q replaces the filter for tokens", config.Name))
		}
		if name := c.replacedRefusal(config); name != "" {
			c.tell(dump.BesideRBAC, name, "", fmt.Sprintf("route configuration %q replaces a filter that delays and ends requests", config.Name))
		}
		if overriding(config, c.askers) || len(c.askers) > 0 && overriding(config, c.replaceable) {
			c.tell(dump.Lost, c.askers[0], typeURL(&httpauthzv3.ExtAuthzPerRoute{}), fmt.Sprintf("route configuration %q replaces a filter that asks an authorizer, or what it asks about", config.Name))
		}
		for _, host := range config.VirtualHosts {
			for i, route := range host.Routes {
				c.checkRoute(nameOf(route, i), route)
			}
		}
		if overriding(config, c.observers) {
			c.tellIdle(dump.Lost, "", typeURL(&httprbacv3.RBACPerRoute{}), fmt.Sprintf("route configuration %q replaces a filter that only observes", config.Name))
		}
		if config.Vhds != nil {
			c.tellAbsent("route configuration %q: virtual hosts come by discovery (vhds), which is not read", config.Name)
		}
		if !overriding(config, c.replaceable) {
			continue
		}
		if why := c.severalChoices(config, len(configs)); why != "" {
			c.tellIdle(dump.Lost, "", typeURL(&httprbacv3.RBACPerRoute{}), fmt.Sprintf("route configuration %q replaces RBAC filters: %s", config.Name, why))
			continue
		}
		c.ownRoutes(config)
	}
}

// nameOf names a route of a virtual host.
func nameOf(route *routev3.Route, i int) string {
	return cmp.Or(route.Name, fmt.Sprintf("route %d", i))
}

// checkRoute tells what of a route no request shows: protocols inside of it, and requests that
// are not asked. It notes where the workload sees another path than the filters.
func (c *chain) checkRoute(name string, route *routev3.Route) {
	for _, u := range route.GetRoute().GetUpgradeConfigs() {
		c.upgrade("", u.UpgradeType)
	}
	if virtualhost.TakesAnyTarget(route.GetMatch()) {
		c.tellIdle(dump.BesideRBAC, "", "", fmt.Sprintf("route %q takes requests whose target does not begin with /, as in OPTIONS *, and none is asked", name))
	}
	if to := route.GetRoute(); to.GetPrefixRewrite() != "" || to.GetRegexRewrite() != nil || to.GetPathRewrite() != "" || to.GetPathRewritePolicy() != nil {
		c.inbound.Rewrites = append(c.inbound.Rewrites, fmt.Sprintf("route %q rewrites the path", name))
	}
}

// severalChoices says why the overrides of a route configuration cannot be replayed.
func (c *chain) severalChoices(config *routev3.RouteConfiguration, configs int) string {
	hosts := config.VirtualHosts
	switch {
	case configs > 1:
		return "it is one of several scopes"
	case len(slices.Compact(slices.Sorted(slices.Values(c.replaceable)))) < len(c.replaceable):
		return "two RBAC filters have one name"
	case c.disabled:
		return "the filter is disabled elsewhere"
	case len(c.inbound.Filters.HTTP) != len(c.replaceable):
		return "a filter that they replace could not be read"
	}
	for _, host := range hosts {
		if host.Matcher != nil {
			return "a matcher selects the route"
		}
		for _, route := range host.Routes {
			for _, cluster := range route.GetRoute().GetWeightedClusters().GetClusters() {
				if len(cluster.TypedPerFilterConfig) > 0 {
					return "a weighted cluster has filters of its own"
				}
			}
		}
	}
	return ""
}

// checkMatch tells which questions of a route no request class can answer.
func (c *chain) checkMatch(route string, m *routev3.RouteMatch) {
	if m.GetRuntimeFraction() != nil || m.GetTlsContext() != nil || m.GetConnectMatcher() != nil ||
		m.GetPathMatchPolicy() != nil || len(m.GetDynamicMetadata()) > 0 || len(m.GetFilterState()) > 0 {
		c.tellIdle(dump.Opaque, "", "", fmt.Sprintf("route %q asks for more than path, header and query", route))
	}
}

// routeConfigs returns the route configurations that the connection manager may use, and
// tells which of them are missing.
func (c *chain) routeConfigs(m *hcmv3.HttpConnectionManager) (out []*routev3.RouteConfiguration) {
	refs, scopes := c.routeRefs(m)
	if m.GetScopedRoutes().GetScopedRds() != nil {
		c.wanted.Scopes = true
		for _, d := range scopes {
			c.tellFaults("", d.Faults)
		}
		if len(refs) == 0 {
			c.tellAbsent("scoped route configurations %q are not there: routes may replace RBAC filters", m.GetScopedRoutes().Name)
		}
	}
	for _, ref := range refs {
		if ref.inline != nil {
			out = append(out, ref.inline)
		} else {
			out = append(out, c.named(ref.name)...)
		}
	}
	return out
}

// tellAbsent tells about routes that are not there. They may lead anywhere.
func (c *chain) tellAbsent(format, name string) {
	c.found.add(c.unknown(dump.Lost, "", fmt.Sprintf(format, name)))
}

func (c *chain) named(name string) []*routev3.RouteConfiguration {
	c.wanted.Routes[name] = true
	d, ok := c.Routes[name]
	if !ok {
		c.tellAbsent("route configuration %q is not there: routes may replace RBAC filters", name)
		return nil
	}
	c.tellFaults("", d.Faults)
	return []*routev3.RouteConfiguration{d.Message}
}
