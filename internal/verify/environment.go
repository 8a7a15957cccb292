package verify

import (
	"fmt"
	"maps"
	"slices"

	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/sidecar"
)

// fieldsOfConfig are the fields of the config of the proxy (ProxyConfig in mesh/v1alpha1/proxy.proto of istio/api). Those that are about
// the redirection are read on their own, and what the others do to Envoy is in its dump.
var fieldsOfConfig = []string{
	"availabilityZone", "binaryPath", "caCertificatesPem", "concurrency", "configPath", "connectionSettings", "controlPlaneAuthPolicy", "customConfigFile",
	"discoveryAddress", "discoveryRefreshDelay", "drainDuration", "envoyAccessLogService", "envoyMetricsService", "envoyMetricsServiceAddress", "extraStatTags",
	"fileFlushInterval", "fileFlushMinSizeKb", "gatewayTopology", "holdApplicationUntilProxyStarts", "image", "interceptionMode", "meshId", "privateKeyProvider",
	"proxyAdminPort", "proxyBootstrapTemplatePath", "proxyHeaders", "proxyMetadata", "proxyStatsMatcher", "readinessProbe", "runtimeValues", "serviceCluster",
	"statNameLength", "statsCompression", "statsdUdpAddress", "statusPort", "terminationDrainDuration", "tracing", "tracingServiceName", "zipkinAddress",
}

// harmlessVariables are those of proxyMetadata that leave the connections to a pod as they are. The injector gives all of proxyMetadata to the proxy,
// and also to istio-init, whose flags have variables of their own: one that is not known here may redirect nothing, or be about
// an option of later. Istio's CNI reads those of the proxy.
var harmlessVariables = []string{
	"BOOTSTRAP_XDS_AGENT", "DNS_FORWARD_PARALLEL", "DNS_FORWARD_TIMEOUT", dualStack, "ECC_CURVE", "ECC_SIGNATURE_ALGORITHM", "ENABLE_PROBE_KEEPALIVE_CONNECTIONS",
	"EXIT_ON_ZERO_ACTIVE_CONNECTIONS", "GOMAXPROCS", "GOMEMLIMIT", "ISTIO_DELTA_XDS", "ISTIO_ENABLE_HTTP2_PROBING", "ISTIO_META_CERT_SIGNER", "ISTIO_META_CLUSTER_ID",
	"ISTIO_META_DNS_AUTO_ALLOCATE", "ISTIO_META_DNS_CAPTURE", "ISTIO_META_ENABLE_HBONE", "ISTIO_META_HTTP10", "ISTIO_META_IDLE_TIMEOUT", metadataPrefix + interceptionMode, "ISTIO_META_MESH_ID",
	"ISTIO_META_NETWORK", "ISTIO_META_REQUESTED_NETWORK_VIEW", "METRICS_LOCALHOST_ACCESS_ONLY", "MINIMUM_DRAIN_DURATION", "OUTPUT_CERTS", "PROXY_CONFIG_XDS_AGENT",
	"PROXY_XDS_DEBUG_VIA_AGENT", "PROXY_XDS_VIA_AGENT", "SECRET_GRACE_PERIOD_RATIO", "SECRET_GRACE_PERIOD_RATIO_JITTER", "SECRET_TTL",
	"TERMINATION_DRAIN_DURATION_SECONDS", "WASM_INSECURE_REGISTRIES", "WORKLOAD_RSA_KEY_SIZE",
}

// dualStack is the variable by which istio-init redirects the connections of both families. Without it, it takes the family of the first
// address alone.
const dualStack = "ISTIO_DUAL_STACK"

// passedByConfig says what of a config of the proxy is not known to leave the redirection as it is.
func passedByConfig(name string, fields, metadata map[string]any) (out []string) {
	tell := func(format string, args ...any) {
		out = append(out, fmt.Sprintf("the node has the config of the proxy (%s) with %s, which is not known to leave the redirection as it is: some connections may not pass the sidecar", name, fmt.Sprintf(format, args...)))
	}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(fieldsOfConfig, field) {
			tell("the field %q", field)
		}
	}
	if image, has := fields["image"]; has {
		of, isObject := image.(map[string]any)
		kind, isText := of["imageType"].(string)
		if !isObject || len(of) > 1 || len(of) == 1 && (!isText || !slices.Contains(imageTypes, kind)) {
			tell("the image %v", image)
		}
	}
	if tracing := fields["tracing"]; !isPlainDeep(tracing) {
		tell("a text in tracing that ends before its end (%v)", tracing)
	}
	for _, variable := range slices.Sorted(maps.Keys(metadata)) {
		value, isText := metadata[variable].(string)
		if !slices.Contains(harmlessVariables, variable) || !isText || !isPlain(value) {
			tell("%s=%v in proxyMetadata", variable, metadata[variable])
		}
	}
	return out
}

// isPlainDeep reports whether each text in a tree is plain: the injector writes one of the settings for traces into YAML as it is.
func isPlainDeep(tree any) bool {
	switch tree := tree.(type) {
	case string:
		return isPlain(tree)
	case map[string]any:
		for _, value := range tree {
			if !isPlainDeep(value) {
				return false
			}
		}
	case []any:
		return !slices.ContainsFunc(tree, func(value any) bool { return !isPlainDeep(value) })
	}
	return true
}

// passedByFamily reports whether the pod has addresses of two families, and nothing says that Istio redirects the connections of both.
func passedByFamily(node dump.Node, metadata ...map[string]any) (out []string) {
	stated, _ := sidecar.StatedAddresses([]dump.Node{node})
	var four, six bool
	for _, ip := range stated {
		four, six = four || ip.Is4(), six || ip.Is6()
	}
	said := false
	for _, variables := range metadata {
		value, has := variables[dualStack]
		if has && value != "true" {
			said = false
			break
		}
		said = said || has
	}
	if four && six && !said {
		out = append(out, "the node states addresses of both families of its pod, and no "+dualStack+"=true in proxyMetadata: Istio redirects the connections of one of them to the sidecar then")
	}
	return out
}
