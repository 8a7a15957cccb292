package manifestdiff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/metadata"
)

// ordinary are the fields of a Certificate of a host. A Certificate with others may be an authority, or the
// identity of a caller.
var ordinary = fieldpath.SetOf(`spec.secretName spec.dnsNames[] spec.ipAddresses[] spec.commonName spec.subject spec.duration spec.renewBefore spec.renewBeforePercentage
	spec.issuerRef spec.privateKey spec.usages[] spec.keystores spec.revisionHistoryLimit spec.encodeUsagesInRequest`)

// isUsed reports whether a mesh may use a certificate of cert-manager, or what an issuer issues: something names
// its Secret, it is no certificate of a host, or such a certificate is of the issuer.
func (c *comparison) isUsed(o clusterobject.Object) bool {
	switch o.Kind {
	case "Certificate":
		return c.namesSecret(fmt.Sprint(fieldvalue.Lookup(o.Fields, "spec", "secretName"))) || clusterobject.UnknownField("spec", fieldvalue.Lookup(o.Fields, "spec"), ordinary) != "" || c.isIdentityName(fieldvalue.Lookup(o.Fields, "spec")) || c.isTrusted(o)
	default:
		for _, other := range c.objects() {
			if other.Kind == "Certificate" && fieldvalue.Lookup(other.Fields, "spec", "issuerRef", "name") == o.Name && (other.Category != clusterobject.Config || c.isUsed(other)) {
				return true
			}
		}
		return c.namesSecret(fmt.Sprint(fieldvalue.Lookup(o.Fields, "spec", "ca", "secretName")))
	}
}

// isIdentityName reports whether a name in a certificate may be that of a caller: policies have it, or it is a
// name of Linkerd.
func (c *comparison) isIdentityName(spec any) bool {
	names, _ := fieldvalue.Lookup(spec, "dnsNames").([]any)
	groups, _ := fieldvalue.Lookup(spec, "subject", "organizations").([]any)
	return slices.ContainsFunc(slices.Concat(names, groups, []any{fieldvalue.Lookup(spec, "commonName")}), func(name any) bool {
		text, _ := name.(string)
		return c.peers.Has(text) || strings.Contains(text, ".identity.") || strings.Contains(text, "spiffe") || strings.HasPrefix(text, "system:") // a user of the API server
	})
}

// makesUsed reports whether cert-manager makes a certificate of an Ingress that a mesh may use: by its annotations, cert-manager
// takes the hosts, the Secret and the issuer of one from it.
func (c *comparison) makesUsed(o clusterobject.Object) bool {
	annotations := fieldvalue.Mapping(fieldvalue.Lookup(o.Fields, "metadata", "annotations"))
	issuer := cmp.Or(annotations["cert-manager.io/issuer"], annotations["cert-manager.io/cluster-issuer"], annotations["kubernetes.io/tls-acme"])
	if o.Kind != "Ingress" || issuer == nil {
		return false
	}
	return slices.ContainsFunc(fieldvalue.Mappings(fieldvalue.Lookup(o.Fields, "spec", "tls")), func(tls map[string]any) bool {
		spec := map[string]any{"secretName": tls["secretName"], "dnsNames": tls["hosts"], "issuerRef": map[string]any{"name": issuer}}
		return c.isUsed(clusterobject.Object{Identity: metadata.Identity{Kind: "Certificate"}, Fields: map[string]any{"spec": spec}})
	})
}

// isTrusted reports whether a certificate is of an issuer whose authority something names, such as a gateway that takes the
// clients of this authority.
func (c *comparison) isTrusted(o clusterobject.Object) bool {
	return slices.ContainsFunc(c.objects(), func(issuer clusterobject.Object) bool {
		name, _ := fieldvalue.Lookup(issuer.Fields, "spec", "ca", "secretName").(string)
		return issuer.Group == "cert-manager.io" && name != "" && issuer.Name == fieldvalue.Lookup(o.Fields, "spec", "issuerRef", "name") && c.namesSecret(name)
	})
}

// namesSecret reports whether something names a Secret. Istio takes the authority of a Gateway out of a Secret of
// its own.
func (c *comparison) namesSecret(name string) bool {
	base := strings.TrimSuffix(name, "-cacert")
	return c.named.Has(name) || c.named.Has(base) || c.named.Has("/"+base)
}
