package clusterobject

import (
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// Category is what an object may mean to a mesh. The zero value is the closed world: everything may matter.
type Category uint8

// The categories. Of a workload, a service, a namespace, an account and a Dataplane the fields that cannot matter are known.
const (
	// Unknown objects count as a whole: each of their fields may matter.
	Unknown Category = iota
	// Harmless objects cannot matter.
	Harmless
	// Workload objects make pods, or tell of a machine.
	Workload
	// Service objects stand in front of pods.
	Service
	// Namespace objects have the settings of all in a namespace.
	Namespace
	// Account objects are accounts of pods.
	Account
	// Config objects are what a program reads. They matter where something names them.
	Config
	// Dataplane objects are those of Kuma. A caller sets this category: it knows which it reads.
	Dataplane
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
	"rbac.authorization.k8s.io": "ClusterRole ClusterRoleBinding Role RoleBinding", // but for the rights that count; the control plane's own are not here
	"networking.k8s.io":         "Ingress IngressClass",                            // its requests come from the controller of the Ingress, whom the policies judge
	"cilium.io":                 "CiliumEndpoint CiliumIdentity CiliumNode",        // the agents write them; an author may, too
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
var knownKinds = map[Category]map[string]string{
	Workload: {
		"":                    "Pod PodTemplate ReplicationController",
		"apps":                "DaemonSet Deployment ReplicaSet StatefulSet",
		"batch":               "CronJob Job",
		"argoproj.io":         "Rollout",
		"networking.istio.io": "WorkloadEntry WorkloadGroup",
	},
	Service:   {"": "Service"},
	Namespace: {"": "Namespace"},
	Account:   {"": "ServiceAccount"},
	Config:    {"": "ConfigMap Secret", "bitnami.com": "SealedSecret", "external-secrets.io": "ExternalSecret", "cert-manager.io": "Certificate ClusterIssuer Issuer"},
}

// HasKindOf reports whether the kind of an object is one of a category, whatever the object says.
func (o Object) HasKindOf(of Category) bool { return isAmong(knownKinds[of], o) }

// IsKnownKind reports whether a kind, of whatever group, says nothing to a mesh, or the fields of it that cannot matter are known.
func IsKnownKind(kind string) bool {
	isOne := func(kinds map[string]string) bool {
		return slices.ContainsFunc(slices.Collect(maps.Values(kinds)), func(names string) bool { return slices.Contains(strings.Fields(names), kind) })
	}
	return isOne(harmlessKinds) || slices.ContainsFunc(slices.Collect(maps.Values(knownKinds)), isOne)
}

func isAmong(kinds map[string]string, o Object) bool {
	of := kinds[o.Group]
	if o.Universal {
		of = kinds["kuma.io"]
	}
	return slices.Contains(strings.Fields(of), o.Kind)
}

// categoryOf says how an object is compared. Whatever belongs to a control plane counts as a whole.
func categoryOf(o Object) Category {
	switch {
	case o.IsNone():
		return Unknown
	case o.changesRequests(), o.rewrites(), o.callsItself(), o.IsOfNode(), o.hasWaypoint(), o.statesTLS(), o.boundsPolicies():
		return Unknown
	case o.scales() && (o.IsOfControlPlane() || o.IsOfSystem()):
		return Unknown // a control plane that does not run tells nobody of a new policy
	case isAmong(harmlessKinds, o) && (!o.IsOfControlPlane() || o.Group != "rbac.authorization.k8s.io"):
		return Harmless
	case o.IsOfGateway():
		return Harmless
	case o.Kind == "ServiceEntry" && o.Group == "networking.istio.io" && !o.hasEndpoints():
		return Harmless
	case o.IsIdentity(), fieldvalue.Lookup(o.Fields, "spec", "target", "manifest") != nil, o.fillsMore(): // an ExternalSecret may make objects of any kind
		return Unknown
	case o.IsOfControlPlane() && !o.HasKindOf(Namespace):
		return Unknown
	}
	for of, kinds := range knownKinds {
		if isAmong(kinds, o) {
			return of
		}
	}
	return Unknown
}

// scales reports whether an object says how many pods there are, or how much they may have.
func (o Object) scales() bool {
	return isAmong(harmlessKinds, o) && scaling[o.Kind]
}

var scaling = fieldpath.SetOf("HorizontalPodAutoscaler LimitRange PodDisruptionBudget ResourceQuota ScaledObject VerticalPodAutoscaler")

// hasEndpoints reports whether a ServiceEntry says what stands behind it: the ports of such a workload
// have the protocols of the entry. So it is where the entry takes the name of a service of the cluster.
func (o Object) hasEndpoints() bool {
	spec := fieldvalue.Mapping(fieldvalue.Lookup(o.Fields, "spec"))
	return spec["workloadSelector"] != nil || spec["endpoints"] != nil || slices.ContainsFunc(fieldvalue.Texts(spec["hosts"]), isOfCluster)
}

// IsEndpoints reports whether an object says what addresses stand behind a Service.
func (o Object) IsEndpoints() bool { return o.Kind == "Endpoints" || o.Kind == "EndpointSlice" }

// IsOfRights reports whether an object says who may change and read objects, and is not of a control plane.
func (o Object) IsOfRights() bool {
	return o.Group == "rbac.authorization.k8s.io" && o.Category == Harmless
}
