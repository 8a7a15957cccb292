package clusterrole_test

import (
	"fmt"
	"testing"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/clusterrole"
	"github.com/meshproof/meshproof/policy/manifest"
)

func read(t *testing.T, texts ...string) clusterobject.List {
	t.Helper()
	var all []manifest.Document
	for _, text := range texts {
		docs, err := manifest.Parse("a.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, docs...)
	}
	return clusterobject.ReadAll(all)
}

func role(kind, group, resources, verbs, more string) string {
	return fmt.Sprintf("{apiVersion: rbac.authorization.k8s.io/v1, kind: %s, metadata: {name: r, namespace: shop}, rules: [{apiGroups: ['%s'], resources: [%s], verbs: [%s]%s}]}", kind, group, resources, verbs, more)
}

// A gain is named where a role gives more than before, and where a binding does: that one right is new, and not that the role is.
func TestGain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ old, recent, want string }{
		"nothing":                {"", role("Role", "", "pods", "get", ""), ""},
		"a verb":                 {role("Role", "", "pods", "get", ""), role("Role", "", "pods", "get, create", ""), "create pods"},
		"the same in one verb":   {role("Role", "", "pods", "'*'", ""), role("Role", "", "pods", "create", ""), ""},
		"a name less":            {role("Role", "", "serviceaccounts/token", "create", ", resourceNames: [a]"), role("Role", "", "serviceaccounts/token", "create", ""), "create serviceaccounts/token"},
		"a name of all":          {role("Role", "", "serviceaccounts/token", "create", ""), role("Role", "", "serviceaccounts/token", "create", ", resourceNames: [a]"), ""},
		"a Secret of no account": {"", role("Role", "", "secrets", "get", ", resourceNames: [plain]"), ""},
		"a Secret of an account": {"", role("Role", "", "secrets", "get", ", resourceNames: [token]"), "get secrets token"},
	} {
		old, recent := read(t, tt.old), read(t, tt.recent)
		if _, got := clusterrole.Gain(old, recent, recent.All[0].Key, map[string]bool{"shop/token": true}); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// An account has the rights of a role that is bound to it, to its group or to its name as a user, and those of a role that no document describes.
func TestEmpowers(t *testing.T) {
	t.Parallel()
	binding := func(role, subject string) string {
		return "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: b, namespace: shop}, roleRef: {kind: Role, name: " + role + "}, subjects: [" + subject + "]}"
	}
	writes, reads := role("Role", "", "pods", "create", ""), role("Role", "", "pods", "get", "")
	for name, tt := range map[string]struct {
		role, name, subject string
		want                bool
	}{
		"an account":                     {writes, "r", "{kind: ServiceAccount, name: web}", true},
		"one that reads":                 {reads, "r", "{kind: ServiceAccount, name: web}", false},
		"another account":                {writes, "r", "{kind: ServiceAccount, name: db}", false},
		"one of another namespace":       {writes, "r", "{kind: ServiceAccount, name: web, namespace: other}", false},
		"all accounts of the namespace":  {writes, "r", "{kind: Group, name: 'system:serviceaccounts:shop'}", true},
		"those of another namespace":     {writes, "r", "{kind: Group, name: 'system:serviceaccounts:other'}", false},
		"a user":                         {writes, "r", "{kind: User, name: 'system:serviceaccount:shop:web'}", true},
		"a role that nothing describes":  {writes, "other", "{kind: ServiceAccount, name: web}", true},
		"a role for readers, by no file": {writes, "view", "{kind: ServiceAccount, name: web}", false},
	} {
		if got := clusterrole.Empowers(read(t, tt.role, binding(tt.name, tt.subject)), "shop", "web", nil); got != tt.want {
			t.Errorf("%s: %t, want %t", name, got, tt.want)
		}
	}
}

// A role forbids a policy where it lets its tool write others of the kind, and not this one.
func TestForbids(t *testing.T) {
	t.Parallel()
	policy := read(t, "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: a, namespace: shop}}").All[0]
	for name, tt := range map[string]struct {
		role    string
		isNew   bool
		forbids bool
	}{
		"all verbs":                   {role("Role", "security.istio.io", "authorizationpolicies", "'*'", ""), true, false},
		"no right for the kind":       {role("Role", "apps", "deployments", "create", ""), true, false},
		"no new ones":                 {role("Role", "security.istio.io", "authorizationpolicies", "patch", ""), true, true},
		"no new ones, and it is old":  {role("Role", "security.istio.io", "authorizationpolicies", "patch", ""), false, false},
		"new ones alone":              {role("Role", "security.istio.io", "authorizationpolicies", "create", ""), false, true},
		"another one by its name":     {role("Role", "security.istio.io", "authorizationpolicies", "patch", ", resourceNames: [b]"), false, true},
		"this one by its name":        {role("Role", "security.istio.io", "authorizationpolicies", "patch", ", resourceNames: [a]"), false, false},
		"a name lets nothing be made": {role("Role", "security.istio.io", "authorizationpolicies", "create", ", resourceNames: [a]"), true, true},
	} {
		if why := clusterrole.Forbids(read(t, tt.role).All[0], policy, tt.isNew); (why != "") != tt.forbids {
			t.Errorf("%s: %q, want a reason: %t", name, why, tt.forbids)
		}
	}
}
