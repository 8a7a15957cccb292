package manifestdiff_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/manifestdiff"
	"github.com/meshproof/meshproof/policy/manifest"
)

// A setting of a mesh that is not read decides with the policies: where these change, it is named, although it is as before.
func TestAssumedSettings(t *testing.T) {
	t.Parallel()
	parse := func(text string) []manifest.Document { return parse(t, "a.yaml", text) }
	configMap := func(name, data string) string {
		return "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + ", namespace: istio-system}, data: {" + data + "}}"
	}
	namespace := func(by string) string {
		return "{apiVersion: v1, kind: Namespace, metadata: {name: shop, annotations: {config.linkerd.io/default-inbound-policy: " + by + "}}}"
	}
	kubernetes := func(types string) string {
		return "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: dd}, spec: {podSelector: {}, policyTypes: " + types + "}}"
	}
	endpoints := func(app, ingress string) string {
		return "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p}, spec: {endpointSelector: {matchLabels: {app: " + app + "}}, ingress: " + ingress + "}}"
	}
	const (
		ap         = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p}, spec: {}}"
		deny       = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p}, spec: {action: DENY}}"
		cnp        = "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p}, spec: {}}"
		another    = "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: q}, spec: {}}"
		server     = "{apiVersion: policy.linkerd.io/v1beta3, kind: Server, metadata: {name: s}, spec: {port: 80, accessPolicy: deny}}"
		open       = "{apiVersion: policy.linkerd.io/v1beta3, kind: Server, metadata: {name: s}, spec: {port: 80, accessPolicy: all-unauthenticated}}"
		mtp        = "{apiVersion: kuma.io/v1alpha1, kind: MeshTrafficPermission, metadata: {name: p, namespace: a}, spec: {}}"
		other      = "{apiVersion: kuma.io/v1alpha1, kind: MeshTrafficPermission, metadata: {name: p, namespace: a}, spec: {rules: []}}"
		deployment = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {template: {metadata: {annotations: {config.linkerd.io/default-inbound-policy: deny}}}}}"
	)
	plane := func(namespace, image, args string) string {
		return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: c, namespace: " + namespace + "}, spec: {template: {spec: {containers: [{name: c, image: '" + image + "', args: [" + args + "]}]}}}}"
	}
	release := func(values string) string {
		return "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: m}, spec: {values: {" + values + "}}}"
	}
	application := func(helm string) string {
		return "{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: m}, spec: {source: {helm: {" + helm + "}}}}"
	}
	foreign := func(values string) string {
		return strings.Replace(release(values), "spec: {", "spec: {chartRef: {kind: OCIRepository, name: a}, ", 1)
	}
	ofChart := func(helm string) string {
		return strings.Replace(application(helm), "source: {", "source: {chart: a, ", 1)
	}
	inA := func(app string) string {
		return strings.Replace(endpoints(app, "[{}]"), "name: p", "name: p, namespace: a", 1)
	}
	calls := strings.Replace(cnp, "spec: {", "spec: {egress: [{toEntities: [world]}]", 1)
	root := configMap("istio", `mesh: "rootNamespace: a"`)
	for name, tt := range map[string]struct {
		document, old, recent, stated, want string
	}{
		"a mesh config":                                        {root, ap, deny, "", "data.mesh"},
		"a mesh config that is stated":                         {root, ap, deny, "istio: {rootNamespace: a}", ""},
		"another field of a mesh config is stated":             {root, ap, deny, "istio: {normalization: NONE}", "data.mesh"},
		"istiod in a namespace that is stated":                 {plane("a", "istio/pilot:1", ""), ap, deny, "istio: {rootNamespace: a}", ""},
		"Kuma in a namespace that is stated":                   {plane("a", "kumahq/kuma-cp:1", ""), mtp, other, "systemNamespace: a", ""},
		"a mesh config, and nothing changes":                   {root, ap, ap, "", ""},
		"a mesh config without such a field":                   {configMap("istio", `mesh: "accessLogFile: /dev/stdout"`), ap, deny, "", ""},
		"a mesh config in JSON":                                {configMap("istio-canary", `mesh: "{\"extensionProviders\": []}"`), ap, deny, "", "data.mesh"},
		"a mesh config by the names of protobuf":               {configMap("istio", `mesh: "root_namespace: a"`), ap, deny, "", "data.mesh"},
		"a mesh config with a space":                           {configMap("istio", `mesh: "rootNamespace : a"`), ap, deny, "", "data.mesh"},
		"a mesh config with an anchor":                         {configMap("istio", `mesh: "a: &a {rootNamespace: b}\n<<: *a\n"`), ap, deny, "", "data.mesh"},
		"a mesh config that cannot be read":                    {configMap("istio", `mesh: "rootNamespace: a\nb: ["`), ap, deny, "", "data.mesh"},
		"an operator with two mesh configs":                    {"{apiVersion: install.istio.io/v1alpha1, kind: IstioOperator, metadata: {name: o}, spec: {meshConfig: {}, values: {meshConfig: {rootNamespace: a}}}}", ap, deny, "", "spec"},
		"an operator by the names of protobuf":                 {"{apiVersion: install.istio.io/v1alpha1, kind: IstioOperator, metadata: {name: o}, spec: {meshConfig: {path_normalization: {}}}}", ap, deny, "", "spec"},
		"an operator with values that are not checked":         {"{apiVersion: install.istio.io/v1alpha1, kind: IstioOperator, metadata: {name: o}, spec: {unvalidatedValues: {meshConfig: {rootNamespace: a}}}}", ap, deny, "", "spec"},
		"Cilium takes no policies of the cluster":              {configMap("cilium-config", "enable-cilium-clusterwide-network-policy: 'false'"), cnp, another, "", "data.enable-cilium-clusterwide-network-policy"},
		"Cilium takes none of its policies":                    {configMap("cilium-config", "enable-cilium-network-policy: 'false'"), cnp, another, "", "data.enable-cilium-network-policy"},
		"an operator":                                          {"{apiVersion: install.istio.io/v1alpha1, kind: IstioOperator, metadata: {name: o}, spec: {meshConfig: {rootNamespace: a}}}", ap, deny, "", "spec"},
		"an operator of OpenShift":                             {"{apiVersion: maistra.io/v2, kind: ServiceMeshControlPlane, metadata: {name: o, namespace: a}, spec: {security: {trust: {domain: a}}}}", ap, deny, "", "spec"},
		"a revision of an operator":                            {"{apiVersion: sailoperator.io/v1, kind: IstioRevision, metadata: {name: o}, spec: {values: {meshConfig: {rootNamespace: a}}}}", ap, deny, "", "spec"},
		"a release of a chart":                                 {"{apiVersion: helm.crossplane.io/v1beta1, kind: Release, metadata: {name: o}, spec: {forProvider: {values: {meshConfig: {rootNamespace: a}}}}}", ap, deny, "", "spec"},
		"an unknown object":                                    {"{apiVersion: example.com/v1, kind: Widget, metadata: {name: o}, spec: {a: b}}", ap, deny, "", ""},
		"a mesh config in another namespace":                   {strings.Replace(configMap("istio", `mesh: "accessLogFile: /dev/stdout"`), "istio-system", "a", 1), ap, deny, "", "metadata.namespace"},
		"istiod by another image":                              {plane("a", "registry.example/mirror/pilot:1", ""), ap, deny, "", "metadata.namespace"},
		"an argument of Cilium":                                {plane("kube-system", "quay.io/cilium/cilium:1", "--enable-policy=always"), cnp, another, "", "containers"},
		"an argument of Cilium as it is by default":            {plane("kube-system", "quay.io/cilium/cilium:1", "--enable-policy=default"), cnp, another, "", ""},
		"settings of some nodes":                               {"{apiVersion: cilium.io/v2, kind: CiliumNodeConfig, metadata: {name: o}, spec: {defaults: {enable-policy: always}}}", cnp, another, "", "spec"},
		"values of a chart of Istio":                           {"{meshConfig: {rootNamespace: a}}", ap, deny, "", "meshConfig"},
		"values of Istio that are stated":                      {"{meshConfig: {rootNamespace: a}}", ap, deny, "istio: {rootNamespace: a}", ""},
		"a parameter of Istio":                                 {application("parameters: [{name: meshConfig.rootNamespace, value: a}]"), ap, deny, "", "spec"},
		"values of Istio without such a field":                 {"{meshConfig: {accessLogFile: a}}", ap, deny, "", ""},
		"a chart of Istio in another namespace":                {strings.Replace(release("{}"), "values: {{}}", "targetNamespace: a, chart: {spec: {chart: istiod}}", 1), ap, deny, "", "spec"},
		"a chart of Istio where it usually is":                 {"{global: {istioNamespace: istio-system}}", ap, deny, "", ""},
		"values with another namespace of Istio":               {"{global: {istioNamespace: a}}", ap, deny, "", "global"},
		"a chart of Cilium":                                    {release("policyEnforcementMode: always"), cnp, endpoints("web", "[{}]"), "", "spec"},
		"a chart of Cilium, and the same endpoints":            {"{policyEnforcementMode: always}", cnp, another, "", ""},
		"a chart of Cilium as it is by default":                {"{policyEnforcementMode: default, policyCIDRMatchMode: , l7Proxy: true}", cnp, endpoints("web", "[{}]"), "", ""},
		"values of Cilium in a text":                           {application(`values: "a: b\npolicyAuditMode: true\n"`), cnp, another, "", "spec"},
		"flags in values of Cilium":                            {"{cilium: {extraArgs: [--policy-audit-mode=true]}}", cnp, another, "", "cilium"},
		"values of Cilium in a ConfigMap":                      {configMap("cilium-values", `values.yaml: "policyEnforcementMode: always"`), cnp, endpoints("web", "[{}]"), "", "data"},
		"a NetworkPolicy of calls, and other endpoints":        {kubernetes("[Egress]"), endpoints("web", "[{}]"), endpoints("db", "[{}]"), "", ""},
		"a NetworkPolicy of calls, and the first calls":        {kubernetes("[Egress]"), cnp, calls, "", "taken for open"},
		"a NetworkPolicy of calls by its rules":                {strings.Replace(kubernetes("[]"), "policyTypes: []", "egress: [{}]", 1), cnp, calls, "", "taken for open"},
		"a NetworkPolicy of both, and the first calls":         {kubernetes("[Ingress, Egress]"), cnp, calls, "", "taken for open"},
		"a NetworkPolicy, and the first callers of what calls": {kubernetes("[Ingress]"), calls, strings.Replace(calls, "spec: {", "spec: {ingress: [{}], ", 1), "", "taken for open"},
		"a NetworkPolicy, and the first calls":                 {kubernetes("[Ingress]"), cnp, calls, "", ""},
		"a NetworkPolicy of calls, and other calls":            {kubernetes("[Egress]"), calls, strings.Replace(calls, "world", "cluster", 1), "", ""},
		"closed by values, and the first calls":                {configMap("cilium-values", `values.yaml: "policyEnforcementMode: always"`), cnp, calls, "", "taken for open"},
		"values of Cilium in a Secret":                         {"{apiVersion: v1, kind: Secret, metadata: {name: v}, stringData: {values.yaml: 'policyEnforcementMode: always'}}", cnp, endpoints("web", "[{}]"), "", "stringData"},
		"values in the data of a Secret":                       {"{apiVersion: v1, kind: Secret, metadata: {name: v}, data: {values.yaml: cG9saWN5RW5mb3JjZW1lbnRNb2RlOiBhbHdheXM=}}", cnp, endpoints("web", "[{}]"), "", "data"},
		"values in the template of an ExternalSecret":          {"{apiVersion: external-secrets.io/v1, kind: ExternalSecret, metadata: {name: v}, spec: {target: {template: {data: {values.yaml: 'policyEnforcementMode: always'}}}}}", cnp, endpoints("web", "[{}]"), "", "spec"},
		"values in the template of a SealedSecret":             {"{apiVersion: bitnami.com/v1alpha1, kind: SealedSecret, metadata: {name: v}, spec: {template: {data: {values.yaml: 'policyEnforcementMode: always'}}}}", cnp, endpoints("web", "[{}]"), "", "spec"},
		"another ExternalSecret":                               {"{apiVersion: external-secrets.io/v1, kind: ExternalSecret, metadata: {name: v}, spec: {target: {template: {data: {values.yaml: 'a: b'}}}}}", cnp, endpoints("web", "[{}]"), "", ""},
		"other data of a Secret":                               {"{apiVersion: v1, kind: Secret, metadata: {name: v}, data: {values.yaml: YTogYg==}}", cnp, endpoints("web", "[{}]"), "", ""},
		"a patch of a machine in JSON":                         {`[{op: add, path: /cluster/inlineManifests, value: [{name: c, contents: "data:\n  enable-policy: always\n"}]}]`, cnp, endpoints("web", "[{}]"), "", "is not read"},
		"a policy in values":                                   {release("raw: {p: {apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, spec: {}}}"), cnp, endpoints("web", "[{}]"), "", "a policy stands in it"},
		"a policy in a text of values":                         {release(`extra: ["apiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\n"]`), ap, deny, "", "a policy stands in it"},
		"a policy in a ConfigMap":                              {configMap("a", `p.yaml: "apiVersion: policy.linkerd.io/v1beta3\nkind: Server\n"`), server, open, "", "a policy stands in it"},
		"a policy in a file of values":                         {"{extraObjects: [{apiVersion: kuma.io/v1alpha1, kind: MeshTrafficPermission}]}", mtp, other, "", "a policy stands in it"},
		"other objects in values":                              {foreign("raw: {p: {apiVersion: cilium.io/v2alpha1, kind: CiliumL2AnnouncementPolicy}, q: {apiVersion: networking.istio.io/v1, kind: Gateway}}"), cnp, endpoints("web", "[{}]"), "", ""},
		"a definition of the kind":                             {"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: o}, spec: {names: {kind: CiliumNetworkPolicy}, a: 'apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy'}}", cnp, endpoints("web", "[{}]"), "", ""},
		"a NetworkPolicy by values":                            {release("networkPolicy: {ingress: [], enabled: true}"), cnp, endpoints("web", "[{}]"), "", "taken for open"},
		"NetworkPolicies by values":                            {release("networkpolicies: {main: {controller: main}}"), cnp, endpoints("web", "[{}]"), "", "taken for open"},
		"a NetworkPolicy that values switch off":               {foreign("networkPolicy: {enabled: false}, global: {networkPolicy: false}"), cnp, endpoints("web", "[{}]"), "", ""},
		"a NetworkPolicy by a file of values":                  {"{networkPolicy: {enabled: true, ingress: []}}", cnp, endpoints("web", "[{}]"), "", "networkPolicy"},
		"no NetworkPolicy by a file of values":                 {"{networkPolicy: {enabled: false, ingress: []}}", cnp, endpoints("web", "[{}]"), "", ""},
		"a NetworkPolicy by values in a text":                  {application(`values: "a: b\nnetworkPolicy:\n  enabled: true\n"`), cnp, endpoints("web", "[{}]"), "", "taken for open"},
		"a switch that is not the first value":                 {application(`values: "networkPolicy:\n  allowExternal: false\n  enabled: true\n"`), cnp, endpoints("web", "[{}]"), "", "taken for open"},
		"a switch that is off, and what it would have":         {ofChart(`values: "networkPolicy:\n  enabled: false\n  ingress:\n    a: b\nweb:\n  enabled: true\n"`), cnp, endpoints("web", "[{}]"), "", ""},
		"values on one line of a text":                         {application(`values: "networkPolicy: {a: b, enabled: true}"`), cnp, endpoints("web", "[{}]"), "", "taken for open"},
		"a parameter for a NetworkPolicy":                      {application("parameters: [{name: networkPolicy.enabled, value: 'true'}]"), cnp, endpoints("web", "[{}]"), "", "taken for open"},
		"a parameter against a NetworkPolicy":                  {ofChart("parameters: [{name: networkPolicy.enabled, value: 'false'}]"), cnp, endpoints("web", "[{}]"), "", ""},
		"a switch of another name":                             {foreign("createNetworkPolicy: true"), cnp, endpoints("web", "[{}]"), "", "taken for open"},
		"what Cilium enforces of Kubernetes":                   {foreign("k8sNetworkPolicy: {enabled: true}"), cnp, endpoints("web", "[{}]"), "", ""},
		"a NetworkPolicy by values in a ConfigMap":             {strings.Replace(configMap("v", `values.yaml: "networkPolicy:\n  enabled: true\n"`), "istio-system", "b", 1), inA("web"), inA("db"), "", "taken for open"},
		"a NetworkPolicy of Argo CD anywhere":                  {strings.Replace(application("valuesObject: {networkPolicy: {enabled: true}}"), "name: m", "name: m, namespace: argocd", 1), inA("web"), inA("db"), "", "taken for open"},
		"a NetworkPolicy of Argo CD elsewhere":                 {strings.Replace(ofChart("valuesObject: {networkPolicy: {enabled: true}}"), "spec: {", "spec: {destination: {namespace: b}, ", 1), inA("web"), inA("db"), "", ""},
		"a NetworkPolicy by values elsewhere":                  {strings.Replace(foreign("networkPolicy: {enabled: true}"), "name: m", "name: m, namespace: b", 1), inA("web"), inA("db"), "", ""},
		"a NetworkPolicy of another namespace":                 {strings.Replace(kubernetes("[Ingress]"), "name: dd", "name: dd, namespace: b", 1), inA("web"), inA("db"), "", ""},
		"a NetworkPolicy, and one for the cluster":             {strings.Replace(kubernetes("[Ingress]"), "name: dd", "name: dd, namespace: b", 1), cnp, strings.Replace(endpoints("web", "[{}]"), "CiliumNetworkPolicy", "CiliumClusterwideNetworkPolicy", 1), "", "taken for open"},
		"a chart of Linkerd":                                   {release("proxy: {defaultInboundPolicy: deny}"), ap, server, "", "spec"},
		"a parameter of Linkerd":                               {application("parameters: [{name: proxy.defaultInboundPolicy, value: deny}]"), ap, server, "", "spec"},
		"an annotation of pods in values":                      {"{podAnnotations: {config.linkerd.io/default-inbound-policy: deny}}", ap, server, "", "podAnnotations"},
		"an annotation of a Namespace by Argo CD":              {"{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: m}, spec: {syncPolicy: {managedNamespaceMetadata: {annotations: {config.linkerd.io/default-inbound-policy: deny}}}}}", ap, server, "", "all-unauthenticated"},
		"Cilium by the cluster of kOps":                        {"{apiVersion: kops.k8s.io/v1alpha2, kind: Cluster, metadata: {name: m}, spec: {networking: {cilium: {enablePolicy: always}}}}", cnp, endpoints("web", "[{}]"), "", "spec"},
		"a chart of Linkerd, and the same ports":               {"{proxy: {defaultInboundPolicy: deny}}", server, open, "", ""},
		"names of Linkerd by a chart":                          {release("identityTrustDomain: a"), server, open, "", "spec"},
		"policies of the cluster":                              {"{apiVersion: policy.networking.k8s.io/v1alpha2, kind: ClusterNetworkPolicy, metadata: {name: o}, spec: {tier: Baseline}}", endpoints("web", "[{}]"), endpoints("db", "[{}]"), "", "spec"},
		"another mesh's policies":                              {root, cnp, another, "", ""},
		"Cilium enforces always":                               {configMap("cilium-config", "enable-policy: always"), cnp, another, "", "data.enable-policy"},
		"Cilium enforces by default":                           {configMap("cilium-config", "enable-policy: default, policy-audit-mode: 'false'"), cnp, another, "", ""},
		"Cilium audits":                                        {configMap("cilium-config", "policy-audit-mode: 'true'"), cnp, another, "", "data.policy-audit-mode"},
		"Kubernetes closes what a policy is about now":         {kubernetes("[Ingress]"), endpoints("web", "[{}]"), endpoints("db", "[{}]"), "", "NetworkPolicy default/dd"},
		"Kubernetes closes, and the endpoints stay":            {kubernetes("[Ingress]"), endpoints("web", "[{}]"), endpoints("web", "[{fromEntities: [all]}]"), "", ""},
		"Kubernetes closes calls alone":                        {kubernetes("[Egress]"), endpoints("web", "[{}]"), endpoints("db", "[{}]"), "", ""},
		"the name of the cluster":                              {configMap("cilium-config", "cluster-name: prod"), cnp, another, "", "data.cluster-name"},
		"selectors of every cluster":                           {configMap("cilium-config", "policy-default-local-cluster: 'false'"), cnp, another, "", "data.policy-default-local-cluster"},
		"Istio in another namespace":                           {"{apiVersion: sailoperator.io/v1, kind: Istio, metadata: {name: o}, spec: {namespace: a}}", ap, deny, "", "spec"},
		"Istio in another namespace, by values":                {"{apiVersion: install.istio.io/v1alpha1, kind: IstioOperator, metadata: {name: o}, spec: {values: {global: {istioNamespace: a}}}}", ap, deny, "", "spec"},
		"Istio in its namespace":                               {"{apiVersion: sailoperator.io/v1, kind: Istio, metadata: {name: o}, spec: {namespace: istio-system}}", ap, deny, "", ""},
		"istiod in another namespace":                          {plane("a", "istio/pilot:1", ""), ap, deny, "", "metadata.namespace"},
		"istiod in its namespace":                              {plane("istio-system", "istio/pilot:1", ""), ap, deny, "", ""},
		"Kuma in another namespace":                            {plane("a", "kumahq/kuma-cp:1", ""), mtp, other, "", "metadata.namespace"},
		"Kuma in its namespace":                                {plane("kuma-system", "kumahq/kuma-cp:1", ""), mtp, other, "", ""},
		"a default of Linkerd":                                 {configMap("linkerd-config", `values: "proxy:\n  defaultInboundPolicy: deny\n"`), server, open, "", "data.values"},
		"a trust domain of Linkerd":                            {configMap("linkerd-config", `values: "identityTrustDomain: a.example\n"`), server, open, "", "data.values"},
		"the defaults of Linkerd":                              {configMap("linkerd-config", `values: "identityTrustDomain: cluster.local\nclusterDomain: cluster.local\nclusterNetworks: 10.0.0.0/8,100.64.0.0/10,172.16.0.0/12,192.168.0.0/16,fd00::/8\nproxy: {defaultInboundPolicy: \"all-unauthenticated\"}\n"`), server, open, "", ""},
		"an argument of Linkerd":                               {plane("linkerd", "cr.l5d.io/linkerd/policy-controller:1", "--default-policy=deny"), server, open, "", "containers"},
		"arguments as they are by default":                     {plane("linkerd", "cr.l5d.io/linkerd/policy-controller:1", "--default-policy=all-unauthenticated, --identity-domain=cluster.local"), server, open, "", ""},
		"a default of a namespace":                             {namespace("deny"), "", open, "", "default-inbound-policy"},
		"a default of pods":                                    {deployment, server, "", "", "default-inbound-policy"},
		"the default that is taken":                            {namespace("all-unauthenticated"), "", open, "", ""},
		"a default, and the Servers have stayed":               {namespace("deny"), server, open, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			side := func(text string) manifestdiff.Side {
				return manifestdiff.Side{Policies: parse(text), Others: parse(tt.document), Options: first(parse(tt.stated))}
			}
			var fields []string
			for _, change := range manifestdiff.Changes(side(tt.old), side(tt.recent)) {
				fields = append(fields, change.String())
			}
			if got := strings.Join(fields, "; "); !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// A text that is not read, such as a template or a script, may have such a setting, or a policy.
func TestAssumedInTexts(t *testing.T) {
	t.Parallel()
	parse := func(text string) []manifest.Document { return parse(t, "a.yaml", text) }
	const (
		web    = "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p, namespace: shop}, spec: {endpointSelector: {matchLabels: {app: web}}, ingress: [{}]}}"
		istio  = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p}, spec: {}}"
		server = "{apiVersion: policy.linkerd.io/v1beta3, kind: Server, metadata: {name: s}, spec: {port: 80, accessPolicy: deny}}"
	)
	for name, tt := range map[string]struct{ text, policy, want string }{
		"values of Cilium":               {"host: {{ .Values.host }}\npolicyEnforcementMode: always\n", web, "taken for open"},
		"values as they are":             {"host: {{ .Values.host }}\npolicyEnforcementMode: default\n", web, ""},
		"a comment":                      {"host: {{ .Values.host }}\n  # policyEnforcementMode: always\n", web, ""},
		"a template of Kubernetes":       {"apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: {{ .Release.Name }}}\n", web, "taken for open"},
		"a NetworkPolicy of any version": {"apiVersion: {{ include \"a\" . }}\nkind: NetworkPolicy\nmetadata: {name: {{ .Release.Name }}}\n", web, "taken for open"},
		"a switch in a script":           {"helm upgrade a b --set networkPolicy.enabled=true\n", web, "taken for open"},
		"a switch in a program":          {"set {\n  name  = \"networkPolicy.enabled\"\n  value = \"true\"\n}\n", web, "taken for open"},
		"a switch in an object of HCL":   {"values = [yamlencode({\n  networkPolicy = {\n    enabled = true\n  }\n})]\n", web, "taken for open"},
		"no switch in an object of HCL":  {"values = [yamlencode({ networkPolicy = { enabled = false } })]\n", web, ""},
		"a resource of Terraform":        {"resource \"kubernetes_network_policy_v1\" \"d\" {}\n", web, "taken for open"},
		"a manifest of Terraform":        {"manifest = {\n  apiVersion = \"networking.k8s.io/v1\"\n  kind       = \"NetworkPolicy\"\n}\n", web, "taken for open"},
		"a policy of Terraform":          {"manifest = {\n  \"apiVersion\" = \"security.istio.io/v1\"\n  \"kind\" = \"AuthorizationPolicy\"\n}\n", istio, "a policy stands in it"},
		"a constructor":                  {"new k8s.networking.v1.NetworkPolicy(\"d\", {});\n", web, "taken for open"},
		"a template of something else":   {"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: {{ .Release.Name }}}\n", web, ""},
		"a policy in a script":           {"cat <<E\napiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\nE\n", istio, "a policy stands in it"},
		"a script":                       {"istioctl install --set meshConfig.rootNamespace=a\n", istio, "--istio"},
		"a program":                      {"set {\n  name  = \"proxy.defaultInboundPolicy\"\n  value = \"deny\"\n}\n", server, "all-unauthenticated"},
		"another mesh's settings":        {"policyEnforcementMode: always\n", istio, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			side := func(text string) manifestdiff.Side {
				return manifestdiff.Side{Policies: parse(text), Sources: map[string]string{"a": "1"}, Texts: map[string]string{"a": tt.text}}
			}
			var got string
			for _, change := range manifestdiff.Changes(side(""), side(tt.policy)) {
				got += change.String()
			}
			if !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// first is the first of some documents, and the zero value of none.
func first(docs []manifest.Document) manifest.Document {
	if len(docs) == 0 {
		return manifest.Document{}
	}
	return docs[0]
}
