package diff

import (
	"fmt"
	"testing"
)

// Nodes, other protocols and pods of other clusters call nothing in the lab: their part of a rule is held against the rules of the
// other side, by endpoints, peers and ports. Each first row narrows such a part, and each second one widens it in one respect.
func TestCoveredPartsOfCilium(t *testing.T) {
	t.Parallel()
	const (
		onX     = "fromEndpoints: [{matchLabels: {a: x}}]"
		onXY    = "fromEndpoints: [{matchLabels: {a: x, b: 'y'}}]"
		lists   = "fromEndpoints: [{matchExpressions: [{key: a, operator: In, values: [x, z]}]}]"
		of      = "fromEndpoints: [{matchLabels: {a: x, io.kubernetes.pod.namespace: 'z'}}]"
		cluster = "fromEntities: [cluster]"
		host    = "fromEntities: [host]"
		world   = "fromEntities: [world]"
		block   = "fromCIDR: [10.1.0.0/16]"
		less    = "fromCIDRSet: [{cidr: 10.1.0.0/16, except: [10.1.2.0/24]}]"
		lesser  = "fromCIDRSet: [{cidr: 10.1.0.0/16, except: [10.1.2.0/23]}]"
		ping    = "icmps: [{fields: [{type: 8}]}]"
	)
	on := func(ports string) string { return "toPorts: [{ports: [" + ports + "]}]" }
	dns := on("{port: '53'}")
	udp, tcp := on("{port: '53', protocol: UDP}"), on("{port: '53', protocol: TCP}")
	both := on("{port: '53', protocol: UDP}, {port: '53', protocol: TCP}")
	policyOf := func(kind, head, subject, rules string) string {
		return fmt.Sprintf("---\n{apiVersion: cilium.io/v2, kind: Cilium%sNetworkPolicy, metadata: {name: %s}, spec: {endpointSelector: %s, %s}}\n", kind, head, subject, rules)
	}
	allow := func(rule string) string { return policyOf("", "p, namespace: x", "{}", "ingress: [{"+rule+"}]") }
	deny := func(rule string) string {
		return policyOf("", "p, namespace: x", "{}", "ingress: [{fromEntities: [all]}], ingressDeny: [{"+rule+"}]")
	}
	ofApp := func(app, rules string) string {
		return policyOf("", app+", namespace: x", "{matchLabels: {app: "+app+"}}", rules)
	}
	http := ofApp("c", "ingress: [{toPorts: [{ports: [{port: '80', protocol: TCP}], rules: {http: [{method: GET}]}}]}]")
	for name, tt := range map[string]struct{ wide, narrow string }{
		"beside HTTP of another app":    {ofApp("b", "ingress: [{"+host+"}]") + http, ofApp("b", "ingress: [{"+host+", "+tcp+"}]") + http},
		"a protocol of every one":       {allow(onX + ", " + dns), allow(onX + ", " + udp)},
		"two protocols of every one":    {allow(onX + ", " + dns), allow(onX + ", " + both)},
		"a port of all":                 {allow(onX), allow(onX + ", " + dns)},
		"a port of UDP of all":          {allow(onX), allow(onX + ", " + udp)},
		"a port of all, of nodes":       {allow(host), allow(host + ", " + tcp)},
		"a port of all, of the cluster": {allow(cluster), allow(cluster + ", " + dns)},
		"a port of port 0":              {allow(host + ", " + on("{port: '0', protocol: UDP}")), allow(host + ", " + udp)},
		"messages of all":               {allow(onX), allow(onX + ", " + ping)},
		"a label more":                  {allow(onX + ", " + dns), allow(onXY + ", " + udp)},
		"a value less":                  {allow(lists + ", " + udp), allow(onX + ", " + udp)},
		"pods in place of the cluster":  {allow(cluster + ", " + udp), allow(of + ", " + udp)},
		"pods in place of everybody":    {allow(dns), allow(onX + ", " + dns)},
		"a node of the cluster":         {allow(cluster), allow(host)},
		"a node in place of everybody":  {allow(dns), allow(host + ", " + dns)},
		"a block of the world":          {allow(world + ", " + udp), allow(block + ", " + udp)},
		"an exception more":             {allow(block + ", " + udp), allow(less + ", " + udp)},
		"a wider exception":             {allow(less + ", " + udp), allow(lesser + ", " + udp)},
		"fewer endpoints":               {allow(host) + policyOf("", "q, namespace: x", "{}", "ingress: [{}]"), policyOf("", "p, namespace: x", "{matchLabels: {app: b}}", "ingress: [{"+host+"}]") + policyOf("", "q, namespace: x", "{}", "ingress: [{}]")},
		"endpoints of one namespace":    {policyOf("Clusterwide", "p", "{}", "ingress: [{"+host+"}]") + policyOf("Clusterwide", "q", "{}", "ingress: [{}]"), allow(host) + policyOf("Clusterwide", "q", "{}", "ingress: [{}]")},
		"a deny of all ports":           {deny(onX + ", " + dns), deny(onX)},
		"a deny of more labels":         {deny(onXY + ", " + dns), deny(onX + ", " + dns)},
		"a deny of all ports of nodes":  {deny(cluster + ", " + dns), deny(cluster)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := differenceOf(t, tt.wide, tt.narrow).widenings(); len(got) > 0 {
				t.Errorf("from wide to narrow: %q", got)
			}
			if got := differenceOf(t, tt.narrow, tt.wide).widenings(); len(got) == 0 {
				t.Errorf("nothing widens from\n%s\nto\n%s", tt.narrow, tt.wide)
			}
		})
	}
}

// Beside HTTP rules two parts have to be the same, however they are written.
func TestRewrittenPartsOfCilium(t *testing.T) {
	t.Parallel()
	policyOf := func(subject, peers, ports string) string {
		return fmt.Sprintf("{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p, namespace: x}, spec: {endpointSelector: {%s}, ingress: [{%s, toPorts: [%s]}]}}\n", subject, peers, ports)
	}
	const (
		subject = "matchLabels: {app: b}"
		peers   = "fromEndpoints: [{matchLabels: {a: x}}]"
		port    = "{ports: [{port: '53'}]}"
		http    = "{ports: [{port: '80', protocol: TCP}], rules: {http: [{method: GET}]}}"
	)
	old := policyOf(subject, peers, port+", "+http)
	for _, tt := range []struct {
		name, recent string
		widens       bool
	}{
		{"other texts", policyOf("matchExpressions: [{key: app, operator: In, values: [b]}]", "fromEndpoints: [{matchExpressions: [{key: a, operator: In, values: [x]}]}]", http+", "+port), false},
		{"a value more", policyOf(subject, "fromEndpoints: [{matchExpressions: [{key: a, operator: In, values: [x, z]}]}]", port+", "+http), true},
	} {
		if got := differenceOf(t, old, tt.recent).widenings(); len(got) > 0 != tt.widens {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}

// Each row widens in a respect in which one part seems to cover another one, or a demand goes while a rule that demands less stays. The last
// rows open nothing.
func TestUncoveredPartsOfCilium(t *testing.T) {
	t.Parallel()
	policyOf := func(kind, head, subject, rules string) string {
		return fmt.Sprintf("---\n{apiVersion: cilium.io/v2, kind: Cilium%sNetworkPolicy, metadata: {name: %s}, spec: {endpointSelector: %s, %s}}\n", kind, head, subject, rules)
	}
	allow := func(rules string) string {
		return policyOf("", "p, namespace: x", "{matchLabels: {app: b}}", "ingress: ["+rules+"]")
	}
	deny := func(rules string) string {
		return policyOf("", "p, namespace: x", "{matchLabels: {app: b}}", "ingress: [{fromEntities: [all]}], ingressDeny: ["+rules+"]")
	}
	ofInit := func(absent string) string {
		return policyOf("Clusterwide", "p", "{matchExpressions: [{key: 'reserved:init', operator: DoesNotExist}]}", "ingress: [{fromEndpoints: [{matchExpressions: [{key: '"+absent+
			"', operator: DoesNotExist}, {key: 'k8s:io.cilium.k8s.policy.cluster', operator: NotIn, values: [q]}]}], toPorts: [{ports: [{port: '53', protocol: UDP}]}]}]")
	}
	const (
		pods     = "{fromEndpoints: [{matchLabels: {a: x}}]}"
		clusters = "{fromEndpoints: [{matchLabels: {a: x}, matchExpressions: [{key: 'k8s:io.cilium.k8s.policy.cluster', operator: Exists}]}]}"
		two      = "{fromEndpoints: [{matchLabels: {a: x}, matchExpressions: [{key: 'k8s:io.cilium.k8s.policy.cluster', operator: In, values: [default, other]}]}]}"
		allPorts = "{fromEntities: [world], toPorts: [{ports: [{port: '0'}]}]}"
		tunnels  = "{fromEntities: [world], toPorts: [{ports: [{port: '0', protocol: GRE}]}]}"
		asked    = ", authentication: {mode: required}}"
		ofUDP    = "{fromEndpoints: [{matchLabels: {a: x}}], toPorts: [{ports: [{port: '53', protocol: UDP}]}]"
		ofTCP    = "{fromEndpoints: [{matchLabels: {a: x}}], toPorts: [{ports: [{port: '53', protocol: TCP}]}]"
		host     = "{fromEntities: [host]}"
		ofHost   = "{fromEntities: [host], toPorts: [{ports: [{port: '80', protocol: TCP}]"
		onHTTP   = ", rules: {http: [{method: GET}]}}]}"
		open     = "enableDefaultDeny: {ingress: false}, ingress: ["
	)
	for name, tt := range map[string]struct {
		old, recent string
		widens      bool
	}{
		"pods of each cluster":               {allow(pods), allow(clusters), true},
		"pods of another cluster too":        {allow(pods), allow(two), true},
		"a deny of the own cluster":          {deny(clusters), deny(pods), true},
		"a protocol without ports":           {allow(allPorts), allow(allPorts + ", " + tunnels), true},
		"a deny of ports alone":              {deny(tunnels), deny(allPorts), true},
		"an absent label of nodes":           {ofInit("host"), ofInit("k8s:host"), true},
		"authentication of UDP goes":         {allow(pods + ", " + ofUDP + asked), allow(pods), true},
		"authentication of TCP goes":         {allow(pods + ", " + ofTCP + asked), allow(pods), true},
		"authentication of all ports goes":   {allow(ofTCP + "}, {fromEndpoints: [{matchLabels: {a: x}}]" + asked), allow(ofTCP + "}"), true},
		"authentication of nodes goes":       {allow(host + ", " + ofHost + "}]" + asked), allow(host), true},
		"HTTP of nodes goes":                 {allow(host + ", " + ofHost + onHTTP), allow(host), true},
		"HTTP of nodes goes, unproven":       {allow(host + ", " + ofHost + ", rules: {http: [{method: GET}]}}], authentication: {mode: disabled}}"), allow(host), true},
		"authentication where none closes":   {policyOf("", "q, namespace: x", "{}", open+ofUDP+asked+"]") + allow(ofTCP+"}"), allow(ofTCP + "}"), true},
		"authentication, and its rule, goes": {allow(ofUDP + asked + ", " + host), allow(host), false},
		"the demand of another port goes":    {allow("{fromEntities: [host], toPorts: [{ports: [{port: '443', protocol: TCP}]}]}, " + ofHost + onHTTP), allow("{fromEntities: [host], toPorts: [{ports: [{port: '443', protocol: TCP}]}]}"), false},
		"the demand of other pods goes":      {allow("{fromEndpoints: [{matchLabels: {a: z}}]}, " + ofUDP + asked), allow("{fromEndpoints: [{matchLabels: {a: z}}]}"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := differenceOf(t, tt.old, tt.recent).widenings(); len(got) > 0 != tt.widens {
				t.Errorf("from\n%s\nto\n%s: %q", tt.old, tt.recent, got)
			}
		})
	}
}
