package verify

import (
	"slices"
	"strings"
	"unicode"
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
	"sidecar.istio.io/proxyImageType":                       imageTypes,
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
	"networking.istio.io/tunnel":          {"http"}, // Others may open tunnels to the pod, which end in its sidecar.
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

// imageTypes are the images of Istio's proxy. Another one may redirect nothing: istio-init runs it too.
var imageTypes = []string{"", "debug", "default", "distroless"}

// objects are the annotations whose values are more than a text without quotation marks, with what they have to be.
var objects = map[string]func(value string) bool{
	configOfPod:                              func(string) bool { return true }, // It is read on its own.
	"sidecar.istio.io/statsHistogramBuckets": func(string) bool { return true },
	"sidecar.istio.io/status":                func(string) bool { return true },
	"sidecar.istio.io/userVolume":            namesPlainly,
	"sidecar.istio.io/userVolumeMount":       namesPlainly,
	overrides:                                overridesProxyAlone,
	// Those that are not of Istio, and that its injector writes into the pod too.
	"apm.datadoghq.com/env":       setsDatadogAlone,
	"k8s.v1.cni.cncf.io/networks": func(value string) bool { return !strings.Contains(value, "'") },
}

// isHarmless reports whether an annotation leaves the connections to a pod as they are.
func isHarmless(key, value string) bool {
	if holds, ok := objects[key]; ok {
		return holds(value)
	}
	return isKnown(harmless, key, value) && (!isOfIstio(key) || isPlain(value))
}

// isOfIstio reports whether an annotation or a label is one of Istio.
func isOfIstio(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	return domain == "istio.io" || strings.HasSuffix(domain, ".istio.io")
}

// isKnown reports whether an annotation or a label is none of Istio, or one of those that are known, with such a value.
func isKnown(known map[string][]string, key, value string) bool {
	if !isOfIstio(key) {
		return true
	}
	values, has := known[key]
	return has && (values == nil || slices.Contains(values, value))
}

// isPlain reports whether a value stays what it is where Istio's injector writes it into YAML between quotation marks, or without any: a
// quotation mark or a line break in it may end the value, and begin another argument of istio-init.
func isPlain(value string) bool {
	return !strings.ContainsFunc(value, func(r rune) bool { return r == '"' || r == '\\' || !unicode.IsPrint(r) })
}

// namesPlainly reports whether a value is an object whose names stay what they are in YAML. The injector encodes what they name.
func namesPlainly(value string) bool {
	fields, isObject := decoded(value).(map[string]any)
	for name := range fields {
		isObject = isObject && isPlain(name)
	}
	return isObject
}

// setsDatadogAlone reports whether a value is an object with variables for the tracer of Datadog alone.
func setsDatadogAlone(value string) bool {
	variables, isObject := decoded(value).(map[string]any)
	for name, of := range variables {
		text, isText := of.(string)
		isObject = isObject && strings.HasPrefix(name, "DD_") && isPlain(name) && isText && isPlain(text)
	}
	return isObject
}

// ofContainer are the fields of a container that give it no other program, no other rights and no other variables.
var ofContainer = []string{"name", "image", "imagePullPolicy", "livenessProbe", "ports", "readinessProbe", "resources", "startupProbe", "terminationMessagePath", "terminationMessagePolicy"}

// overridesProxyAlone reports whether containers that are overridden are none but the proxy, which stays the same program. Another one,
// istio-init, redirects, and with more rights the proxy may do so too. The injector takes each spelling of a field.
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
				if !slices.Contains(ofContainer, field) {
					return false
				}
			}
			image, has := fields["image"]
			if fields["name"] != "istio-proxy" || has && image != "auto" {
				return false
			}
		}
	}
	return true
}
