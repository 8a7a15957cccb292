package clusterrole

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/metadata"
)

// readers are roles that every cluster has, and that give no such power.
var readers = fieldpath.SetOf(`view system:auth-delegator extension-apiserver-authentication-reader system:discovery system:basic-user system:public-info-viewer system:service-account-issuer-discovery`)

// given returns a text for each subject to which a binding gives rights that count.
func given(all clusterobject.List, o clusterobject.Object, tokens map[string]bool) (out []string) {
	if !givesRights(all, o, tokens) {
		return nil
	}
	for _, subject := range fieldvalue.Mappings(fieldvalue.Lookup(o.Fields, "subjects")) {
		out = append(out, fmt.Sprintf("%v %v for %v %v %v", fieldvalue.Lookup(o.Fields, "roleRef", "kind"), fieldvalue.Lookup(o.Fields, "roleRef", "name"), subject["kind"], normalNamespace(subject, o), subject["name"]))
	}
	return out
}

// givesRights reports whether the role of a binding gives rights that count, or is one that no file describes.
func givesRights(all clusterobject.List, o clusterobject.Object, tokens map[string]bool) bool {
	kind, _ := fieldvalue.Lookup(o.Fields, "roleRef", "kind").(string)
	name, _ := fieldvalue.Lookup(o.Fields, "roleRef", "name").(string)
	namespace := metadata.IdentityOf(o.Doc).Namespace // a key has what a document says
	if kind == "ClusterRole" {
		namespace = "default" // as of all objects that name none
	}
	roles := all.ByKey[clusterobject.KeyOf(metadata.Identity{Group: o.Group, Kind: kind, Namespace: namespace, Name: name})]
	return len(roles) == 0 && !readers[name] || slices.ContainsFunc(roles, func(role clusterobject.Object) bool {
		return fieldvalue.Lookup(role.Fields, "aggregationRule") != nil || len(rightsOf(role, tokens)) > 0
	})
}

// Empowers reports whether a binding gives an account rights that count, by its name or by its groups.
func Empowers(all clusterobject.List, namespace, account string, tokens map[string]bool) bool {
	return slices.ContainsFunc(all.All, func(o clusterobject.Object) bool {
		if !strings.HasSuffix(o.Kind, "Binding") || o.Group != "rbac.authorization.k8s.io" {
			return false
		}
		return slices.ContainsFunc(fieldvalue.Mappings(fieldvalue.Lookup(o.Fields, "subjects")), func(subject map[string]any) bool {
			name, _ := subject["name"].(string)
			isAccount := subject["kind"] == "ServiceAccount" && name == account && normalNamespace(subject, o) == namespace
			isGroup := subject["kind"] == "Group" && (name == "system:serviceaccounts" || name == "system:serviceaccounts:"+namespace || name == "system:authenticated")
			isUser := subject["kind"] == "User" && name == "system:serviceaccount:"+namespace+":"+account
			return isAccount || isGroup || isUser
		}) && givesRights(all, o, tokens)
	})
}

// normalNamespace is that of a subject. A user and a group have none.
func normalNamespace(subject map[string]any, o clusterobject.Object) any {
	if subject["kind"] == "ServiceAccount" && subject["namespace"] == nil {
		return o.Namespace
	}
	return subject["namespace"]
}
