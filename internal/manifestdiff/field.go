package manifestdiff

import (
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldpath"
)

// harmlessFields are the fields of a kind of object that cannot matter, each with what stands below it. A
// list has "[]" behind it. Fields of pods are those of podFields.
var harmlessFields = map[clusterobject.Category]map[string]bool{
	clusterobject.Workload: fieldpath.SetOf(`apiVersion status spec.replicas spec.strategy spec.updateStrategy spec.minReadySeconds spec.revisionHistoryLimit
		spec.progressDeadlineSeconds spec.paused spec.podManagementPolicy spec.volumeClaimTemplates spec.persistentVolumeClaimRetentionPolicy
		spec.ordinals spec.serviceName spec.selector
		spec.parallelism spec.completions spec.completionMode spec.backoffLimit spec.backoffLimitPerIndex spec.maxFailedIndexes
		spec.activeDeadlineSeconds spec.ttlSecondsAfterFinished spec.suspend spec.podFailurePolicy spec.podReplacementPolicy spec.successPolicy
		spec.manualSelector spec.schedule spec.timeZone spec.startingDeadlineSeconds spec.concurrencyPolicy spec.successfulJobsHistoryLimit
		spec.failedJobsHistoryLimit spec.jobTemplate.spec.parallelism spec.jobTemplate.spec.completions spec.jobTemplate.spec.completionMode
		spec.jobTemplate.spec.backoffLimit spec.jobTemplate.spec.activeDeadlineSeconds spec.jobTemplate.spec.ttlSecondsAfterFinished
		spec.jobTemplate.spec.podFailurePolicy spec.jobTemplate.spec.suspend
		spec.weight spec.locality`),
	// What a Service says of its own addresses and of the choice among its pods concerns its clients. The
	// fields that say who reaches it, and from which address, are not here.
	clusterobject.Service: fieldpath.SetOf(`apiVersion status spec.clusterIPs spec.ipFamilies spec.ipFamilyPolicy spec.sessionAffinity spec.sessionAffinityConfig
		spec.publishNotReadyAddresses spec.internalTrafficPolicy spec.trafficDistribution spec.allocateLoadBalancerNodePorts
		spec.healthCheckNodePort spec.loadBalancerIP spec.ports[].nodePort`),
	clusterobject.Namespace: fieldpath.SetOf(`apiVersion status spec.finalizers`),
	clusterobject.Account:   fieldpath.SetOf(`apiVersion secrets imagePullSecrets`),
	clusterobject.Dataplane: readOfDataplanes,
	clusterobject.Unknown:   fieldpath.SetOf(`status`),
}

// podFields are the fields of a pod that cannot matter. A container does what its image does, and no
// policy speaks of that. A probe is among the others where the kubelet calls the workload: Istio, Kuma
// and Linkerd let anybody make such a request.
var podFields = fieldpath.SetOf(`spec.nodeSelector spec.affinity spec.tolerations spec.topologySpreadConstraints spec.schedulerName spec.priorityClassName
	spec.priority spec.preemptionPolicy spec.nodeName spec.terminationGracePeriodSeconds spec.activeDeadlineSeconds spec.imagePullSecrets
	spec.restartPolicy spec.enableServiceLinks spec.hostname spec.subdomain spec.setHostnameAsFQDN spec.readinessGates spec.overhead spec.os
	spec.schedulingGates spec.resources spec.dnsPolicy spec.dnsConfig.options
	spec.containers[].name spec.containers[].image spec.containers[].imagePullPolicy spec.containers[].command spec.containers[].args
	spec.containers[].env spec.containers[].envFrom spec.containers[].resources spec.containers[].resizePolicy spec.containers[].workingDir
	spec.containers[].volumeMounts spec.containers[].volumeDevices spec.containers[].terminationMessagePath
	spec.containers[].terminationMessagePolicy spec.containers[].stdin spec.containers[].stdinOnce spec.containers[].tty
	spec.containers[].lifecycle.postStart.exec spec.containers[].lifecycle.preStop.exec spec.containers[].lifecycle.preStop.sleep
	spec.containers[].lifecycle.postStart.sleep
	spec.initContainers[].image spec.initContainers[].imagePullPolicy spec.initContainers[].env spec.initContainers[].envFrom
	spec.initContainers[].resources spec.initContainers[].workingDir spec.initContainers[].volumeMounts
	spec.initContainers[].terminationMessagePath spec.initContainers[].terminationMessagePolicy
	spec.volumes[].name spec.volumes[].configMap spec.volumes[].secret spec.volumes[].emptyDir spec.volumes[].persistentVolumeClaim
	spec.volumes[].downwardAPI spec.volumes[].projected spec.volumes[].ephemeral spec.volumes[].nfs
	spec.securityContext.fsGroup spec.securityContext.fsGroupChangePolicy spec.securityContext.supplementalGroups` + probes(`exec initialDelaySeconds periodSeconds
	timeoutSeconds successThreshold failureThreshold terminationGracePeriodSeconds`))

func probes(of string) string {
	var b strings.Builder
	for _, probe := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		for _, field := range strings.Fields(of) {
			b.WriteString(" spec.containers[]." + probe + "." + field)
		}
	}
	return b.String()
}

// harmlessValues are values that only take away from what a workload may do.
var harmlessValues = map[string][]any{
	"spec.securityContext.runAsNonRoot":                              {true},
	"spec.securityContext.seccompProfile.type":                       {"RuntimeDefault"},
	"spec.securityContext.appArmorProfile.type":                      {"RuntimeDefault"},
	"spec.containers[].securityContext.runAsNonRoot":                 {true},
	"spec.containers[].securityContext.allowPrivilegeEscalation":     {false},
	"spec.containers[].securityContext.readOnlyRootFilesystem":       {true},
	"spec.containers[].securityContext.seccompProfile.type":          {"RuntimeDefault"},
	"spec.containers[].securityContext.appArmorProfile.type":         {"RuntimeDefault"},
	"spec.initContainers[].securityContext.runAsNonRoot":             {true},
	"spec.initContainers[].securityContext.allowPrivilegeEscalation": {false},
	"spec.initContainers[].securityContext.readOnlyRootFilesystem":   {true},
	"spec.initContainers[].securityContext.seccompProfile.type":      {"RuntimeDefault"},
}

// defaults are what an API server takes for a field that is not there.
var defaults = map[string]any{
	"spec.hostNetwork": false, "spec.hostPID": false, "spec.hostIPC": false, "spec.shareProcessNamespace": false, "spec.hostUsers": true,
	// A pod that says nothing of its token takes what its account says.
	"spec.serviceAccountName": "default", "automountServiceAccountToken": true,
	"spec.containers[].securityContext.privileged": false, "spec.containers[].ports[].protocol": "TCP",
	"spec.containers[].securityContext.readOnlyRootFilesystem": false, "spec.volumes[].hostPath.type": "",
	"spec.containers[].livenessProbe.httpGet.scheme": "HTTP", "spec.containers[].readinessProbe.httpGet.scheme": "HTTP", "spec.containers[].startupProbe.httpGet.scheme": "HTTP",
	"spec.type": "ClusterIP", "spec.ports[].protocol": "TCP", "spec.externalTrafficPolicy": "Cluster",
}

// itemKeys are the lists whose order does not matter, with the fields that tell an item.
var itemKeys = map[string][]string{
	"spec.containers": {"name"}, "spec.volumes": {"name"}, "spec.containers[].ports": {"containerPort", "protocol"},
	"spec.ports":         {"port", "protocol"},
	"networking.inbound": {"name", "port"},
}

// itemSets are the lists whose order does not matter, and whose items have no names.
var itemSets = map[string]bool{
	"spec.containers[].securityContext.capabilities.add": true, "spec.containers[].securityContext.capabilities.drop": true,
	"spec.initContainers[].securityContext.capabilities.add": true, "spec.initContainers[].securityContext.capabilities.drop": true,
	"spec.loadBalancerSourceRanges": true, "spec.externalIPs": true,
	"spec.ingress": true, "spec.ingress[].from": true, "spec.ingress[].ports": true, "spec.egress": true, "spec.policyTypes": true,
}
