package manifestdiff

import (
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldpath"
)

// meshDomains end the domains of the labels and annotations that meshes read.
var meshDomains = []string{"cilium.io", "io.cilium", "istio.io", "konghq.com", "kuma.io", "linkerd.io", "spiffe.io"}

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

// harmlessAnnotations begin the annotations with a domain that tell neither a mesh nor a tool whether and
// how something is applied. An annotation without a domain is read by nobody else.
var harmlessAnnotations = []string{
	"kubectl.kubernetes.io/", "kubernetes.io/change-cause", "kubernetes.io/description", "deployment.kubernetes.io/", "autoscaling.alpha.kubernetes.io/",
	"app.kubernetes.io/", "batch.kubernetes.io/", "pv.kubernetes.io/", "cluster-autoscaler.kubernetes.io/", "control-plane.alpha.kubernetes.io/",
	"descheduler.alpha.kubernetes.io/", "external-dns.alpha.kubernetes.io/", "config.kubernetes.io/origin", "config.kubernetes.io/index", "config.kubernetes.io/path",
	"internal.config.kubernetes.io/", "meta.helm.sh/", "checksum/", "argocd.argoproj.io/tracking-id", "argocd.argoproj.io/sync-wave",
	"argocd.argoproj.io/refresh", "karpenter.sh/", "reloader.stakater.com/", "ad.datadoghq.com/", "tags.datadoghq.com/",
	"co.elastic.logs/", "cni.projectcalico.org/podIP", "cni.projectcalico.org/containerID", "k8s.v1.cni.cncf.io/network-status", "kubernetes.io/limit-ranger", "fluentbit.io/", "backstage.io/", "a8r.io/", "link.argocd.argoproj.io/", "eks.amazonaws.com/", "iam.gke.io/", "azure.workload.identity/",
}

// domainOf is the domain in front of a key. A runtime of containers reads keys without a slash, such as
// io.kubernetes.cri-o.Devices: all of such a key counts as a domain.
func domainOf(key string) string {
	domain, _, found := strings.Cut(key, "/")
	if !found && strings.Count(key, ".") < 2 {
		return ""
	}
	return domain
}

// isOfMesh reports whether a mesh reads a label or an annotation.
func isOfMesh(key string) bool {
	return key == "istio-injection" || strings.HasPrefix(key, "io.cilium.") || isWithin(domainOf(key), meshDomains)
}

// isOutsideWebhooks reports whether a label may take a Namespace out of what webhooks are asked about, so that new pods get no sidecar: AKS
// writes into each webhook that it leaves out such namespaces.
func isOutsideWebhooks(key string) bool {
	return key == "control-plane" || isWithin(domainOf(key), []string{"azure.com"})
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
var scraped = fields("prometheus_io_scrape prometheus_io_port prometheus_io_path prometheus_istio_io_scrape_targets prometheus_istio_io_secure_port")

// networks are the annotations by which a pod gets a network beside the one that the mesh knows.
var networks = fields("k8s.v1.cni.cncf.io/networks v1.multus-cni.io/default-network")

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

// isWithin reports whether a domain is one of these, or below one of them.
func isWithin(domain string, all []string) bool {
	return slices.ContainsFunc(all, func(of string) bool { return domain == of || strings.HasSuffix(domain, "."+of) })
}

func begins(text string, all []string) bool {
	return slices.ContainsFunc(all, func(begin string) bool { return strings.HasPrefix(text, begin) })
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
	if w.category == workload && path != "" && (path == podPlaces[w.kind]+"metadata" || path == "spec.jobTemplate.metadata") {
		return true
	}
	return path == "metadata"
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
	case label && !w.alone && w.named.has(key), !w.alone && w.programs.askFor(key):
		return true
	case label && w.category == namespace && (isOutsideWebhooks(key) || givesPodsPower(key, was, is)):
		return true
	case !label && isScraped(key) && !w.alone:
		return w.isIstio
	case isOfMesh(key):
		on, ok := injections[key]
		return !begins(key, harmlessSettings) && !(ok && w.alone && is == on)
	case w.alone && label:
		return w.callsBy(key, is)
	case w.alone:
		return networks[key] || domainOf(key) != "" && !begins(key, harmlessAnnotations) && (w.byAddress || !strings.Contains(key, "/"))
	case label:
		return isOfTool(key)
	default:
		return domainOf(key) != "" && !begins(key, harmlessAnnotations)
	}
}
