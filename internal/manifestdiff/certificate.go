package manifestdiff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// ordinary are the fields of a Certificate of a host. A Certificate with others may be an authority, or the
// identity of a caller.
var ordinary = fields(`spec.secretName spec.dnsNames[] spec.ipAddresses[] spec.commonName spec.subject spec.duration spec.renewBefore spec.renewBeforePercentage
	spec.issuerRef spec.privateKey spec.usages[] spec.keystores spec.revisionHistoryLimit spec.encodeUsagesInRequest`)

// isUsed reports whether a mesh may use a certificate of cert-manager, or what an issuer issues: something names
// its Secret, it is no certificate of a host, or such a certificate is of the issuer.
func (c *comparison) isUsed(o object) bool {
	switch o.kind {
	case "Certificate":
		return c.namesSecret(fmt.Sprint(fieldvalue.Lookup(o.fields, "spec", "secretName"))) || unknownField("spec", fieldvalue.Lookup(o.fields, "spec"), ordinary) != "" || c.isIdentityName(fieldvalue.Lookup(o.fields, "spec")) || c.isTrusted(o)
	default:
		for _, other := range slices.Concat(c.oldObjects.all, c.recentObjects.all) {
			if other.kind == "Certificate" && fieldvalue.Lookup(other.fields, "spec", "issuerRef", "name") == o.name && (other.category != config || c.isUsed(other)) {
				return true
			}
		}
		return c.namesSecret(fmt.Sprint(fieldvalue.Lookup(o.fields, "spec", "ca", "secretName")))
	}
}

// isIdentityName reports whether a name in a certificate may be that of a caller: policies have it, or it is a
// name of Linkerd.
func (c *comparison) isIdentityName(spec any) bool {
	names, _ := fieldvalue.Lookup(spec, "dnsNames").([]any)
	groups, _ := fieldvalue.Lookup(spec, "subject", "organizations").([]any)
	return slices.ContainsFunc(slices.Concat(names, groups, []any{fieldvalue.Lookup(spec, "commonName")}), func(name any) bool {
		text, _ := name.(string)
		return c.peers.has(text) || strings.Contains(text, ".identity.") || strings.Contains(text, "spiffe") || strings.HasPrefix(text, "system:") // a user of the API server
	})
}

// makesUsed reports whether cert-manager makes a certificate of an Ingress that a mesh may use: by its annotations, cert-manager
// takes the hosts, the Secret and the issuer of one from it.
func (c *comparison) makesUsed(o object) bool {
	annotations, _ := fieldvalue.Lookup(o.fields, "metadata", "annotations").(map[string]any)
	issuer := cmp.Or(annotations["cert-manager.io/issuer"], annotations["cert-manager.io/cluster-issuer"], annotations["kubernetes.io/tls-acme"])
	if o.kind != "Ingress" || issuer == nil {
		return false
	}
	return slices.ContainsFunc(fieldvalue.Mappings(fieldvalue.Lookup(o.fields, "spec", "tls")), func(tls map[string]any) bool {
		spec := map[string]any{"secretName": tls["secretName"], "dnsNames": tls["hosts"], "issuerRef": map[string]any{"name": issuer}}
		return c.isUsed(object{kind: "Certificate", fields: map[string]any{"spec": spec}})
	})
}

// isTrusted reports whether a certificate is of an issuer whose authority something names, such as a gateway that takes the
// clients of this authority.
func (c *comparison) isTrusted(o object) bool {
	return slices.ContainsFunc(slices.Concat(c.oldObjects.all, c.recentObjects.all), func(issuer object) bool {
		name, _ := fieldvalue.Lookup(issuer.fields, "spec", "ca", "secretName").(string)
		return issuer.group == "cert-manager.io" && name != "" && issuer.name == fieldvalue.Lookup(o.fields, "spec", "issuerRef", "name") && c.namesSecret(name)
	})
}

// namesSecret reports whether something names a Secret. Istio takes the authority of a Gateway out of a Secret of
// its own.
func (c *comparison) namesSecret(name string) bool {
	base := strings.TrimSuffix(name, "-cacert")
	return c.named.has(name) || c.named.has(base) || c.named.has("/"+base)
}
