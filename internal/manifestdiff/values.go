package manifestdiff

import (
	"cmp"
	"regexp"
	"strings"
)

// stated finds settings of a mesh in the values of a chart, in parameters such as {name: proxy.a, value: b}, and in flags.
var stated = regexp.MustCompile(`(?:\\n|\b)(rootNamespace|istioNamespace|trustDomain|trustDomainAliases|pathNormalization|extensionProviders|` +
	`policyEnforcementMode|enable-policy|enablePolicy|policyAuditMode|policy-audit-mode|policyCIDRMatchMode|policy-cidr-match-mode|policy-default-local-cluster|l7Proxy|enable-l7-proxy|` +
	`defaultInboundPolicy|default-inbound-policy|identityTrustDomain|clusterDomain|clusterNetworks)\b[\w.\[\]]*["'\\]*(?::|=|, *"?value"?:) *["'\\]*([^\s"',}\\]+)`)

// Settings by the names that charts and flags have for them, with their defaults.
var (
	closing  = map[string]string{"policyEnforcementMode": "default", "enable-policy": "default", "enablePolicy": "default"}
	ofCilium = map[string]string{
		"policyAuditMode": "false", "policy-audit-mode": "false", "policyCIDRMatchMode": "null", "policy-cidr-match-mode": "", "policy-default-local-cluster": "true",
		"l7Proxy": "true", "enable-l7-proxy": "true",
	}
	ofLinkerd = map[string]string{"identityTrustDomain": "cluster.local", "clusterDomain": "cluster.local", "clusterNetworks": "10.0.0.0/8"}
	inbound   = map[string]string{"defaultInboundPolicy": "all-unauthenticated", "default-inbound-policy": "all-unauthenticated"}
)

// sets returns the field of an object that may set up a mesh where one of these settings is not its default: an object of an operator or of a tool that
// installs a chart, the values of a chart, also in a ConfigMap. It returns "" where there is none.
func (o object) sets(defaults map[string]string) string {
	if !o.isOfMeshConfig() && !o.isNone() && o.kind != "ConfigMap" {
		return ""
	}
	for _, key := range o.doc.Keys() {
		at, _ := o.doc.Lookup(key)
		for _, found := range stated.FindAllStringSubmatch(key+": "+at.Flow(), -1) {
			if usual, known := defaults[found[1]]; known && found[2] != usual {
				return key
			}
		}
	}
	return ""
}

// installsElsewhere reports whether an object of Flux or Argo CD installs a chart of that name, in another namespace than the usual one.
func (o object) installsElsewhere(chart, usual string) bool {
	text := func(keys ...string) string { text, _ := fieldOf(o.fields, keys...).(string); return text }
	in := cmp.Or(text("spec", "targetNamespace"), text("spec", "destination", "namespace"), o.written())
	return in != "" && in != usual && anyIn(o.fields, func(value any) bool {
		of, _ := fieldOf(value, "chart").(string)
		return of == chart || strings.HasSuffix(of, "/"+chart)
	})
}
