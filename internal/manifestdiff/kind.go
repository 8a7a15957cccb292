package manifestdiff

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/podtemplate"
)

// category is how an object is compared.
type category uint8

const (
	// unknown objects count as a whole: each of their fields may matter.
	unknown category = iota
	// harmless objects cannot matter.
	harmless
	// Of the other ones, the fields that cannot matter are known.
	workload
	service
	namespace
	account
	// config is what a program reads. It matters where something names it.
	config
	dataplane
)

// harmlessKinds are the kinds, by their API groups, that say nothing to a mesh. Whatever they say, the
// policies judge each request as before.
var harmlessKinds = map[string]string{
	// An endpoint says where a client sends its requests, and an event or a lease what happened.
	"":                          "Endpoints Event LimitRange PersistentVolume PersistentVolumeClaim ResourceQuota",
	"autoscaling":               "HorizontalPodAutoscaler",
	"autoscaling.k8s.io":        "VerticalPodAutoscaler",
	"keda.sh":                   "ScaledObject TriggerAuthentication ClusterTriggerAuthentication",
	"policy":                    "PodDisruptionBudget",
	"scheduling.k8s.io":         "PriorityClass",
	"storage.k8s.io":            "StorageClass",
	"snapshot.storage.k8s.io":   "VolumeSnapshot VolumeSnapshotClass VolumeSnapshotContent",
	"coordination.k8s.io":       "Lease",
	"events.k8s.io":             "Event",
	"discovery.k8s.io":          "EndpointSlice",
	"monitoring.coreos.com":     "AlertmanagerConfig PodMonitor Probe PrometheusRule ScrapeConfig ServiceMonitor",
	"monitoring.googleapis.com": "ClusterPodMonitoring PodMonitoring Rules",
	"grafana.integreatly.org":   "GrafanaAlertRuleGroup GrafanaDashboard GrafanaDatasource GrafanaFolder",
	"rbac.authorization.k8s.io": "ClusterRole ClusterRoleBinding Role RoleBinding", // but for what right.go names; the control plane's own are not here
	"networking.k8s.io":         "Ingress IngressClass",                            // its requests come from the controller of the Ingress, whom the policies judge
	"cilium.io":                 "CiliumEndpoint CiliumIdentity CiliumNode",        // the agents write them, and isExported asks whether
	"policy.linkerd.io":         "EgressNetwork HTTPLocalRateLimitPolicy",          // they limit, or concern what a workload sends
	"networking.istio.io":       "DestinationRule VirtualService",                  // they say where a client sends its requests
	"telemetry.istio.io":        "Telemetry",
	"kuma.io":                   harmlessOfKuma,
}

// harmlessOfKuma limit, measure, log, or say where a client sends its requests. An insight is a status. A
// MeshMetric is none of them: it opens a port.
const harmlessOfKuma = `MeshAccessLog MeshCircuitBreaker MeshExternalService MeshFaultInjection MeshHealthCheck MeshLoadBalancingStrategy
	MeshMultiZoneService MeshRateLimit MeshRetry MeshService MeshTimeout MeshTrace
	DataplaneInsight MeshInsight ServiceInsight ZoneInsight ZoneIngressInsight ZoneEgressInsight`

// knownKinds are the kinds of which some fields are known not to matter.
var knownKinds = map[category]map[string]string{
	workload: {
		"":                    "Pod PodTemplate ReplicationController",
		"apps":                "DaemonSet Deployment ReplicaSet StatefulSet",
		"batch":               "CronJob Job",
		"argoproj.io":         "Rollout",
		"networking.istio.io": "WorkloadEntry WorkloadGroup",
	},
	service:   {"": "Service"},
	namespace: {"": "Namespace"},
	account:   {"": "ServiceAccount"},
	config:    {"": "ConfigMap Secret", "bitnami.com": "SealedSecret", "external-secrets.io": "ExternalSecret", "cert-manager.io": "Certificate ClusterIssuer Issuer"},
}

// podPlaces say where kinds of workloads have their pods.
var podPlaces = podtemplate.Places()

func isAmong(kinds map[string]string, o object) bool {
	of := kinds[o.group]
	if o.universal {
		of = kinds["kuma.io"]
	}
	return slices.Contains(strings.Fields(of), o.kind)
}

// categoryOf says how an object is compared. Whatever belongs to a control plane counts as a whole.
func categoryOf(o object) category {
	switch {
	case o.isNone():
		return unknown
	case o.changesRequests(), o.rewrites(), o.callsItself(), o.isOfNode(), o.hasWaypoint(), o.statesTLS(), o.boundsPolicies():
		return unknown
	case o.scales() && (o.isOfControlPlane() || o.isOfSystem()):
		return unknown // a control plane that does not run tells nobody of a new policy
	case isAmong(harmlessKinds, o) && (!o.isOfControlPlane() || o.group != "rbac.authorization.k8s.io"):
		return harmless
	case o.isOfGateway():
		return harmless
	case o.kind == "ServiceEntry" && o.group == "networking.istio.io" && !o.hasEndpoints():
		return harmless
	case o.isIdentity(), fieldvalue.Lookup(o.fields, "spec", "target", "manifest") != nil, o.fillsMore(): // an ExternalSecret may make objects of any kind
		return unknown
	case o.isOfControlPlane() && !isAmong(knownKinds[namespace], o):
		return unknown
	}
	for of, kinds := range knownKinds {
		if isAmong(kinds, o) {
			return of
		}
	}
	return unknown
}

// scales reports whether an object says how many pods there are, or how much they may have.
func (o object) scales() bool {
	return isAmong(harmlessKinds, o) && scaling[o.kind]
}

var scaling = fields("HorizontalPodAutoscaler LimitRange PodDisruptionBudget ResourceQuota ScaledObject VerticalPodAutoscaler")

// hasEndpoints reports whether a ServiceEntry says what stands behind it: the ports of such a workload
// have the protocols of the entry. So it is where the entry takes the name of a service of the cluster.
func (o object) hasEndpoints() bool {
	spec, _ := fieldvalue.Lookup(o.fields, "spec").(map[string]any)
	return spec["workloadSelector"] != nil || spec["endpoints"] != nil || slices.ContainsFunc(fieldvalue.Texts(spec["hosts"]), isOfCluster)
}

// isIdentity reports whether an object is a Secret of Kuma, which has its keys and authorities in such Secrets, or
// the token of an account, by which a program calls as that account; or whether it makes one.
func (o object) isIdentity() bool {
	if _, has := o.givenLabels()["istio/multiCluster"]; has && isAmong(knownKinds[config], o) { // it names another cluster
		return true
	}
	for _, field := range [][]string{{"type"}, {"spec", "target", "template", "type"}, {"spec", "template", "type"}} {
		of, _ := fieldvalue.Lookup(o.fields, field...).(string)
		if isAmong(knownKinds[config], o) && (strings.HasPrefix(of, "system.kuma.io/") || of == "kubernetes.io/service-account-token") {
			return true
		}
	}
	return false
}

// secrets returns the names of the Secret that an object is, or makes.
func (o object) secrets() []string {
	target, _ := fieldvalue.Lookup(o.fields, "spec", "target", "name").(string)
	sealed, _ := fieldvalue.Lookup(o.fields, "spec", "template", "metadata", "name").(string)
	return []string{o.name, target, sealed}
}

// isAuthority reports whether a Secret has the authority of an issuer that a mesh may use.
func (c *comparison) isAuthority(o object) bool {
	return slices.ContainsFunc(slices.Concat(c.oldObjects.all, c.recentObjects.all), func(issuer object) bool {
		name, _ := fieldvalue.Lookup(issuer.fields, "spec", "ca", "secretName").(string)
		return issuer.group == "cert-manager.io" && name != "" && slices.Contains(o.secrets(), name) && (issuer.category != config || c.isUsed(issuer))
	})
}

// isHarmless reports whether nothing about an object matters, in the light of all documents of its side.
func (c *comparison) isHarmless(all []object, own, other workloads) bool {
	for _, o := range all {
		switch o.category {
		case harmless:
			if c.sendsToken(o) || c.makesUsed(o) || o.isOfGateway() && c.attached || o.isEndpoints() && !c.isSelected(o) || o.kind == "PersistentVolumeClaim" && c.disks.asksFor(o.fields) {
				return false
			}
		case config:
			if o.isOfSystem() || o.isForTool() || c.isAuthority(o) || slices.ContainsFunc(o.secrets(), c.namesSecret) || c.setsVariable(o) || c.isParameter(o) || o.carriesManifest() || o.group == "cert-manager.io" && c.isUsed(o) {
				return false
			}
		case unknown:
			// kubectl applies no document without a kind. Kustomize takes it for a patch, and Helm and Argo CD for values. What stands in
			// JSON alone, such as a dashboard, is of no tool here.
			if o.isOfRepository() && !c.namesFile(o) {
				continue
			}
			if o.kind != "" || o.isOfKustomize() || c.customized || c.tooled || filepath.Ext(o.file()) != ".json" {
				return false
			}
		case workload:
			if !c.isOwned(o, own, other) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// isForTool reports whether a label says that a tool reads an object, such as the address of a cluster to which Argo CD applies.
func (o object) isForTool() bool {
	for key := range o.givenLabels() {
		if isOfTool(key) {
			return true
		}
	}
	return false
}

// secretTemplates say where an object has the Secret that it makes: one of External Secrets, and one of Sealed Secrets.
var secretTemplates = [][]string{nil, {"spec", "target", "template"}, {"spec", "template"}}

// givenLabels returns the labels of an object, and those of the Secret that it makes.
func (o object) givenLabels() map[string]any {
	out := map[string]any{}
	for _, at := range secretTemplates {
		if at == nil || isAmong(knownKinds[config], o) {
			labels, _ := fieldvalue.Lookup(o.fields, slices.Concat(at, []string{"metadata", "labels"})...).(map[string]any)
			maps.Copy(out, labels)
		}
	}
	return out
}

// fillsMore reports whether an ExternalSecret fills more of what it makes than its data from a template, or the name of a label: a tool may read that by it.
func (o object) fillsMore() bool {
	template := fieldvalue.Lookup(o.fields, "spec", "target", "template")
	from, _ := fieldvalue.Lookup(template, "templateFrom").([]any)
	labels, _ := fieldvalue.Lookup(template, "metadata", "labels").(map[string]any)
	return slices.ContainsFunc(from, func(one any) bool {
		target, literal := fieldvalue.Lookup(one, "target"), fmt.Sprint(fieldvalue.Lookup(one, "literal"))
		return target != nil && target != "Data" || isManifest(literal)
	}) || slices.ContainsFunc(slices.Collect(maps.Keys(labels)), func(key string) bool { return strings.Contains(key, "{{") })
}

// sendsToken reports whether an object names a Secret with the token of an account: what reads it, such as Prometheus, sends the
// token to a target that the object chooses.
func (c *comparison) sendsToken(o object) bool {
	return fieldvalue.Any(o.fields, func(value any) bool {
		name, _ := value.(string)
		return name != "" && c.tokens[o.namespace+"/"+name]
	})
}

// isEndpoints reports whether an object says what addresses stand behind a Service.
func (o object) isEndpoints() bool { return o.kind == "Endpoints" || o.kind == "EndpointSlice" }

// isSelected reports whether the Service of endpoints has a selector, so that a control plane writes them.
// Those that an author writes may name a workload, which then has the ports of the Service.
func (c *comparison) isSelected(endpoints object) bool {
	name := endpoints.name
	if endpoints.kind == "EndpointSlice" {
		name, _ = fieldvalue.Lookup(endpoints.fields, "metadata", "labels", "kubernetes.io/service-name").(string)
		if by := fieldvalue.Lookup(endpoints.fields, "metadata", "labels", "endpointslice.kubernetes.io/managed-by"); by != "endpointslice-controller.k8s.io" {
			return false
		}
	}
	for _, o := range slices.Concat(c.oldObjects.all, c.recentObjects.all) {
		if o.category == service && o.namespace == endpoints.namespace && o.name == name && fieldvalue.Lookup(o.fields, "spec", "selector") != nil {
			return true
		}
	}
	return false
}
