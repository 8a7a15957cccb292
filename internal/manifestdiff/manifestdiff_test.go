package manifestdiff_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/dataplane"
	"github.com/meshproof/meshproof/internal/kinds"
	"github.com/meshproof/meshproof/internal/manifestdiff"
	"github.com/meshproof/meshproof/policy/manifest"
)

// policy selects by app, names an account and a port, and an address.
const policy = `
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: p, namespace: shop}
spec: {selector: {matchLabels: {app: web}}, rules: [{from: [{source: {principals: [cluster.local/ns/shop/sa/fe]}}], to: [{operation: {ports: ['8080']}}]}]}
`

// deployment is an ordinary workload, in the way in which tests change it.
const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, labels: {app: web}, annotations: {note: a}}
spec:
  replicas: 2
  strategy: {type: Recreate}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web, track: stable}, annotations: {checksum/config: abc}}
    spec:
      serviceAccountName: web
      nodeSelector: {disk: ssd}
      containers:
        - name: web
          image: shop/web:1
          args: [a]
          env: [{name: A, value: b}]
          resources: {limits: {cpu: 1}}
          ports: [{name: http, containerPort: 8080}]
          readinessProbe: {httpGet: {path: /ready, port: 8080}, periodSeconds: 5}
          volumeMounts: [{name: data, mountPath: /data}]
          securityContext: {runAsNonRoot: true}
        - {name: log, image: shop/log:1}
      initContainers: [{name: migrate, image: shop/web:1}]
      volumes: [{name: data, emptyDir: {}}]
`

const linkerdServer = `
apiVersion: policy.linkerd.io/v1beta3
kind: Server
metadata: {name: s, namespace: shop}
spec: {podSelector: {matchLabels: {app: web}}, port: http}
`

const service = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080}]}
`

const serviceAccount = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: web, namespace: shop}
`

// change is a pair of sides: what both have, what one text is replaced by, or what one side has alone.
type change struct {
	name, same, was, is string
}

// expect compares both sides in a test of their own: what is told has the text, and is empty where that is. Nothing is told of
// a side and itself.
func (c change) expect(t *testing.T, want string) {
	t.Helper()
	t.Run(c.name, func(t *testing.T) {
		t.Parallel()
		old, recent := c.sides(t)
		got := textOf(manifestdiff.Changes(old, recent))
		if !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("%q, want %q", got, want)
		}
		if same := manifestdiff.Changes(recent, recent); len(same) > 0 {
			t.Errorf("nothing has changed, and %s", textOf(same))
		}
	})
}

// sideOf sorts documents as files are sorted.
func sideOf(t *testing.T, text string) manifestdiff.Side {
	t.Helper()
	out, err := readSide("f.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func parse(t *testing.T, file, text string) []manifest.Document {
	t.Helper()
	docs, err := manifest.Parse(file, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

func readSide(file, text string) (manifestdiff.Side, error) {
	docs, err := manifest.Parse(file, []byte(text))
	if err != nil {
		return manifestdiff.Side{}, err
	}
	own, others, err := kinds.Split(file, docs)
	out := manifestdiff.Side{Others: others}
	for _, doc := range own {
		if dataplane.Owns(doc) {
			out.Dataplanes = append(out.Dataplanes, doc)
		} else {
			out.Policies = append(out.Policies, doc)
		}
	}
	return out, err
}

// sides returns both sides of a change. Where the one text is part of the other documents, it is replaced
// there; else it stands behind them.
func (c change) sides(t *testing.T) (old, recent manifestdiff.Side) {
	t.Helper()
	if c.was != "" && strings.Contains(c.same, c.was) {
		return sideOf(t, c.same), sideOf(t, strings.Replace(c.same, c.was, c.is, 1))
	}
	return sideOf(t, c.same+"\n---\n"+c.was), sideOf(t, c.same+"\n---\n"+c.is)
}

// together joins documents.
func together(documents ...string) string { return strings.Join(documents, "\n---\n") }

// textOf has the place and the effect of each change.
func textOf(changes []manifestdiff.Change) string {
	var b strings.Builder
	for _, c := range changes {
		b.WriteString(c.String() + "\n")
	}
	return b.String()
}

// Ordinary changes of workloads, and changes of kinds that say nothing to a mesh, are no changes.
func TestOrdinaryChanges(t *testing.T) {
	t.Parallel()
	all := together(policy, deployment, service, serviceAccount)
	of := func(version, kind, more string) string {
		return "apiVersion: " + version + "\nkind: " + kind + "\nmetadata: {name: 'n', namespace: shop}\n" + more
	}
	for _, tt := range []change{
		{"another image", all, "image: shop/web:1", "image: shop/web:2"},
		{"another image of an init container", all, "name: migrate, image: shop/web:1", "name: migrate, image: shop/web:2"},
		{"more replicas", all, "replicas: 2", "replicas: 20"},
		{"no replicas, for an autoscaler", all, "  replicas: 2\n", ""},
		{"another strategy", all, "strategy: {type: Recreate}", "strategy: {type: RollingUpdate}"},
		{"environment", all, "env: [{name: A, value: b}]", "env: [{name: A, value: c}, {name: B, value: d}]"},
		{"environment of a config", all, "env: [{name: A, value: b}]", "envFrom: [{configMapRef: {name: c}}]"},
		{"arguments", all, "args: [a]", "args: [b, c]"},
		{"a command", all, "args: [a]", "command: [b]"},
		{"resources", all, "cpu: 1", "cpu: 2"},
		{"the period of a probe", all, "periodSeconds: 5", "periodSeconds: 7"},
		{"scheduling", all, "nodeSelector: {disk: ssd}", "nodeSelector: {disk: hdd}\n      tolerations: [{operator: Exists}]"},
		{"volumes", all, "volumes: [{name: data, emptyDir: {}}]", "volumes: [{name: data, persistentVolumeClaim: {claimName: c}}, {name: more, configMap: {name: c}}]"},
		{"a label that nothing names", all, "track: stable", "track: canary, release: a"},
		{"the annotation of a checksum", all, "checksum/config: abc", "checksum/config: def"},
		{"an annotation of a person", all, "note: a", "note: b, owner: me"},
		{"an annotation of kubectl", all, "note: a", "note: a, kubectl.kubernetes.io/restartedAt: x"},
		{"the chart of Helm", all, "labels: {app: web}, annot", "labels: {app: web, helm.sh/chart: web-2, app.kubernetes.io/version: '2'}, annot"},
		{"less power", all, "securityContext: {runAsNonRoot: true}", "securityContext: {runAsNonRoot: true, allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}"},
		{"the order of containers", all, "        - {name: log, image: shop/log:1}\n", ""},
		{"one port more that nothing names", all, "containerPort: 8080}]", "containerPort: 8080}, {name: admin, containerPort: 9000}]"},
		{"the port of nodes of a service", all, "port: 80, targetPort", "nodePort: 30000, port: 80, targetPort"},
		{"addresses of a service", all, "spec: {selector: {app: web}, ports", "spec: {clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1], selector: {app: web}, ports"},
		{"what a server adds", all, "metadata: {name: web, namespace: shop}\nspec: {selector", "metadata: {name: web, namespace: shop, uid: a, resourceVersion: '1', creationTimestamp: x, managedFields: []}\nstatus: {}\nspec: {selector"},
		{"the tokens of an account", all, "kind: ServiceAccount", "kind: ServiceAccount\nimagePullSecrets: [{name: a}]"},
		{"a new workload", policy, "", deployment},
		{"a new workload with its service", policy, "", together(deployment, service, serviceAccount)},
		{"a workload and its service go", policy, together(deployment, service), ""},
		{"a new namespace", policy, "", "apiVersion: v1\nkind: Namespace\nmetadata: {name: 'n', labels: {istio-injection: enabled, team: a}}"},
		{"a config of an application", policy, of("v1", "ConfigMap", "data: {a: b}"), of("v1", "ConfigMap", "data: {a: c}")},
		{"a secret of an application", policy, "", of("v1", "Secret", "type: Opaque\ndata: {a: b}")},
		{"an autoscaler", all, "", of("autoscaling/v2", "HorizontalPodAutoscaler", "spec: {maxReplicas: 2}")},
		{"a budget of disruptions", all, of("policy/v1", "PodDisruptionBudget", "spec: {minAvailable: 2}"), ""},
		{"a role", all, of("rbac.authorization.k8s.io/v1", "Role", "rules: []"), of("rbac.authorization.k8s.io/v1", "Role", "rules: [{verbs: ['*']}]")},
		{"an Ingress", all, "", of("networking.k8s.io/v1", "Ingress", "spec: {}")},
		{"a monitor", all, "", of("monitoring.coreos.com/v1", "ServiceMonitor", "spec: {}")},
		{"a DestinationRule", all, "", of("networking.istio.io/v1", "DestinationRule", "spec: {host: a}")},
		{"a ServiceEntry of another host", all, "", of("networking.istio.io/v1", "ServiceEntry", "spec: {hosts: [a.example], resolution: DNS}")},
		{"a job", policy, of("batch/v1", "CronJob", "spec: {schedule: a, jobTemplate: {spec: {template: {spec: {containers: [{name: c, image: a}]}}}}}"), of("batch/v1", "CronJob", "spec: {schedule: b, jobTemplate: {spec: {template: {spec: {containers: [{name: c, image: b}]}}}}}")},
		{"a label that policies have too", together(strings.Replace(policy, "namespace: shop}", "namespace: shop, labels: {app.kubernetes.io/version: '1'}}", 1), deployment), "track: stable", "track: stable, app.kubernetes.io/version: '2'"},
		{"addresses that a server writes", all, "", strings.Replace(of("v1", "Endpoints", "subsets: []"), "name: 'n'", "name: web", 1)},
		{"a job under another name", policy, of("batch/v1", "Job", "spec: {}"), strings.Replace(of("batch/v1", "Job", "spec: {}"), "name: 'n'", "name: m", 1)},
		{"the same workload twice, alike", policy, deployment, together(deployment, deployment)},
		{"metrics where Istio is not there", strings.Replace(together(linkerdServer, deployment), "checksum/config: abc", "prometheus.io/scrape: 'true', prometheus.io/port: '8080'", 1), "prometheus.io/port: '8080'", "prometheus.io/port: '9090', prometheus.io/path: /m"},
		{"a volume with the name of a workload", strings.Replace(all, "volumes: [", "volumes: [{name: web, configMap: {name: a}}, ", 1), "configMap: {name: a}", "configMap: {name: b}"},
		{"a workload under another name, with another image", linkerdServer, deployment, strings.NewReplacer("name: web, namespace", "name: web2, namespace", "shop/web:1", "shop/web:2").Replace(deployment)},
		{"another name of a host", policy, "", "apiVersion: v1\nkind: Service\nmetadata: {name: db, namespace: shop}\nspec: {type: ExternalName, externalName: db.example}"},
		{"limited calls of the kernel", all, "runAsNonRoot: true", "runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}"},
		{"a certificate of a host, with its issuer", policy, "", together(of("cert-manager.io/v1", "Certificate", "spec: {secretName: shop-tls, dnsNames: [shop.example.com], issuerRef: {name: le}}"), strings.Replace(of("cert-manager.io/v1", "Issuer", "spec: {acme: {server: a}}"), "name: 'n'", "name: le", 1))},
		{"a new workload beside a pattern of another namespace", strings.Replace(policy, "cluster.local/ns/shop/sa/fe", "cluster.local/ns/other/*", 1), "", deployment},
		{"a new workload beside a pattern of another namespace, in Linkerd", strings.Replace(policy, "cluster.local/ns/shop/sa/fe", "'*.other.serviceaccount.identity.linkerd.cluster.local'", 1), "", deployment},
		{"a canary behind a service, which its policy selects too", together(policy, deployment, service, serviceAccount), "", strings.NewReplacer("name: web, namespace", "name: web-canary, namespace", "track: stable", "track: canary").Replace(deployment)},
		{"ingress in another order", policy, of("networking.k8s.io/v1", "NetworkPolicy", "spec: {podSelector: {}, ingress: [{from: [{podSelector: {}}, {namespaceSelector: {}}]}, {}]}"), of("networking.k8s.io/v1", "NetworkPolicy", "spec: {ingress: [{}, {from: [{namespaceSelector: {}}, {podSelector: {}}]}], podSelector: {}}")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			old, recent := tt.sides(t)
			if changes := manifestdiff.Changes(old, recent); len(changes) > 0 {
				t.Errorf("%s", textOf(changes))
			}
		})
	}
	for i, documents := range [][2]string{{together(deployment, service), together(service, deployment)}} {
		if changes := manifestdiff.Changes(sideOf(t, documents[0]), sideOf(t, documents[1])); len(changes) > 0 {
			t.Errorf("order %d: %s", i, textOf(changes))
		}
	}
}
