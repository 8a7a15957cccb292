package metadata

import (
	"cmp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy/manifest"
)

// Identity is what tells a document from others. The version of its kind is no part of it.
type Identity struct {
	Group, Kind string
	// Namespace is the mesh of a universal resource, and "default" where nothing is stated.
	Namespace, Name string
	// Universal is true for a resource of Kuma without a Kubernetes object.
	Universal bool
}

// IdentityOf reads the identity of a document. What the document does not say, or says otherwise than by a text, is empty.
func IdentityOf(doc manifest.Document) Identity {
	head := doc.Type()
	group, _, hasGroup := strings.Cut(head.APIVersion, "/")
	if !hasGroup {
		group = ""
	}
	if head.Type != "" {
		return Identity{group, head.Type, cmp.Or(TextAt(doc, "mesh"), "default"), TextAt(doc, "name"), true}
	}
	return Identity{group, head.Kind, cmp.Or(TextAt(doc, "metadata.namespace"), "default"), TextAt(doc, "metadata.name"), false}
}

// String names the document, as in "Deployment shop/web" and "ClusterRole reader".
func (i Identity) String() string {
	switch {
	case i.Kind == "":
		return "a document without a kind"
	case i.Name == "":
		return i.Kind
	case !i.Universal && !i.IsNamespaced():
		return i.Kind + " " + i.Name
	default:
		return i.Kind + " " + i.Namespace + "/" + i.Name
	}
}

// TextAt returns the text of a field, "" where the document does not have it, or has no text there.
func TextAt(doc manifest.Document, field string) string {
	var value string
	if at, found := doc.Lookup(field); !found || at.Decode(&value) != nil {
		return ""
	}
	return value
}

// FileOf returns the name of the file of a document.
func FileOf(doc manifest.Document) string {
	place := doc.Place("")
	return place[:max(0, strings.LastIndexByte(strings.SplitN(place, ": ", 2)[0], ':'))]
}

// ofCluster are the kinds of Kubernetes, of its tools and of the meshes that have no namespace, by their groups.
var ofCluster = map[string][]string{
	"":                             {"Namespace", "Node", "PersistentVolume"},
	"admissionregistration.k8s.io": {"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration"},
	"apiextensions.k8s.io":         {"CustomResourceDefinition"},
	"apiregistration.k8s.io":       {"APIService"},
	"cert-manager.io":              {"ClusterIssuer"},
	"cilium.io":                    {"CiliumClusterwideNetworkPolicy", "CiliumIdentity", "CiliumNode"},
	"external-secrets.io":          {"ClusterExternalSecret", "ClusterSecretStore"},
	"gateway.networking.k8s.io":    {"GatewayClass"},
	"kyverno.io":                   {"ClusterPolicy"},
	"networking.k8s.io":            {"IngressClass"},
	"rbac.authorization.k8s.io":    {"ClusterRole", "ClusterRoleBinding"},
	"scheduling.k8s.io":            {"PriorityClass"},
	"storage.k8s.io":               {"StorageClass"},
}

// IsNamespaced reports whether a document of this identity is of a namespace, named or not, as far as its kind is known.
func (i Identity) IsNamespaced() bool {
	return !i.Universal && !slices.Contains(ofCluster[i.Group], i.Kind)
}
