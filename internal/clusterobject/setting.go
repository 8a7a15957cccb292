package clusterobject

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// meshDomains end the domains of the labels and annotations that meshes read.
var meshDomains = []string{"cilium.io", "io.cilium", "istio.io", "konghq.com", "kuma.io", "linkerd.io", "spiffe.io"}

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

// DomainOf is the domain in front of a key. A runtime of containers reads keys without a slash, such as
// io.kubernetes.cri-o.Devices: all of such a key counts as a domain.
func DomainOf(key string) string {
	domain, _, found := strings.Cut(key, "/")
	if !found && strings.Count(key, ".") < 2 {
		return ""
	}
	return domain
}

// IsOfMesh reports whether a mesh reads a label or an annotation.
func IsOfMesh(key string) bool {
	return key == "istio-injection" || strings.HasPrefix(key, "io.cilium.") || IsWithin(DomainOf(key), meshDomains)
}

// IsWithin reports whether a domain is one of these, or below one of them.
func IsWithin(domain string, all []string) bool {
	return slices.ContainsFunc(all, func(of string) bool { return domain == of || strings.HasSuffix(domain, "."+of) })
}

// IsIdleAnnotation reports whether an annotation with a domain tells neither a mesh nor a tool whether and how something is applied.
func IsIdleAnnotation(key string) bool { return fieldvalue.HasAnyPrefix(key, harmlessAnnotations) }
