package manifestdiff

import (
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/podtemplate"
)

// harmlessSettings say what a sidecar costs, measures and logs, or how statistics name a workload.
var harmlessSettings = []string{
	"config.linkerd.io/proxy-cpu-", "config.linkerd.io/proxy-memory-", "config.linkerd.io/proxy-log-", "sidecar.istio.io/proxyCPU", "sidecar.istio.io/proxyMemory",
	"sidecar.istio.io/logLevel", "sidecar.istio.io/componentLogLevel", "service.istio.io/",
}

// injections say that a new workload has a sidecar. One that was there may get a name as a caller by it, or lose
// the sidecar of another revision.
var injections = map[string]string{
	"linkerd.io/inject": "enabled", "istio-injection": "enabled", "sidecar.istio.io/inject": "true", "kuma.io/sidecar-injection": "enabled",
}

// isOutsideWebhooks reports whether a label may take a Namespace out of what webhooks are asked about, so that new pods get no sidecar: AKS
// writes into each webhook that it leaves out such namespaces.
func isOutsideWebhooks(key string) bool {
	return key == "control-plane" || clusterobject.IsWithin(clusterobject.DomainOf(key), []string{"azure.com"})
}

// securityLevels are the levels of what a Namespace lets pods have, the narrow ones last.
var securityLevels = []any{nil, "privileged", "baseline", "restricted"}

// givesPodsPower reports whether a label of a Namespace lets its pods have more than before, such as the network of the node: those that
// an API server has refused come then. OpenShift asks nothing of pods of its run levels.
func givesPodsPower(key string, was, is any) bool {
	switch key {
	case "pod-security.kubernetes.io/enforce":
		return max(1, slices.Index(securityLevels, is)) < max(1, slices.Index(securityLevels, was))
	case "pod-security.kubernetes.io/enforce-version":
		return true // an older version of a level forbids less
	case "openshift.io/run-level":
		return is == "0" || is == "1"
	default:
		return false
	}
}

// scraped are the annotations by which Istio's agent gets metrics from a path and a port of the workload, in the
// spelling that Prometheus makes of a key. The agent gives them to anybody, so they open that path.
var scraped = fieldpath.SetOf("prometheus_io_scrape prometheus_io_port prometheus_io_path prometheus_istio_io_scrape_targets prometheus_istio_io_secure_port")

// networks are the annotations by which a pod gets a network beside the one that the mesh knows.
var networks = fieldpath.SetOf("k8s.v1.cni.cncf.io/networks v1.multus-cni.io/default-network")

// isAddress reports whether a text is an address or a block of addresses.
func isAddress(text string) bool {
	_, errBlock := netip.ParsePrefix(text)
	_, errOne := netip.ParseAddr(text)
	return errBlock == nil || errOne == nil
}

// isScraped reports whether a key is one of them: Istio reads other signs between the letters too.
func isScraped(key string) bool {
	return scraped[strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, key)]
}

// isSettings reports whether a field has labels or annotations.
func (w *walker) isSettings(path string) bool {
	head, field, _ := cutLast(path)
	switch field {
	case "labels":
		return w.isMetadata(head) || w.kind == "WorkloadEntry" && head == "spec"
	case "annotations":
		return w.isMetadata(head)
	default:
		return false
	}
}

// isMetadata reports whether a field is the metadata of the object, or of what it makes.
func (w *walker) isMetadata(path string) bool {
	place, _ := podtemplate.PlaceOf(w.kind)
	return path == "metadata" || w.category == clusterobject.Workload && (path == place+"metadata" || path == "spec.jobTemplate.metadata")
}

// walkSettings compares labels or annotations.
func (w *walker) walkSettings(path, place string, was, is map[string]any) {
	_, field, _ := cutLast(path)
	for _, key := range slices.Sorted(maps.Keys(union(was, is))) {
		if !reflect.DeepEqual(was[key], is[key]) && w.matters(field == "labels", key, was[key], is[key]) {
			w.find(fieldpath.Child(place, key), was[key], is[key])
		}
	}
}

// matters reports whether a label or an annotation that differs may matter. A label matters where something
// selects by it.
func (w *walker) matters(label bool, key string, was, is any) bool {
	switch {
	case label && !w.alone && w.named.Has(key), !w.alone && w.programs.askFor(key):
		return true
	case label && w.category == clusterobject.Namespace && (isOutsideWebhooks(key) || givesPodsPower(key, was, is)):
		return true
	case !label && isScraped(key) && !w.alone:
		return w.isIstio
	case clusterobject.IsOfMesh(key):
		on, ok := injections[key]
		return !fieldvalue.HasAnyPrefix(key, harmlessSettings) && !(ok && w.alone && is == on)
	case w.alone && label:
		return w.callsBy(key, is)
	case w.alone:
		return networks[key] || clusterobject.DomainOf(key) != "" && !clusterobject.IsIdleAnnotation(key) && (w.byAddress || !strings.Contains(key, "/"))
	case label:
		return isOfTool(key)
	default:
		return clusterobject.DomainOf(key) != "" && !clusterobject.IsIdleAnnotation(key)
	}
}
