package verify

import (
	"slices"
	"strings"
)

// harmless are annotations of Istio that leave the connections to a pod as they are, with the values for which they do; none for every
// value. They are those of its API (annotations.yaml of istio/api) for a pod with a sidecar: its resources, logs and statistics, and what
// the control plane reads beside the sidecar. Those of the redirection are read on their own.
var harmless = map[string][]string{
	"galley.istio.io/analyze-suppress":                      nil,
	"install.operator.istio.io/chart-owner":                 nil,
	"install.operator.istio.io/owner-generation":            nil,
	"install.operator.istio.io/version":                     nil,
	"istio.io/rev":                                          nil,
	"istio.io/workload-name":                                nil,
	"istio.io/workload-controller":                          nil,
	"inject.istio.io/templates":                             {"sidecar"},
	"prometheus.istio.io/merge-metrics":                     nil,
	"proxy.istio.io/config":                                 nil,
	"sidecar.istio.io/agentLogLevel":                        nil,
	"sidecar.istio.io/bootstrapOverride":                    nil,
	"sidecar.istio.io/componentLogLevel":                    nil,
	"sidecar.istio.io/enableCoreDump":                       nil,
	"sidecar.istio.io/extraStatTags":                        nil,
	"sidecar.istio.io/inject":                               {"true"},
	"sidecar.istio.io/interceptionMode":                     nil,
	"sidecar.istio.io/logLevel":                             nil,
	"sidecar.istio.io/nativeSidecar":                        nil,
	"sidecar.istio.io/proxyCPU":                             nil,
	"sidecar.istio.io/proxyCPULimit":                        nil,
	"sidecar.istio.io/proxyImage":                           nil,
	"sidecar.istio.io/proxyImageType":                       nil,
	"sidecar.istio.io/proxyMemory":                          nil,
	"sidecar.istio.io/proxyMemoryLimit":                     nil,
	"sidecar.istio.io/rewriteAppHTTPProbers":                nil,
	"sidecar.istio.io/statsCompression":                     nil,
	"sidecar.istio.io/statsHistogramBuckets":                nil,
	"sidecar.istio.io/statsInclusionPrefixes":               nil,
	"sidecar.istio.io/statsInclusionRegexps":                nil,
	"sidecar.istio.io/statsInclusionSuffixes":               nil,
	"sidecar.istio.io/status":                               nil,
	"sidecar.istio.io/userVolume":                           nil,
	"sidecar.istio.io/userVolumeMount":                      nil,
	"status.sidecar.istio.io/port":                          nil,
	"topology.istio.io/network":                             nil,
	"readiness.status.sidecar.istio.io/periodSeconds":       nil,
	"readiness.status.sidecar.istio.io/applicationPorts":    nil,
	"readiness.status.sidecar.istio.io/failureThreshold":    nil,
	"readiness.status.sidecar.istio.io/initialDelaySeconds": nil,
}

// harmlessLabels are the labels of Istio that do, as harmless has annotations. CNI reads from a label, too, whether a pod has a sidecar.
var harmlessLabels = map[string][]string{
	"istio.io/dataplane-mode":             {"none"},
	"istio.io/ingress-use-waypoint":       nil,
	"istio.io/rev":                        nil,
	"istio.io/use-waypoint":               nil,
	"istio.io/use-waypoint-namespace":     nil,
	"operator.istio.io/component":         nil,
	"operator.istio.io/managed":           nil,
	"operator.istio.io/version":           nil,
	"security.istio.io/tlsMode":           nil,
	"service.istio.io/canonical-name":     nil,
	"service.istio.io/canonical-revision": nil,
	"service.istio.io/workload-name":      nil,
	"sidecar.istio.io/inject":             {"true"},
	"topology.istio.io/cluster":           nil,
	"topology.istio.io/network":           nil,
	"topology.istio.io/subzone":           nil,
}

// overrides has the containers of the pod that the injector leaves as they are, and applies again.
const overrides = "proxy.istio.io/overrides"

// isHarmless reports whether an annotation leaves the connections to a pod as they are.
func isHarmless(key, value string) bool {
	return isKnown(harmless, key, value) || key == overrides && overridesProxyAlone(value)
}

// isKnown reports whether an annotation or a label is none of Istio, or one of those that are known, with such a value.
func isKnown(known map[string][]string, key, value string) bool {
	domain, _, _ := strings.Cut(key, "/")
	if domain != "istio.io" && !strings.HasSuffix(domain, ".istio.io") {
		return true
	}
	values, has := known[key]
	return has && (values == nil || slices.Contains(values, value))
}

// overridesProxyAlone reports whether containers that are overridden are none but the proxy. Another one, istio-init, redirects. The
// injector takes each spelling of a field.
func overridesProxyAlone(value string) bool {
	lists, isObject := decoded(value).(map[string]any)
	if !isObject {
		return false
	}
	for list, containers := range lists {
		all, isList := containers.([]any)
		if list != "containers" && list != "initContainers" || !isList {
			return false
		}
		for _, container := range all {
			fields, _ := container.(map[string]any)
			for field := range fields {
				if field != "name" && strings.EqualFold(field, "name") {
					return false
				}
			}
			if fields["name"] != "istio-proxy" {
				return false
			}
		}
	}
	return true
}
