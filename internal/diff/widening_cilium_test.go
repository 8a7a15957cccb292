package diff

import (
	"fmt"
	"strings"
	"testing"
)

// Each row widens what policies of Cilium let in: to callers that can exist, on ports by number and
// by name, and by less proof.
func TestWideningOfCilium(t *testing.T) {
	t.Parallel()
	named := func(name, spec string) string {
		return fmt.Sprintf("---\n{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: %s, namespace: x}, spec: {endpointSelector: {matchLabels: {app: b}}, %s}}\n", name, spec)
	}
	allow := func(peers, more string) string {
		return named("p", "ingress: [{fromEndpoints: ["+peers+"]"+more+"}]")
	}
	deny := func(name, peers string) string {
		return named(name, "ingressDeny: [{fromEndpoints: ["+peers+"]}]")
	}
	labels := func(text string) string { return "{matchLabels: {" + text + "}}" }
	asks := func(all ...string) string { return "{matchExpressions: [" + strings.Join(all, ", ") + "]}" }
	in := func(key, values string) string {
		return "{key: " + key + ", operator: In, values: [" + values + "]}"
	}
	notIn := func(key, values string) string {
		return "{key: " + key + ", operator: NotIn, values: [" + values + "]}"
	}
	lacks := func(key string) string { return "{key: " + key + ", operator: DoesNotExist}" }
	of := func(name, subject, spec string) string {
		return strings.Replace(named(name, spec), "{matchLabels: {app: b}}", subject, 1)
	}
	const anyone = "{}"
	const closed = "ingress: [{}]"
	const calls = "egress: [{toFQDNs: [{matchName: a.example}]}, {toEntities: [world]}]"
	nodes := func(entities string) string { return named("p", "ingress: [{fromEntities: ["+entities+"]}]") }
	anyPort := ", toPorts: [{ports: [{port: '80'}]}]"
	onPorts := func(rules, first, more string) string {
		return named("p", rules+": [{toPorts: [{ports: [{port: '"+first+"'"+more+"}]}]}]")
	}
	nodesOn := func(first, more string) string {
		return named("p", "ingress: [{fromEntities: [host], toPorts: [{ports: [{port: '"+first+"'"+more+"}]}]}]")
	}
	portsOf := func(ports ...string) string {
		return allow(labels("a: x"), ", toPorts: [{ports: [{protocol: TCP, port: '"+strings.Join(ports, "}, {protocol: TCP, port: '")+"}]}]")
	}
	const someHTTP = "ingress: [{fromEntities: [host], toPorts: [{ports: [{port: '85', protocol: TCP}], rules: {http: [{method: GET}]}}]}]"
	for name, tt := range map[string]struct{ old, recent string }{
		"fewer labels of all protocols":                    {allow(labels("a: x"), ""), allow(labels("a: x, b: 'y'"), "")},
		"one peer less":                                    {allow(labels("a: x")+", "+labels("a: 'y'"), ""), allow(labels("a: x"), "")},
		"one peer less beside a port":                      {allow(labels("a: x")+", "+labels("a: 'y'"), "") + named("q", "ingress: [{fromEndpoints: [{}], toPorts: [{ports: [{port: '80', protocol: TCP}]}]}]"), allow(labels("a: x"), "") + named("q", "ingress: [{fromEndpoints: [{}], toPorts: [{ports: [{port: '80', protocol: TCP}]}]}]")},
		"a shorter range of ports":                         {onPorts("ingress", "80", ", endPort: 90, protocol: TCP"), onPorts("ingress", "81", ", endPort: 90, protocol: TCP")},
		"one port of a range":                              {onPorts("ingress", "80", ", endPort: 90"), onPorts("ingress", "90", "")},
		"a range in parts":                                 {portsOf("80', endPort: 90"), portsOf("80', endPort: 84", "85'", "86', endPort: 90")},
		"every port in parts":                              {portsOf("1', endPort: 65535"), portsOf("1', endPort: 80", "81', endPort: 65535")},
		"a shorter range of UDP, of nodes":                 {nodesOn("80", ", endPort: 90, protocol: UDP"), nodesOn("80", ", endPort: 85, protocol: UDP")},
		"UDP in place of every protocol, of nodes":         {nodesOn("80", ""), nodesOn("80", ", protocol: UDP")},
		"a deny of a longer range":                         {named("q", "ingress: [{fromEntities: [cluster]}]") + onPorts("ingressDeny", "80", ", endPort: 90, protocol: TCP"), named("q", "ingress: [{fromEntities: [cluster]}]") + onPorts("ingressDeny", "80", ", endPort: 99, protocol: TCP")},
		"a deny of every protocol":                         {named("q", "ingress: [{fromEntities: [cluster]}]") + onPorts("ingressDeny", "80", ", protocol: TCP"), named("q", "ingress: [{fromEntities: [cluster]}]") + onPorts("ingressDeny", "80", "")},
		"pods in place of the cluster":                     {named("p", "ingress: [{fromEntities: [cluster]}]"), allow(anyone, "")},
		"one port less of the cluster":                     {named("p", "ingress: [{fromEntities: [cluster], toPorts: [{ports: [{port: '80', protocol: TCP}, {port: '81', protocol: TCP}]}]}]"), named("p", "ingress: [{fromEntities: [cluster], toPorts: [{ports: [{port: '80', protocol: TCP}]}]}]")},
		"the cluster in place of all":                      {named("p", "ingress: [{fromEntities: [all]}]"), named("p", "ingress: [{fromEntities: [cluster]}]")},
		"the mesh in place of all":                         {named("p", "ingress: [{fromEntities: [all]}]"), named("p", "ingress: [{fromEntities: [cluster-mesh]}]")},
		"the own cluster, written":                         {allow(asks(in("a", "x")), ""), allow(labels("a: x, io.cilium.k8s.policy.cluster: default"), "")},
		"the own cluster alone":                            {allow(asks(in("a", "x"), "{key: io.cilium.k8s.policy.cluster, operator: Exists}"), ""), allow(labels("a: x"), "")},
		"clusters, with the source":                        {allow(asks("{key: io.cilium.k8s.policy.cluster, operator: Exists}", in("a", "x, 'y'")), ""), allow(asks(in("a", "'y', x"), "{key: 'k8s:io.cilium.k8s.policy.cluster', operator: Exists}"), "")},
		"any HTTP in place of anything":                    {allow(anyone, ", toPorts: [{ports: [{port: '8080', protocol: TCP}]}]"), allow(anyone, ", toPorts: [{ports: [{port: '8080', protocol: TCP}], rules: {http: [{}]}}]")},
		"a default deny beside a rule":                     {allow(labels("a: x"), ""), allow(labels("a: x"), "") + of("q", "{}", closed)},
		"a default deny that names no authentication":      {allow(labels("a: x"), ", authentication: {mode: required}"), allow(labels("a: x"), ", authentication: {mode: required}") + of("q", "{}", "ingress: [{authentication: {mode: disabled}}]")},
		"an empty rule with authentication":                {named("p", closed), named("p", "ingress: [{authentication: {mode: disabled}}]")},
		"an empty deny":                                    {named("p", closed), named("p", "ingressDeny: [{}]")},
		"the first policy of another app":                  {allow(labels("a: x"), ""), allow(labels("a: x"), "") + of("q", "{matchLabels: {app: c}}", "ingress: [{fromEndpoints: [{matchLabels: {app: b}}]}]")},
		"the first policy of another app, of its nodes":    {allow(labels("a: x"), ""), allow(labels("a: x"), "") + of("q", "{matchLabels: {app: c}}", "ingress: [{fromEntities: [all, host], toPorts: [{ports: [{port: '53', protocol: UDP}]}]}]")},
		"the first policy of what has no such label":       {allow(labels("a: x"), ""), allow(labels("a: x"), "") + of("q", asks(notIn("app", "b"), in("app", "b, c")), "ingress: [{fromEntities: [cluster]}]")},
		"the first policy of all":                          {"", allow(anyone, "")},
		"the first policy of calls alone":                  {allow(labels("a: x"), ""), allow(labels("a: x"), "") + named("q", "egress: [{toEntities: [world]}]")},
		"the first rules of calls":                         {named("p", "ingress: [{}]"), named("p", "ingress: [{}], egress: [{toFQDNs: [{matchName: a.example}]}]")},
		"the first calls of another app":                   {named("p", "egress: [{}]"), named("p", "egress: [{}]") + of("q", "{matchLabels: {app: c}}", "egress: [{toEntities: [world]}]")},
		"another name of a policy of calls":                {named("p", "ingress: [{}], "+calls), named("q", "ingress: [{}], "+calls)},
		"another name of a policy of calls alone":          {allow(anyone, "") + named("q", calls), allow(anyone, "") + named("r", calls)},
		"another order of calls":                           {named("p", calls), named("p", "egress: [{toEntities: [world]}, {toFQDNs: [{matchName: a.example}]}]")},
		"calls in a policy of their own":                   {named("p", "ingress: [{}], "+calls), named("p", "ingress: [{}]") + named("q", calls)},
		"calls in two policies":                            {named("p", calls), named("p", "egress: [{toEntities: [world]}]") + named("q", "egress: [{toFQDNs: [{matchName: a.example}]}]")},
		"calls in a list of specs":                         {named("p", calls), strings.TrimSuffix(strings.Replace(named("p", calls), "spec: {", "specs: [{", 1), "}\n") + "]}\n"},
		"the first calls of what is open":                  {of("q", "{}", closed), of("q", "{}", closed) + named("p", "enableDefaultDeny: {egress: false}, egress: [{toEntities: [world]}]")},
		"a policy of every protocol has another name":      {allow(anyone, anyPort), strings.Replace(allow(anyone, anyPort), "name: p", "name: q", 1)},
		"a policy of nodes has another name":               {nodes("host"), strings.Replace(nodes("host"), "name: p", "name: q", 1)},
		"nodes in another order":                           {nodes("host, remote-node"), nodes("remote-node, host")},
		"nodes in two rules":                               {nodes("host, remote-node"), named("p", "ingress: [{fromEntities: [host]}, {fromEntities: [remote-node]}]")},
		"a node less":                                      {nodes("host, remote-node"), nodes("host")},
		"the source of a label in the subject":             {of("p", "{matchLabels: {app: b}}", "ingress: [{fromEntities: [all]}]"), of("p", "{matchLabels: {'k8s:app': b}}", "ingress: [{fromEntities: [all]}]")},
		"the own namespace in the subject":                 {of("p", "{matchLabels: {app: b}}", "ingress: [{fromEntities: [all, host]}]"), of("p", "{matchLabels: {app: b, 'k8s:io.kubernetes.pod.namespace': x}}", "ingress: [{fromEntities: [all, host]}]")},
		"a policy goes beside a list that has its app":     {of("q", asks(in("app", "b, c")), closed) + allow(labels("a: x"), ""), of("q", asks(in("app", "b, c")), closed)},
		"a policy goes beside exceptions that lack it":     {of("q", asks(notIn("app", "c")), closed) + allow(labels("a: x"), ""), of("q", asks(notIn("app", "c")), closed)},
		"a policy goes beside the default deny of all":     {of("q", "{}", closed) + allow(labels("a: x"), ""), of("q", "{}", closed)},
		"a policy selects less beside the default deny":    {of("q", "{}", closed) + allow(labels("a: x"), ""), of("q", "{}", closed) + of("p", "{matchLabels: {app: b, tier: a}}", "ingress: [{fromEndpoints: [{matchLabels: {a: x}}]}]")},
		"a policy goes beside the clusterwide deny of all": {strings.Replace(strings.Replace(of("q", "{}", closed), "NetworkPolicy", "ClusterwideNetworkPolicy", 1), ", namespace: x", "", 1) + allow(labels("a: x"), ""), strings.Replace(strings.Replace(of("q", "{}", closed), "NetworkPolicy", "ClusterwideNetworkPolicy", 1), ", namespace: x", "", 1)},
	} {
		if got := differenceOf(t, tt.old, tt.recent).widenings(); len(got) > 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
	for name, tt := range map[string]struct{ same, old, recent string }{
		"the second values of two lists":      {"", allow(labels("role: web")+", "+labels("env: staging"), ""), allow(labels("role: web")+", "+labels("env: staging")+", "+asks(in("role", "web, api"), in("env", "staging, prod")), "")},
		"the second namespace of two lists":   {"", allow(labels("io.kubernetes.pod.namespace: x")+", "+labels("app: web"), ""), allow(labels("io.kubernetes.pod.namespace: x")+", "+labels("app: web")+", "+asks(in("app", "web, cron"), in("io.kubernetes.pod.namespace", "x, 'y'")), "")},
		"a second value beside a deny":        {deny("d", asks(notIn("vetted", "'true'"))), allow(labels("role: web, vetted: 'true'"), ""), allow(labels("role: web, vetted: 'true'")+", "+asks(in("env", "staging"), in("role", "web, cron")), "")},
		"an account, which each pod has":      {"", allow(asks("{key: io.cilium.k8s.policy.serviceaccount, operator: Exists}", lacks("tier")), ""), allow(asks("{key: io.cilium.k8s.policy.serviceaccount, operator: Exists}", lacks("tier"))+", "+asks(notIn("role", "web")), "")},
		"a label less":                        {"", allow(labels("a: x, b: 'y'"), ""), allow(labels("a: x"), "")},
		"a value more":                        {"", allow(asks(in("a", "x")), ""), allow(asks(in("a", "x, 'y'")), "")},
		"a lack less":                         {"", allow(asks(in("a", "x"), lacks("b")), ""), allow(asks(in("a", "x")), "")},
		"another namespace":                   {"", allow(anyone, ""), allow(labels("io.kubernetes.pod.namespace: 'y'"), "")},
		"every namespace":                     {"", allow(labels("a: x"), ""), allow(asks(in("a", "x"), "{key: io.kubernetes.pod.namespace, operator: Exists}"), "")},
		"a deny of all other accounts":        {of("d", asks(notIn("io.cilium.k8s.policy.serviceaccount", "a")), "ingressDeny: [{fromEndpoints: [{}]}]"), allow(labels("a: x"), ""), allow(anyone, "")},
		"another account":                     {"", allow(labels("io.cilium.k8s.policy.serviceaccount: a"), ""), allow(asks(in("io.cilium.k8s.policy.serviceaccount", "a, b")), "")},
		"a deny of two labels":                {allow(anyone, ""), deny("d", labels("a: x")), deny("d", labels("a: x, b: 'y'"))},
		"denies of lacks, which meet no one":  {allow(anyone, ""), deny("d", asks(notIn("a", "x"))), deny("d", asks(notIn("a", "x"), notIn("b", "'y'"))) + deny("e", asks(notIn("a", "x"), notIn("c", "z")))},
		"denies of three lacks":               {allow(anyone, ""), deny("d", asks(lacks("a"))), deny("d", asks(lacks("a"), lacks("b"))) + deny("e", asks(lacks("a"), lacks("c"))) + deny("f", asks(lacks("a"), lacks("d")))},
		"the cluster":                         {"", allow(anyone, ""), named("p", "ingress: [{fromEntities: [cluster]}]")},
		"a clusterwide policy":                {allow(labels("a: x"), ""), "", "---\n{apiVersion: cilium.io/v2, kind: CiliumClusterwideNetworkPolicy, metadata: {name: c}, spec: {endpointSelector: {}, ingress: [{fromEndpoints: [{matchLabels: {q: r}}]}]}}\n"},
		"another port by its name":            {"", allow(anyone, ", toPorts: [{ports: [{port: web}]}]"), allow(anyone, ", toPorts: [{ports: [{port: web}, {port: adm}]}]")},
		"a deny of a port by its name":        {allow(anyone, ""), named("d", "ingressDeny: [{fromEndpoints: [{}], toPorts: [{ports: [{port: adm}]}]}]"), ""},
		"a method on a port by its name":      {"", allow(anyone, ", toPorts: [{ports: [{port: web, protocol: TCP}], rules: {http: [{method: GET}]}}]"), allow(anyone, ", toPorts: [{ports: [{port: web, protocol: TCP}], rules: {http: [{}]}}]")},
		"no authentication":                   {"", allow(anyone, ", authentication: {mode: required}"), allow(anyone, "")},
		"a node":                              {"", allow(anyone, ""), named("p", "ingress: [{fromEndpoints: [{}]}, {fromEntities: [host]}]")},
		"a node by its label":                 {"", allow(anyone, ""), allow(anyone+", {matchLabels: {'reserved:remote-node': ''}}", "")},
		"a node beside an empty list":         {"", named("p", "ingress: [{fromEndpoints: [], fromEntities: [host]}]"), nodes("host")},
		"a deny beside an empty list":         {named("q", "ingress: [{fromEntities: [world]}]"), named("d", "ingressDeny: [{fromEntities: [world]}]"), named("d", "ingressDeny: [{fromEndpoints: [], fromEntities: [world]}]")},
		"a deny of a node":                    {allow(anyone, ""), named("d", "ingressDeny: [{fromEntities: [host]}]"), ""},
		"UDP":                                 {"", allow(anyone, ""), named("p", "ingress: [{fromEndpoints: [{}]}, {fromEntities: [world], toPorts: [{ports: [{port: '53', protocol: UDP}]}]}]")},
		"every protocol":                      {"", allow(anyone, ", toPorts: [{ports: [{port: '53', protocol: TCP}]}]"), allow(anyone, ", toPorts: [{ports: [{port: '53'}]}]")},
		"a deny of UDP":                       {allow(anyone, ""), named("d", "ingressDeny: [{fromEntities: [world], toPorts: [{ports: [{port: '53', protocol: UDP}]}]}]"), ""},
		"ICMP":                                {"", allow(anyone, ""), named("p", "ingress: [{fromEndpoints: [{}]}, {fromEntities: [world], icmps: [{fields: [{type: 8}]}]}]")},
		"every protocol, by no port":          {"", allow(anyone, ", toPorts: [{ports: [{port: '0', protocol: TCP}]}]"), allow(anyone, "")},
		"every protocol, by a range":          {"", allow(anyone, ", toPorts: [{ports: [{port: '1', endPort: 65535, protocol: TCP}]}]"), allow(anyone, "")},
		"a policy of all TCP ports goes":      {named("q", "egress: [{}]"), named("p", "ingress: [{toPorts: [{ports: [{port: '0', protocol: TCP}]}]}]"), ""},
		"no default deny":                     {"", named("p", "ingress: [{toPorts: [{ports: [{port: '0', protocol: TCP}]}]}]"), named("p", "enableDefaultDeny: {ingress: false}, ingress: [{toPorts: [{ports: [{port: '0', protocol: TCP}]}]}]")},
		"two peers swap their protocols":      {"", named("p", "ingress: [{fromEndpoints: [{matchLabels: {a: x}}], toPorts: [{ports: [{port: '80', protocol: ANY}]}]}, {fromEndpoints: [{matchLabels: {a: 'y'}}], toPorts: [{ports: [{port: '80', protocol: TCP}]}]}]"), named("p", "ingress: [{fromEndpoints: [{matchLabels: {a: x}}], toPorts: [{ports: [{port: '80', protocol: TCP}]}]}, {fromEndpoints: [{matchLabels: {a: 'y'}}], toPorts: [{ports: [{port: '80', protocol: ANY}]}]}]")},
		"a deny of a port without a protocol": {named("q", "ingress: [{}]"), named("d", "ingressDeny: [{fromEndpoints: [{matchLabels: {a: x}}], toPorts: [{ports: [{port: '80'}]}]}]"), named("d", "ingressDeny: [{fromEndpoints: [{matchLabels: {a: x}}], toPorts: [{ports: [{port: '80', protocol: TCP}]}]}]")},
		"a deny of TCP alone":                 {allow(anyone, ""), deny("d", labels("a: x")), named("d", "ingressDeny: [{fromEndpoints: [{matchLabels: {a: x}}], toPorts: [{ports: [{port: '0', protocol: TCP}]}]}]")},
		"the nodes of the cluster":            {"", allow(asks("{key: io.kubernetes.pod.namespace, operator: Exists}"), ""), named("p", "ingress: [{fromEntities: [cluster]}]")},
		"the nodes of everything":             {"", named("p", "ingress: [{fromEntities: [world]}, {fromEndpoints: ["+asks("{key: io.kubernetes.pod.namespace, operator: Exists}")+"]}]"), named("p", "ingress: [{fromEntities: [all]}]")},
		"the nodes, by no peer":               {"", named("p", "ingress: [{fromEntities: [world]}, {fromEndpoints: ["+asks("{key: io.kubernetes.pod.namespace, operator: Exists}")+"]}]"), named("p", "ingress: [{toPorts: [{ports: [{port: '0'}]}]}]")},
		"a deny without the nodes":            {named("q", "ingress: [{toPorts: [{ports: [{port: '0'}]}]}]"), named("d", "ingressDeny: [{fromEntities: [all]}]"), named("d", "ingressDeny: [{fromEntities: [world]}, {fromEndpoints: ["+asks("{key: io.kubernetes.pod.namespace, operator: Exists}")+"]}]")},
		"any HTTP becomes any protocol":       {"", allow(anyone, ", toPorts: [{ports: [{port: '8080', protocol: TCP}], rules: {http: [{}]}}]"), allow(anyone, ", toPorts: [{ports: [{port: '8080', protocol: TCP}]}]")},
		"pods of every cluster":               {"", allow(labels("a: x"), ""), allow(asks(in("a", "x"), "{key: io.cilium.k8s.policy.cluster, operator: Exists}"), "")},
		"pods of clusters but one":            {"", allow(labels("a: x"), ""), allow(asks(in("a", "x"), notIn("'k8s:io.cilium.k8s.policy.cluster'", "'y'")), "")},
		"pods of another cluster too":         {"", allow(labels("a: x"), ""), allow(asks(in("a", "x"), in("io.cilium.k8s.policy.cluster", "default, 'y'")), "")},
		"pods of another cluster, on a port":  {"", allow(asks(in("io.cilium.k8s.policy.cluster", "default")), ", toPorts: [{ports: [{port: '80', protocol: TCP}]}]"), allow(asks("{key: io.cilium.k8s.policy.cluster, operator: Exists}"), ", toPorts: [{ports: [{port: '80', protocol: TCP}]}]")},
		"a deny of the own cluster alone":     {named("q", "ingress: [{fromEntities: [cluster-mesh]}]"), deny("d", asks(in("a", "x"), "{key: io.cilium.k8s.policy.cluster, operator: Exists}")), deny("d", labels("a: x"))},
		"all in place of its parts":           {"", named("p", "ingress: [{fromEntities: [cluster, world]}]"), named("p", "ingress: [{fromEntities: [all]}]")},
		"no peer in place of the parts":       {"", named("p", "ingress: [{fromEntities: [cluster, world]}]"), named("p", "ingress: [{toPorts: [{ports: [{port: '0'}]}]}]")},
		"a deny of the parts of all":          {named("q", "ingress: [{fromEntities: [all]}]"), named("d", "ingressDeny: [{fromEntities: [all]}]"), named("d", "ingressDeny: [{fromEntities: [cluster, world]}]")},
		"the mesh of clusters, second":        {"", named("p", "ingress: [{fromEntities: [cluster]}]"), named("p", "ingress: [{fromEntities: [cluster, cluster-mesh]}]")},
		"UDP of peers of every namespace":     {"", named("p", "ingress: [{fromEndpoints: [{matchLabels: {a: x}}], toPorts: [{ports: [{port: '53', protocol: UDP}]}]}]"), strings.NewReplacer("NetworkPolicy", "ClusterwideNetworkPolicy", ", namespace: x", "", "{app: b}", "{app: b, io.kubernetes.pod.namespace: x}").Replace(named("p", "ingress: [{fromEndpoints: [{matchLabels: {a: x}}], toPorts: [{ports: [{port: '53', protocol: UDP}]}]}]"))},
		"another app may be this one":         {allow(labels("a: x"), ""), "", of("q", "{matchLabels: {tier: c}}", "ingress: [{fromEntities: [host]}]")},
		"another app beside a deny of all":    {of("q", "{}", closed), "", of("p", "{matchLabels: {app: c}}", "ingress: [{fromEntities: [host]}]")},
		"another app beside a lesser policy":  {of("q", "{}", "enableDefaultDeny: {ingress: false}, ingressDeny: [{fromEntities: [world]}]"), "", of("p", "{matchLabels: {app: c}}", "ingress: [{fromEntities: [host]}]")},
		"another app in closed namespaces":    {strings.Replace(strings.Replace(of("q", "{}", closed), "NetworkPolicy", "ClusterwideNetworkPolicy", 1), ", namespace: x", "", 1), "", of("p", "{matchLabels: {app: c}}", "ingress: [{fromEntities: [host]}]")},
		"more calls":                          {"", named("p", "egress: [{toEntities: [host]}]"), named("p", "egress: [{toEntities: [host]}, {toEntities: [world]}]")},
		"calls of another app in its place":   {"", of("q", "{matchLabels: {app: b}}", "egress: [{toEntities: [host]}]"), of("q", "{matchLabels: {app: c}}", "egress: [{toEntities: [host]}]")},
		"calls beside others of all":          {of("q", "{}", "egress: [{}]"), "", named("p", "egress: [{toEntities: [world]}]")},
		"calls beside a deny of the cluster":  {strings.Replace(strings.Replace(of("q", "{}", "egressDeny: [{toEntities: [world]}]"), "NetworkPolicy", "ClusterwideNetworkPolicy", 1), ", namespace: x", "", 1), "", named("p", "egress: [{toEntities: [world]}]")},
		"one call less, which the other has":  {named("q", "egress: [{toEntities: [host]}]"), named("p", "egress: [{toEntities: [world]}]"), named("p", "egress: [{toEntities: [host]}]")},
		"calls become denied calls":           {"", named("p", "egress: [{toEntities: [host]}]"), named("q", "egressDeny: [{toEntities: [host]}]")},
		"calls become calls of a namespace":   {"", named("p", calls), strings.Replace(named("q", calls), "namespace: x", "namespace: 'y'", 1)},
		"calls become calls of all":           {"", named("p", calls), strings.NewReplacer("NetworkPolicy", "ClusterwideNetworkPolicy", ", namespace: x", "").Replace(named("q", calls))},
		"calls that close nothing":            {"", named("p", calls), named("q", "enableDefaultDeny: {egress: false}, "+calls)},
		"no rules of calls":                   {"", named("p", "ingress: [{}], egress: [{}]"), named("p", "ingress: [{}]")},
		"a policy of calls ends":              {allow(anyone, ""), named("q", "egress: [{}]"), ""},
		"two ports become a range":            {"", portsOf("80'", "90'"), portsOf("80', endPort: 90")},
		"each second port becomes a range":    {"", portsOf("80'", "81'", "82'", "84'", "90'"), portsOf("80', endPort: 90")},
		"two ranges become one":               {"", portsOf("80', endPort: 82", "88', endPort: 90"), portsOf("80', endPort: 90")},
		"all ports but one inside a range":    {"", portsOf("80', endPort: 84", "86', endPort: 90"), portsOf("80', endPort: 90")},
		"a range within every port":           {"", portsOf("80', endPort: 90"), portsOf("1', endPort: 65535")},
		"a deny of a range keeps its ends":    {allow(anyone, ""), named("d", "ingressDeny: [{fromEndpoints: [{}], toPorts: [{ports: [{port: '80', endPort: 90, protocol: TCP}]}]}]"), named("d", "ingressDeny: [{fromEndpoints: [{}], toPorts: [{ports: [{port: '80', protocol: TCP}, {port: '90', protocol: TCP}]}]}]")},
		"a longer range of ports":             {"", onPorts("ingress", "80", ", endPort: 90, protocol: UDP"), onPorts("ingress", "80", ", endPort: 91, protocol: UDP")},
		"an earlier range, of nodes":          {"", nodesOn("80", ", endPort: 90, protocol: TCP"), nodesOn("79", ", endPort: 90, protocol: TCP")},
		"the range of another protocol":       {"", nodesOn("80", ", endPort: 90, protocol: SCTP"), nodesOn("80", ", endPort: 90, protocol: UDP")},
		"every protocol of a shorter range":   {"", nodesOn("80", ", endPort: 90, protocol: UDP"), nodesOn("80", ", endPort: 85")},
		"a deny of a shorter range":           {named("q", "ingress: [{fromEntities: [host]}]"), named("d", "ingressDeny: [{toPorts: [{ports: [{port: '80', endPort: 90}]}]}]"), named("d", "ingressDeny: [{toPorts: [{ports: [{port: '80', endPort: 89}]}]}]")},
		"a shorter range beside HTTP":         {named("q", someHTTP), nodesOn("80", ", endPort: 90, protocol: TCP"), nodesOn("85", ", protocol: TCP")},
		"nodes on another port":               {"", named("p", "ingress: [{fromEntities: [host], toPorts: [{ports: [{port: '80', protocol: TCP}]}]}]"), named("p", "ingress: [{fromEntities: [host], toPorts: [{ports: [{port: '81', protocol: TCP}]}]}]")},
		"nodes and ports change places":       {"", named("p", "ingress: [{fromEntities: [host], toPorts: [{ports: [{port: '80', protocol: TCP}]}]}, {fromEntities: [remote-node], toPorts: [{ports: [{port: '81', protocol: TCP}]}]}]"), named("p", "ingress: [{fromEntities: [remote-node], toPorts: [{ports: [{port: '80', protocol: TCP}]}]}, {fromEntities: [host], toPorts: [{ports: [{port: '81', protocol: TCP}]}]}]")},
		"nodes without authentication":        {"", named("p", "ingress: [{fromEntities: [host], authentication: {mode: required}}]"), nodes("host")},
		"a policy goes beside a lesser deny":  {of("q", "{matchLabels: {tier: c}}", closed), named("p", "ingress: [{toPorts: [{ports: [{port: '0', protocol: TCP}]}]}]"), ""},
		"a default deny of another namespace": {strings.Replace(of("q", "{}", closed), "namespace: x", "namespace: 'y'", 1), named("p", "ingress: [{toPorts: [{ports: [{port: '0', protocol: TCP}]}]}]"), ""},
		"authentication is off":               {"", allow(anyone, ", authentication: {mode: required}"), allow(anyone, ", authentication: {mode: disabled}")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if n := len(differenceOf(t, tt.same+tt.old, tt.same+tt.recent).widenings()); n == 0 {
				t.Errorf("nothing widens from\n%s\nto\n%s\nbeside\n%s", tt.old, tt.recent, tt.same)
			}
			if back := differenceOf(t, tt.same+tt.old, tt.same+tt.old).widenings(); len(back) > 0 {
				t.Errorf("no change widens: %q", back)
			}
		})
	}
}

// Only Cilium says something of other protocols than TCP. Where policies of another dialect stand in the place of its
// own, diff says so. compare does not: it is about what both dialects speak of.
func TestWideningToAnotherDialect(t *testing.T) {
	t.Parallel()
	const (
		cilium = "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p, namespace: default}, spec: {endpointSelector: {}, %s}}\n"
		istio  = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: default}, spec: {}}\n"
	)
	for spec, want := range map[string]bool{
		"ingress: [{}]": true,
		"enableDefaultDeny: {ingress: false}, ingressDeny: [{fromEntities: [world]}]": true,
		"enableDefaultDeny: {ingress: false}, ingress: [{fromEntities: [world]}]":     false,
	} {
		old, recent := sideOf(t, fmt.Sprintf(cilium, spec)), sideOf(t, istio)
		for _, way := range []struct {
			old, recent Side
			compare     func(a, b Side, to string) (*Difference, error)
			want        bool
		}{{old, recent, Diff, want}, {recent, old, Diff, false}, {old, recent, DiffBeside, false}} {
			d, err := way.compare(way.old, way.recent, "")
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(strings.Join(d.Opens, "; "), "of another dialect"); got != way.want {
				t.Errorf("%s: %q", spec, d.Opens)
			}
		}
	}
}
