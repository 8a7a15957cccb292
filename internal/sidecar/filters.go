package sidecar

// passingFilters neither decide nor change what an RBAC filter sees.
var passingFilters = map[string]bool{
	tcpProxy: true,
	router:   true,
	"envoy.extensions.filters.network.direct_response.v3.Config":              true,
	"envoy.extensions.filters.http.grpc_stats.v3.FilterConfig":                true,
	"envoy.extensions.filters.http.alternate_protocols_cache.v3.FilterConfig": true,
	"envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector":         true,
	"envoy.extensions.filters.listener.http_inspector.v3.HttpInspector":       true,
	"envoy.extensions.filters.listener.original_dst.v3.OriginalDst":           true,
}

// decidingFilters may answer by themselves, or change what an RBAC filter sees. The text
// says how.
var decidingFilters = map[string]string{
	"envoy.extensions.filters.http.admission_control.v3.AdmissionControl":          "refuses requests above a limit",
	"envoy.extensions.filters.http.adaptive_concurrency.v3.AdaptiveConcurrency":    "refuses requests above a limit",
	"envoy.extensions.filters.http.api_key_auth.v3.ApiKeyAuth":                     "refuses requests without a key",
	"envoy.extensions.filters.http.basic_auth.v3.BasicAuth":                        "refuses requests without a password",
	"envoy.extensions.filters.http.cors.v3.Cors":                                   "answers preflight requests",
	"envoy.extensions.filters.http.csrf.v3.CsrfPolicy":                             "refuses requests of another origin",
	"envoy.extensions.filters.http.ext_authz.v3.ExtAuthz":                          "asks another service for its verdict",
	"envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor":                  "lets another service answer or change the request",
	"envoy.extensions.filters.http.fault.v3.HTTPFault":                             "aborts or delays requests",
	"envoy.extensions.filters.http.grpc_json_transcoder.v3.GrpcJsonTranscoder":     "changes method and path",
	"envoy.extensions.filters.http.header_mutation.v3.HeaderMutation":              "changes headers",
	"envoy.extensions.filters.http.health_check.v3.HealthCheck":                    "answers health checks",
	"envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication":                 "refuses requests without a sound token",
	"envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit":              "refuses requests above a limit",
	"envoy.extensions.filters.http.lua.v3.Lua":                                     "runs a script, which may answer or change the request",
	"envoy.extensions.filters.http.oauth2.v3.OAuth2":                               "sends callers away to log in",
	"envoy.extensions.filters.http.ratelimit.v3.RateLimit":                         "refuses requests above a limit",
	"envoy.extensions.filters.http.rate_limit_quota.v3.RateLimitQuotaFilterConfig": "refuses requests above a limit",
	"envoy.extensions.filters.http.set_filter_state.v3.Config":                     "writes filter state",
	"envoy.extensions.filters.http.wasm.v3.Wasm":                                   "runs code of its own, which may answer or change the request",
	"envoy.extensions.filters.network.connection_limit.v3.ConnectionLimit":         "closes connections above a limit",
	"envoy.extensions.filters.network.ext_authz.v3.ExtAuthz":                       "asks another service for its verdict",
	"envoy.extensions.filters.network.local_ratelimit.v3.LocalRateLimit":           "closes connections above a limit",
	"envoy.extensions.filters.network.ratelimit.v3.RateLimit":                      "closes connections above a limit",
	"envoy.extensions.filters.network.set_filter_state.v3.Config":                  "writes filter state",
	"envoy.extensions.filters.network.wasm.v3.Wasm":                                "runs code of its own, which may close connections",
	"envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol":            "lets callers say source and destination in a PROXY header",
	"envoy.extensions.filters.listener.local_ratelimit.v3.LocalRateLimit":          "closes connections above a limit",
}

// wrappingFilters run other filters under conditions of their own, RBAC filters too.
var wrappingFilters = map[string]bool{
	"envoy.extensions.common.matching.v3.ExtensionWithMatcher":        true,
	"envoy.extensions.filters.http.composite.v3.Composite":            true,
	"envoy.extensions.filters.http.filter_chain.v3.FilterChainConfig": true,
}

// roleOf returns what a filter that is no RBAC filter means for the RBAC filters.
func roleOf(message string) (kind Kind, reason string, tell bool) {
	switch how, ok := decidingFilters[message]; {
	case passingFilters[message]:
		return 0, "", false
	case wrappingFilters[message]:
		return Lost, "it runs other filters under conditions of its own", true
	case ok:
		return Beside, "it " + how, true
	default:
		return Beside, "meshproof does not know what this filter does", true
	}
}
