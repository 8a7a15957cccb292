package manifestdiff_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/manifestdiff"
)

// A pod that another workload made has what its template has. Where it says otherwise, it is compared as any
// other workload, whichever side has it.
func TestOwnedPods(t *testing.T) {
	t.Parallel()
	const pod = `
apiVersion: v1
kind: Pod
metadata:
  name: web-1
  namespace: shop
  labels: {app: web, track: stable, pod-template-hash: a}
  annotations: {checksum/config: abc}
  ownerReferences: [{kind: Deployment, name: web, controller: true}]
spec:
  serviceAccountName: web
  nodeName: 'n'
  containers:
    - name: web
      ports: [{name: http, containerPort: 8080, protocol: TCP}]
      readinessProbe: {httpGet: {path: /ready, port: 8080, scheme: HTTP}, periodSeconds: 5}
      volumeMounts: [{name: data, mountPath: /data}, {name: kube-api-access-x7k2q, mountPath: /var/run/secrets/kubernetes.io/serviceaccount}]
      securityContext: {runAsNonRoot: true}
    - {name: log}
  initContainers: [{name: migrate, image: shop/web:1}]
  volumes: [{name: data, emptyDir: {}}, {name: kube-api-access-x7k2q, projected: {sources: [{serviceAccountToken: {path: token}}, {configMap: {name: kube-root-ca.crt}}, {downwardAPI: {}}]}}]
`
	sidecar := strings.NewReplacer("abc}", "abc, sidecar.istio.io/status: a}", "    - {name: log}\n", "    - {name: log}\n    - {name: istio-proxy, image: a, volumeMounts: [{name: kube-api-access-x7k2q, mountPath: /var/run/secrets/kubernetes.io/serviceaccount}]}\n").Replace(pod)
	second := strings.NewReplacer("name: web-1", "name: web-2", "x7k2q", "9zzzz", "pod-template-hash: a", "pod-template-hash: b").Replace
	spec := func(more string) string { return strings.Replace(pod, "  nodeName: 'n'\n", "  "+more+"\n", 1) }
	job := func(name, kind, owner, more string) string {
		return "apiVersion: batch/v1\nkind: " + kind + "\nmetadata: {name: " + name + ", namespace: shop" + owner + "}\nspec: " + more
	}
	const owner = ", labels: {job-name: a}, ownerReferences: [{kind: CronJob, name: clean, controller: true}]"
	const cron = "{jobTemplate: {spec: {template: {metadata: {labels: {app: clean}}, spec: {containers: [{name: c}]}}}}}"
	const set = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: web-set, namespace: shop, ownerReferences: [{kind: Deployment, name: web, controller: true}]}
spec: {template: {metadata: {labels: {app: web}}, spec: {serviceAccountName: web}}}
`
	for name, tt := range map[string]struct{ was, is, want string }{
		"a pod more":                          {"", pod, ""},
		"a pod less":                          {pod, "", ""},
		"another name of its set":             {pod, strings.Replace(pod, "pod-template-hash: a", "pod-template-hash: b", 1), ""},
		"another label of a pod":              {pod, strings.Replace(pod, "app: web", "app: other", 1), "labels.app"},
		"a label less":                        {pod, strings.Replace(pod, "app: web, ", "", 1), "labels.app"},
		"a new pod without a sidecar":         {"", strings.Replace(pod, "abc}", "abc, sidecar.istio.io/inject: 'false'}", 1), "says otherwise"},
		"a pod that was alone before":         {strings.Replace(pod, "name: web, controller", "name: none, controller", 1), pod, ""},
		"another mesh":                        {"", strings.Replace(pod, "abc}", "abc, kuma.io/mesh: other}", 1), "says otherwise"},
		"another revision, without a sidecar": {"", strings.Replace(pod, "app: web", "app: web, istio.io/rev: nope", 1), "says otherwise"},
		"no ambient mode":                     {"", strings.Replace(pod, "app: web", "app: web, istio.io/dataplane-mode: none", 1), "says otherwise"},
		"a pod that goes":                     {pod, strings.Replace(pod, "name: web-1", "name: web-1\n  deletionTimestamp: '2026-01-01T00:00:00Z'", 1), ""},
		"a pod with a sidecar more":           {"", sidecar, "spec.containers[2] (Pod shop/web-1) says otherwise than the workload that made it"},
		"one more of pods with a sidecar":     {sidecar, together(sidecar, second(sidecar)), ""},
		"other pods with a sidecar":           {sidecar, second(sidecar), ""},
		"another image of a sidecar":          {sidecar, strings.Replace(sidecar, "image: a", "image: b", 1), "containers[2]"},
		"another image of a new sidecar":      {sidecar, second(strings.Replace(sidecar, "image: a", "image: b", 1)), "containers[2]"},
		"another pod without its sidecar":     {sidecar, second(strings.Replace(sidecar, "    - {name: istio-proxy", "    - {name: istio", 1)), "says otherwise"},
		"pods whose owner is in no file":      {strings.Replace(sidecar, "kind: Deployment, name: web,", "kind: ReplicaSet, name: web-a,", 1), second(strings.Replace(sidecar, "kind: Deployment, name: web,", "kind: ReplicaSet, name: web-b,", 1)), ""},
		"a folder of the node":                {"", strings.Replace(pod, "emptyDir: {}", "hostPath: {path: /}", 1), "volumes[0].hostPath"},
		"a volume of the sidecar":             {"", strings.Replace(pod, "volumes: [", "volumes: [{name: workload-certs, emptyDir: {}}, ", 1), "volumes[0]"},
		"a Secret in place of the token":      {"", strings.Replace(sidecar, "{serviceAccountToken: {path: token}}", "{secret: {name: a}}", 1), "says otherwise"},
		"an init container of its own":        {"", strings.Replace(pod, "initContainers: [", "initContainers: [{name: istio-init, image: nginx}, ", 1), "initContainers"},
		"another probe":                       {"", strings.Replace(pod, "/ready", "/admin", 1), "readinessProbe.httpGet.path"},
		"a container for debugging":           {"", spec("ephemeralContainers: [{name: a}]"), "ephemeralContainers"},
		"a pod without a token":               {"", spec("automountServiceAccountToken: false"), "says otherwise than the workload that made it"},
		"a user of the pod":                   {pod, spec("securityContext: {runAsUser: 1337}"), "runAsUser"},
		"a workload that makes no sets":       {"", strings.Replace(set, "spec: {template", "spec: {futureField: 1, template", 1), ""},
		"a set that calls as another one":     {"", strings.Replace(set, "serviceAccountName: web", "serviceAccountName: fe", 1), "serviceAccountName"},
		"another probe of such a set":         {strings.Replace(set, "serviceAccountName: web}", "containers: [{name: a, readinessProbe: {httpGet: {path: /a}}}]}", 1), strings.Replace(set, "serviceAccountName: web}", "containers: [{name: a, readinessProbe: {httpGet: {path: /b}}}]}", 1), "readinessProbe"},
		"a job that its schedule made":        {job("clean", "CronJob", "", cron), together(job("clean", "CronJob", "", cron), job("clean-1", "Job", owner, "{template: {metadata: {labels: {app: clean, job-name: clean-1}}, spec: {containers: [{name: c}]}}}")), ""},
		"a job with another account":          {job("clean", "CronJob", "", cron), together(job("clean", "CronJob", "", cron), job("clean-1", "Job", owner, "{template: {metadata: {labels: {app: clean}}, spec: {serviceAccountName: x, containers: [{name: c}]}}}")), "spec.template.spec.serviceAccountName"},
		"a port of the node":                  {strings.Replace(set, "serviceAccountName: web}", "serviceAccountName: web, containers: [{name: web, ports: [{containerPort: 8080}]}]}", 1), strings.Replace(set, "serviceAccountName: web}", "serviceAccountName: web, containers: [{name: web, ports: [{containerPort: 8080, hostPort: 80}]}]}", 1), "ports"},
		"a set in the network of the host":    {set, strings.Replace(set, "{serviceAccountName", "{hostNetwork: true, serviceAccountName", 1), "hostNetwork"},
		"another label of a set":              {set, strings.Replace(set, "labels: {app: web}", "labels: {app: other}", 1), "labels.app"},
		"a set without a sidecar":             {set, strings.Replace(set, "labels: {app: web}", "labels: {app: web, sidecar.istio.io/inject: 'false'}", 1), "sidecar.istio.io/inject"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := textOf(manifestdiff.Changes(sideOf(t, together(policy, deployment, tt.was)), sideOf(t, together(policy, deployment, tt.is))))
			if !strings.Contains(got, tt.want) || (tt.want == "") != (got == "") {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// Where policies change, what leaves one of them out is named although it is as before.
func TestDeliveries(t *testing.T) {
	t.Parallel()
	of := func(version, kind, spec string) string {
		return "apiVersion: " + version + "\nkind: " + kind + "\nmetadata: {name: 'n', namespace: shop}\nspec: " + spec + "\n"
	}
	kyverno := func(rules string) string {
		return "apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: 'n'}\nspec: {rules: " + rules + "}\n"
	}
	const application, flux, source = "argoproj.io/v1alpha1", "kustomize.toolkit.fluxcd.io/v1", "source.toolkit.fluxcd.io/v1"
	for name, tt := range map[string]struct{ manifests, want string }{
		"an application":                                 {of(application, "Application", "{project: a, source: {repoURL: a, path: b, directory: {recurse: true}}, syncPolicy: {automated: {prune: true}}}"), ""},
		"an application that leaves files out":           {of(application, "Application", "{project: a, source: {repoURL: a, path: b, directory: {exclude: 'deny-*'}}}"), "spec.source.directory.exclude may leave policies out"},
		"one of several sources":                         {of(application, "Application", "{sources: [{repoURL: a}, {repoURL: b, kustomize: {patches: [{patch: a}]}}]}"), "spec.sources[].kustomize"},
		"Flux":                                           {of(flux, "Kustomization", "{interval: 1m, path: ./a, prune: true, sourceRef: {kind: GitRepository, name: a}}"), ""},
		"a patch of Flux":                                {of(flux, "Kustomization", "{path: ./a, patches: [{patch: a}]}"), "spec.patches"},
		"Flux does nothing":                              {of(flux, "Kustomization", "{path: ./a, suspend: true}"), "spec.suspend"},
		"labels of Flux":                                 {of(flux, "Kustomization", "{path: ./a, commonMetadata: {labels: {app.kubernetes.io/name: web, team: a}}}"), ""},
		"annotations of Flux":                            {of(flux, "Kustomization", "{path: ./a, commonMetadata: {annotations: {owner: a}}}"), ""},
		"labels of Flux that a mesh reads":               {of(flux, "Kustomization", "{path: ./a, commonMetadata: {labels: {istio.io/rev: canary}}}"), "spec.commonMetadata.labels.istio.io/rev"},
		"labels of Flux that Kuma reads":                 {of(flux, "Kustomization", "{path: ./a, commonMetadata: {labels: {kuma.io/mesh: other}}}"), "spec.commonMetadata.labels.kuma.io/mesh"},
		"labels of Flux that a tool reads":               {of(flux, "Kustomization", "{path: ./a, commonMetadata: {annotations: {kustomize.toolkit.fluxcd.io/reconcile: disabled}}}"), "spec.commonMetadata.annotations"},
		"labels of Flux for a mutation":                  {of(flux, "Kustomization", "{path: ./a, commonMetadata: {labels: {team: a}}}") + "---\n" + kyverno("[{name: a, match: {any: [{resources: {kinds: [Pod], selector: {matchLabels: {team: a}}}}]}, validate: {}}]"), "spec.commonMetadata.labels.team"},
		"labels of Flux that are none":                   {of(flux, "Kustomization", "{path: ./a, commonMetadata: {labels: {team: 1}}}"), "spec.commonMetadata.labels.team"},
		"values of Flux":                                 {of(flux, "Kustomization", "{path: ./a, postBuild: {substituteFrom: [{kind: ConfigMap, name: a}]}}"), ""},
		"values of Flux, and a policy that they change":  {of(flux, "Kustomization", "{path: ./a, postBuild: {substitute: {a: b}}}") + "---\n" + of("security.istio.io/v1", "AuthorizationPolicy", "{rules: [{to: [{operation: {paths: [/$$count]}}]}]}"), "spec.postBuild"},
		"values of Flux, and a backslash before another": {of(flux, "Kustomization", "{path: ./a, postBuild: {substitute: {a: b}}}") + "---\n" + of("security.istio.io/v1", "AuthorizationPolicy", "{rules: [{to: [{operation: {paths: ['/a\\\\b']}}]}]}"), "spec.postBuild"},
		"a rule of Kyverno that changes what delivers":   {kyverno("[{name: a, match: {any: [{resources: {kinds: [kustomize.toolkit.fluxcd.io/v1/Kustomization]}}]}, mutate: {patchStrategicMerge: {spec: {suspend: true}}}}]"), "ClusterPolicy n) may leave"},
		"a rule of Kyverno that makes what delivers":     {kyverno("[{name: a, match: {any: [{resources: {kinds: [Namespace]}}]}, generate: {kind: Kustomization, data: {spec: {suspend: true}}}}]"), "ClusterPolicy n) may leave"},
		"a rule of Kyverno that looks at what delivers":  {kyverno("[{name: a, match: {any: [{resources: {kinds: [Kustomization, HelmRelease]}}]}, validate: {message: a}}]"), ""},
		"Kyverno deletes what delivers":                  {"apiVersion: kyverno.io/v2\nkind: ClusterCleanupPolicy\nmetadata: {name: 'n'}\nspec: {match: {any: [{resources: {kinds: [Application]}}]}}\n", "may leave"},
		"a source":                                       {of(source, "GitRepository", "{url: a, ref: {branch: main}}"), ""},
		"a source that leaves files out":                 {of(source, "GitRepository", "{url: a, ignore: 'deny-*'}"), "spec.ignore"},
		"rules of kapp":                                  {"apiVersion: kapp.k14s.io/v1alpha1\nkind: Config\nmetadata: {name: 'n'}\nrebaseRules: []\n", "Config default/n) may leave"},
		"a mutation of Kyverno":                          {"apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: 'n'}\nspec: {rules: []}\n", "ClusterPolicy n) may leave"},
		"rules of Kyverno about others":                  {kyverno("[{name: a, match: {any: [{resources: {kinds: [Pod, apps/v1/Deployment]}}]}, validate: {message: '*'}, mutate: {foreach: [{list: a}]}}, {name: b, match: {resources: {kinds: [Namespace]}}, generate: {kind: NetworkPolicy, data: {}}}]"), ""},
		"a rule of Kyverno about policies":               {kyverno("[{name: a, match: {any: [{resources: {kinds: [Pod]}}, {resources: {kinds: [security.istio.io/v1/AuthorizationPolicy]}}]}, validate: {}}]"), "ClusterPolicy n) may leave"},
		"a rule of Kyverno about everything":             {kyverno("[{name: a, match: {any: [{resources: {kinds: ['*']}}]}, validate: {}}]"), "ClusterPolicy n) may leave"},
		"a rule of Kyverno without kinds":                {kyverno("[{name: a, match: {any: [{resources: {namespaces: [shop]}}]}, validate: {}}]"), "ClusterPolicy n) may leave"},
		"a rule of Kyverno with targets":                 {kyverno("[{name: a, match: {any: [{resources: {kinds: [Pod]}}]}, mutate: {targets: [{kind: AuthorizationPolicy}]}}]"), "ClusterPolicy n) may leave"},
		"a rule of Kyverno that makes policies":          {kyverno("[{name: a, match: {any: [{resources: {kinds: [Namespace]}}]}, generate: {kind: AuthorizationPolicy}}]"), "ClusterPolicy n) may leave"},
		"a rule of Kyverno that copies":                  {kyverno("[{name: a, match: {any: [{resources: {kinds: [Namespace]}}]}, generate: {cloneList: {kinds: [v1/Secret]}}}]"), "ClusterPolicy n) may leave"},
		"Kyverno deletes others":                         {"apiVersion: kyverno.io/v2\nkind: ClusterCleanupPolicy\nmetadata: {name: 'n'}\nspec: {match: {any: [{resources: {kinds: [Job]}}]}}\n", ""},
		"Kyverno deletes policies":                       {"apiVersion: kyverno.io/v2\nkind: ClusterCleanupPolicy\nmetadata: {name: 'n'}\nspec: {match: {any: [{resources: {kinds: [AuthorizationPolicy]}}]}}\n", "may leave"},
		"a mutation of the server":                       {"apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingAdmissionPolicy\nmetadata: {name: 'n'}\nspec: {}\n", "may leave"},
		"a transformer of Kustomize":                     {"apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: 'n'}\npatch: a\n", "may leave"},
		"a package of kpt":                               {"apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: 'n'}\npipeline: {mutators: []}\n", "Kptfile default/n) may leave"},
		"an application by Kustomize":                    {of(application, "Application", "{source: {repoURL: a, path: b, kustomize: {version: v5.0.0, images: ['a:1']}}}"), ""},
		"a prefix of an application":                     {of(application, "Application", "{source: {repoURL: a, path: b, kustomize: {version: v5.0.0, namePrefix: a-}}}"), "spec.source.kustomize.namePrefix"},
		"labels of a namespace":                          {of(application, "Application", "{source: {repoURL: a, path: b}, syncPolicy: {managedNamespaceMetadata: {labels: {istio-injection: enabled}}}}"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after := sideOf(t, together(policy, tt.manifests)), sideOf(t, together(strings.Replace(policy, "8080", "8081", 1), tt.manifests))
			if got := textOf(manifestdiff.Changes(before, after)); !strings.Contains(got, tt.want) || (tt.want == "") != (got == "") {
				t.Errorf("%q, want %q", got, tt.want)
			}
			if got := manifestdiff.Changes(before, before); len(got) > 0 {
				t.Errorf("nothing has changed, and %s", textOf(got))
			}
		})
	}
	side := sideOf(t, policy)
	side.Files = map[string]string{"d/.sourceignore": "deny-*"}
	changed := sideOf(t, strings.Replace(policy, "8080", "8081", 1))
	changed.Files = side.Files
	if got := textOf(manifestdiff.Changes(side, changed)); !strings.Contains(got, "d/.sourceignore") {
		t.Errorf("a file of a tool: %q", got)
	}
	if got := manifestdiff.Changes(side, side); len(got) > 0 {
		t.Errorf("nothing has changed, and %s", textOf(got))
	}
}
