package verify

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/meshproof/meshproof/internal/dump"
)

// TestPassedBy reads the node of Istio's sidecar, which says what of the pod's connections is redirected to it.
func TestPassedBy(t *testing.T) {
	t.Parallel()
	const proxyConfig = istioNode + ".metadata.PROXY_CONFIG"
	annotation := func(key, value string) edit {
		return put(istioNode+".metadata.ANNOTATIONS", fmt.Sprintf("{%q: %q}", key, value))
	}
	label := func(key, value string) edit {
		return put(istioNode+".metadata.LABELS", fmt.Sprintf(`{"app": "payments", %q: %q}`, key, value))
	}
	// With TPROXY the sidecar keeps the address of the caller, also for the workload.
	transparently := func(fields string) edit {
		return func(dump any) any {
			for _, e := range []edit{
				put(istioNode+".metadata.INTERCEPTION_MODE", `"TPROXY"`),
				put(istioInbound+".transparent", `true`),
				add(istioInbound+".listener_filters", typed("envoy.filters.listener.original_src", "envoy.extensions.filters.listener.original_src.v3.OriginalSrc", fields)),
			} {
				dump = e(dump)
			}
			return dump
		}
	}
	for name, tt := range map[string]struct {
		want  outcome
		edits edit
	}{
		"a port of the workload is left out":                                     {unverified, annotation("traffic.sidecar.istio.io/excludeInboundPorts", "15020,8080")},
		"the ports of the agent are left out":                                    {verified, annotation("traffic.sidecar.istio.io/excludeInboundPorts", "15020,15021,15090")},
		"some ports are redirected":                                              {unverified, annotation("traffic.sidecar.istio.io/includeInboundPorts", "9102")},
		"no port is redirected":                                                  {unverified, annotation("traffic.sidecar.istio.io/includeInboundPorts", "")},
		"all ports are redirected":                                               {verified, annotation("traffic.sidecar.istio.io/includeInboundPorts", "*")},
		"an interface is left out":                                               {unverified, annotation("traffic.sidecar.istio.io/excludeInterfaces", "eth1")},
		"no interface is left out":                                               {verified, annotation("traffic.sidecar.istio.io/excludeInterfaces", "")},
		"connections of an interface count as outbound":                          {unverified, annotation("istio.io/reroute-virtual-interfaces", "kube0")},
		"an annotation of later":                                                 {unverified, annotation("traffic.sidecar.istio.io/later", "x")},
		"connections to others":                                                  {verified, annotation("traffic.sidecar.istio.io/excludeOutboundPorts", "3306")},
		"another annotation":                                                     {verified, annotation("prometheus.io/scrape", "true")},
		"nothing is redirected":                                                  {unverified, annotation("sidecar.istio.io/interceptionMode", "NONE")},
		"nothing is redirected, in the metadata":                                 {unverified, put(istioNode+".metadata.INTERCEPTION_MODE", `"NONE"`)},
		"nothing is redirected, in the config of the proxy":                      {unverified, put(istioNode+".metadata.PROXY_CONFIG", `{"interceptionMode": "NONE"}`)},
		"listeners on this machine alone":                                        {unverified, put(istioInbound+".address.socket_address.address", `"127.0.0.1"`)},
		"an unknown redirection":                                                 {unverified, put(istioNode+".metadata.INTERCEPTION_MODE", `["REDIRECT"]`)},
		"redirected":                                                             {verified, put(istioNode+".metadata.INTERCEPTION_MODE", `"REDIRECT"`)},
		"redirected with the addresses of callers":                               {verified, transparently(`"mark": 1337`)},
		"redirected with the addresses of callers, and a field of later":         {unverified, transparently(`"later": 1`)},
		"the port of the agent is the workload's":                                {unverified, annotation("status.sidecar.istio.io/port", "8080")},
		"the port of the agent is a number":                                      {unverified, put(istioNode+".metadata.ANNOTATIONS", `{"status.sidecar.istio.io/port": 8080}`)},
		"the port of the agent is its own":                                       {verified, annotation("status.sidecar.istio.io/port", "15020")},
		"the agent has no port":                                                  {unverified, annotation("status.sidecar.istio.io/port", "0")},
		"the agent has the port for its health":                                  {unverified, annotation("status.sidecar.istio.io/port", "15021")},
		"the agent has no port, in the config of the proxy":                      {unverified, put(proxyConfig, `{"statusPort": 0}`)},
		"the container that redirects is overridden":                             {unverified, annotation("proxy.istio.io/overrides", `{"initContainers":[{"name":"istio-init","args":["-b",""]}]}`)},
		"the container that redirects is overridden, in another case":            {unverified, annotation("proxy.istio.io/overrides", `{"INITCONTAINERS":[{"name":"istio-init"}]}`)},
		"the name of a container that is overridden, twice":                      {unverified, annotation("proxy.istio.io/overrides", `{"initContainers":[{"name":"istio-init","args":[],"NAME":"istio-proxy"}]}`)},
		"containers that are overridden, twice":                                  {unverified, annotation("proxy.istio.io/overrides", `{"initContainers":[{"name":"istio-init"}],"initContainers":[]}`)},
		"the proxy is overridden":                                                {verified, annotation("proxy.istio.io/overrides", `{"containers":[{"name":"istio-proxy","resources":{"limits":{"cpu":"1"}}}]}`)},
		"the proxy is overridden, as a native sidecar":                           {verified, annotation("proxy.istio.io/overrides", `{"initContainers":[{"name":"istio-proxy","image":"auto"}]}`)},
		"containers that are overridden in an unknown form":                      {unverified, annotation("proxy.istio.io/overrides", `istio-init`)},
		"no sidecar is to be injected":                                           {unverified, annotation("sidecar.istio.io/inject", "false")},
		"no sidecar is to be injected, by a label":                               {unverified, label("sidecar.istio.io/inject", "false")},
		"a sidecar is to be injected, by a label":                                {verified, label("sidecar.istio.io/inject", "true")},
		"the label of a service":                                                 {verified, label("service.istio.io/canonical-name", "payments")},
		"a label of Istio of later":                                              {unverified, label("istio.io/later", "x")},
		"a sidecar is to be injected":                                            {verified, annotation("sidecar.istio.io/inject", "true")},
		"the template of a sidecar":                                              {verified, annotation("inject.istio.io/templates", "sidecar")},
		"another template":                                                       {unverified, annotation("inject.istio.io/templates", "sidecar,mine")},
		"ambient lets connections pass by":                                       {unverified, annotation("ambient.istio.io/bypass-inbound-capture", "true")},
		"an annotation of Istio of later":                                        {unverified, annotation("sidecar.istio.io/later", "x")},
		"what the injector did":                                                  {verified, annotation("sidecar.istio.io/status", `{"initContainers":["istio-init"]}`)},
		"another domain that ends alike":                                         {verified, annotation("notistio.io/inject", "false")},
		"warnings that analyzers leave out":                                      {verified, annotation("galley.istio.io/analyze-suppress", "*")},
		"the readiness of the agent":                                             {verified, annotation("readiness.status.sidecar.istio.io/periodSeconds", "2")},
		"the port of the agent, in the config of the proxy":                      {unverified, put(proxyConfig, `{"statusPort": 8080}`)},
		"the port of the agent, in the config of the proxy as in the proto file": {unverified, put(proxyConfig, `{"status_port": 8080}`)},
		"the agent's own port, in the config of the proxy":                       {verified, put(proxyConfig, `{"statusPort": 15020, "proxyMetadata": {"METRICS_LOCALHOST_ACCESS_ONLY": "true"}}`)},
		"nothing is redirected, in the config of the proxy as in the proto file": {unverified, put(proxyConfig, `{"interception_mode": "NONE"}`)},
		"nothing is redirected, in the metadata of the config":                   {unverified, put(proxyConfig, `{"proxyMetadata": {"ISTIO_META_INTERCEPTION_MODE": "NONE"}}`)},
		"metadata of the config in an unknown form":                              {unverified, put(proxyConfig, `{"proxyMetadata": "ISTIO_META_INTERCEPTION_MODE=NONE"}`)},
		"the config of the proxy as text":                                        {unverified, put(proxyConfig, `"interceptionMode: NONE"`)},
		"the config of the proxy, in two spellings":                              {unverified, put(proxyConfig, `{"statusPort": 15020, "status_port": 8080}`)},
		"nothing is redirected, in the config of the pod":                        {unverified, annotation("proxy.istio.io/config", "interceptionMode: NONE\n")},
		"the port of the agent, in the config of the pod":                        {unverified, annotation("proxy.istio.io/config", `{"statusPort": 8080}`)},
		"the config of the pod is no object":                                     {unverified, annotation("proxy.istio.io/config", "interceptionMode NONE")},
		"the config of the pod is no YAML":                                       {unverified, annotation("proxy.istio.io/config", "a: [")},
		"the config of the pod has two documents":                                {unverified, annotation("proxy.istio.io/config", "a: b\n---\ninterceptionMode: NONE\n")},
		"a config of the pod about something else":                               {verified, annotation("proxy.istio.io/config", "holdApplicationUntilProxyStarts: true\n")},
		"a config of the pod without text":                                       {verified, annotation("proxy.istio.io/config", "")},
		"annotations in a list":                                                  {unverified, put(istioNode+".metadata.ANNOTATIONS", `["traffic.sidecar.istio.io/excludeInboundPorts=8080"]`)},
		"an interface is left out, by a variable":                                {unverified, put(proxyConfig, `{"proxyMetadata": {"ISTIO_EXCLUDE_INTERFACES": "eth0"}}`)},
		"connections of an interface count as outbound, by a variable":           {unverified, put(proxyConfig, `{"proxyMetadata": {"KUBE_VIRT_INTERFACES": "eth0"}}`)},
		"nothing is applied, by a variable":                                      {unverified, put(proxyConfig, `{"proxyMetadata": {"DRY_RUN": "true"}}`)},
		"no Envoy, by a variable that CNI reads":                                 {unverified, put(proxyConfig, `{"proxyMetadata": {"DISABLE_ENVOY": "true"}}`)},
		"an interface is left out, by a variable of the pod":                     {unverified, annotation("proxy.istio.io/config", "proxyMetadata:\n  ISTIO_EXCLUDE_INTERFACES: eth0\n")},
		"variables about metrics and names":                                      {verified, annotation("proxy.istio.io/config", "proxyMetadata:\n  METRICS_LOCALHOST_ACCESS_ONLY: \"true\"\n  ISTIO_META_DNS_CAPTURE: \"true\"\n")},
		"variables about certificates and images":                                {verified, put(proxyConfig, `{"proxyMetadata": {"OUTPUT_CERTS": "/etc/istio-output-certs", "ISTIO_META_CERT_SIGNER": "clusterissuers.cert-manager.io/foo", "WASM_INSECURE_REGISTRIES": "*"}}`)},
		"a variable that ends its own text":                                      {unverified, put(proxyConfig, `{"proxyMetadata": {"SECRET_TTL": "1h\"\n    - name: DRY_RUN\n      value: \"true"}}`)},
		"a variable that is no text":                                             {unverified, put(proxyConfig, `{"proxyMetadata": {"SECRET_TTL": ["1h"]}}`)},
		"a field of the config of the proxy of later":                            {unverified, put(proxyConfig, `{"later": true}`)},
		"an image of Istio in the config of the proxy":                           {verified, put(proxyConfig, `{"image": {"imageType": "distroless"}}`)},
		"an image of others in the config of the proxy":                          {unverified, put(proxyConfig, `{"image": {"imageType": "mine"}}`)},
		"an image of others, which istio-init runs too":                          {unverified, annotation("sidecar.istio.io/proxyImage", "mine/proxy:1")},
		"an annotation that ends its own text, and is an argument of istio-init": {unverified, annotation("sidecar.istio.io/agentLogLevel", "default:info\"\n    - \"-b\"\n    - \"")},
		"an annotation for others that ends its own text":                        {unverified, annotation("traffic.sidecar.istio.io/excludeOutboundPorts", "3306\"\n    - \"-b\"\n    - \"")},
		"a log level":                                   {verified, annotation("sidecar.istio.io/agentLogLevel", "default:info")},
		"a volume":                                      {verified, annotation("sidecar.istio.io/userVolume", `{"certs": {"secret": {"secretName": "a"}}}`)},
		"a volume whose name ends its own text":         {unverified, annotation("sidecar.istio.io/userVolume", `{"certs\"\ninitContainers: []\n": {"emptyDir": {}}}`)},
		"traces to a service":                           {verified, put(proxyConfig, `{"tracing": {"zipkin": {"address": "zipkin.istio-system:9411"}}}`)},
		"settings for traces in a text that ends":       {unverified, put(proxyConfig, `{"tracing": {"tlsSettings": {"caCertificates": "/etc/a\n  initContainers: []\n/b"}}}`)},
		"more networks, over several lines":             {verified, annotation("k8s.v1.cni.cncf.io/networks", "[\n{\"name\": \"macvlan\"}\n]\n")},
		"variables for Datadog":                         {verified, annotation("apm.datadoghq.com/env", `{"DD_ENV": "prod"}`)},
		"variables for Datadog, and one that CNI reads": {unverified, annotation("apm.datadoghq.com/env", `{"DISABLE_ENVOY": "true"}`)},
		"more networks":                                 {verified, annotation("k8s.v1.cni.cncf.io/networks", `[{"name": "macvlan"}]`)},
		"more networks, in a text that ends":            {unverified, annotation("k8s.v1.cni.cncf.io/networks", `a',x: 'b`)},
		"the proxy is another program":                  {unverified, annotation("proxy.istio.io/overrides", `{"containers":[{"name":"istio-proxy","command":["sh","-c","iptables -t nat -F; exec pilot-agent proxy sidecar"]}]}`)},
		"the proxy has more rights":                     {unverified, annotation("proxy.istio.io/overrides", `{"containers":[{"name":"istio-proxy","securityContext":{"runAsUser":0}}]}`)},
		"the proxy has another image":                   {unverified, annotation("proxy.istio.io/overrides", `{"containers":[{"name":"istio-proxy","image":"mine"}]}`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := matchedSidecar(t, "", "../../examples/istio/policies", tt.edits)
			if got := outcomeOf(v); got != tt.want {
				t.Errorf("%s, want %s: %q", got, tt.want, lines(v.Unverified))
			}
		})
	}
}

// TestLabelsInAnotherForm reads a node whose labels are no object, where no policy selects by a label.
func TestLabelsInAnotherForm(t *testing.T) {
	t.Parallel()
	for _, labels := range []any{[]any{"sidecar.istio.io/inject=false"}, `{"sidecar.istio.io/inject": "false"}`, 1.0} {
		if len(passedBy(dump.Node{Metadata: map[string]any{"LABELS": labels}})) == 0 {
			t.Errorf("labels %v are taken for none", labels)
		}
	}
}

// TestAddressesOfPod holds the listeners of Istio's sidecar against the addresses that its node states.
func TestAddressesOfPod(t *testing.T) {
	t.Parallel()
	const (
		pod   = istioNode + ".id"
		bound = istioInbound + ".address.socket_address"
	)
	dual := put(istioInbound+".additional_addresses", `[{"address": {"socket_address": {"address": "::", "port_value": 15006}}}]`)
	// alone binds each port on an address, as where nothing is redirected.
	alone := func(socket string) edit {
		return func(dump any) any {
			for _, e := range []edit{put(bound, socket), drop(istioInbound + ".listener_filters.0"), drop(istioInbound + ".filter_chains.4"), put(shopHTTP+".filter_chain_match", `{}`),
				drop(istioInbound + ".filter_chains.2"), drop(istioInbound + ".filter_chains.1"), drop(istioInbound + ".filter_chains.0")} {
				dump = e(dump)
			}
			return dump
		}
	}
	for name, tt := range map[string]struct {
		want  outcome
		edits []edit
	}{
		"a listener on the address of the pod":                         {verified, []edit{alone(`{"address": "10.244.0.12", "port_value": 8080}`)}},
		"a listener on every address":                                  {verified, []edit{alone(`{"address": "0.0.0.0", "port_value": 8080}`)}},
		"a listener on every address of both families":                 {verified, []edit{alone(`{"address": "::", "port_value": 8080, "ipv4_compat": true}`)}},
		"a listener on another address":                                {unverified, []edit{alone(`{"address": "10.0.0.99", "port_value": 8080}`)}},
		"a listener on every address of IPv6":                          {unverified, []edit{alone(`{"address": "::", "port_value": 8080}`)}},
		"redirected to every address of IPv6":                          {unverified, []edit{put(bound+".address", `"::"`)}},
		"a pod of both families, and a listener of one":                {unverified, []edit{twoFamilies}},
		"a pod of both families, and a listener of both":               {verified, []edit{twoFamilies, dual}},
		"a pod of both families, of which one may be redirected alone": {unverified, []edit{put(instanceIPs, `"10.244.0.12,fd00::12"`), dual}},
		"a pod of both families, of which one is redirected alone":     {unverified, []edit{twoFamilies, put(istioNode+".metadata.PROXY_CONFIG.proxyMetadata.ISTIO_DUAL_STACK", `"false"`), dual}},
		"a pod of IPv6, and a listener of both":                        {verified, []edit{put(pod, `"sidecar~fd00::12~payments-5d4f.shop~shop.svc.cluster.local"`), dual}},
		"a pod of IPv6, and a listener of IPv4":                        {unverified, []edit{put(pod, `"sidecar~fd00::12~payments-5d4f.shop~shop.svc.cluster.local"`)}},
		"an address in the ID that is none":                            {unverified, []edit{put(pod, `"sidecar~x~payments-5d4f.shop~shop.svc.cluster.local"`)}},
		"addresses in an unknown form":                                 {unverified, []edit{put(instanceIPs, `["10.244.0.12"]`)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := matchedSidecar(t, "", "../../examples/istio/policies", tt.edits...)
			if got := outcomeOf(v); got != tt.want {
				t.Errorf("%s, want %s: %q, unknown %q", got, tt.want, lines(v.Unverified), lines(v.sidecar.Unknown))
			}
		})
	}
}

// TestUnstatedLabels holds a sidecar whose pod has labels that no flag states against policies that select by them.
func TestUnstatedLabels(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../examples/istio/policies/shop.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		want   outcome
		policy string
	}{
		"no policy selects by them": {verified, ""},
		"a policy selects by one": {unverified, `
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: later, namespace: shop}
spec: {action: DENY, selector: {matchLabels: {version: v2}}, rules: [{from: [{source: {namespaces: [metrics]}}]}]}
`},
		"tokens are for one": {unverified, `
---
apiVersion: security.istio.io/v1
kind: RequestAuthentication
metadata: {name: later, namespace: shop}
spec: {selector: {matchLabels: {version: v2}}, jwtRules: [{issuer: a, jwks: '{"keys": [{"kty": "oct", "k": "MQ"}]}'}]}
`},
		"mTLS is for one": {unverified, `
---
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: {name: later, namespace: shop}
spec: {selector: {matchLabels: {version: v2}}, mtls: {mode: PERMISSIVE}}
`},
		"a policy selects by another value": {verified, `
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: later, namespace: shop}
spec: {action: DENY, selector: {matchLabels: {version: v3}}, rules: [{from: [{source: {namespaces: [metrics]}}]}]}
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, "policies.yaml"), append([]byte(string(text)), tt.policy...), 0o600); err != nil {
				t.Fatal(err)
			}
			v := matchedSidecar(t, "", folder, put(istioNode+".metadata.LABELS.version", `"v2"`))
			if got := outcomeOf(v); got != tt.want {
				t.Errorf("%s, want %s: %q", got, tt.want, lines(v.Unverified))
			}
		})
	}
}
