package metadata

import (
	"cmp"
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

// String names the document, as in "Deployment shop/web".
func (i Identity) String() string {
	switch {
	case i.Kind == "":
		return "a document without a kind"
	case i.Name == "":
		return i.Kind
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

// IsNamespaced reports whether a policy of this identity is of a namespace, named or not.
func (i Identity) IsNamespaced() bool {
	return !i.Universal && i.Kind != "CiliumClusterwideNetworkPolicy"
}
