package diff

import "testing"

// TestPoliciesOfGateways has policies of Istio for gateways and waypoints beside those of sidecars. They are not compared, so that each change of one is named.
func TestPoliciesOfGateways(t *testing.T) {
	t.Parallel()
	type files map[string]string
	policy := func(name, of, source string) string {
		return "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: " + name + ", namespace: shop}, spec: {" + of + "rules: [{from: [{source: {" + source + "}}]}]}}\n"
	}
	const (
		web     = "selector: {matchLabels: {app: web}}, "
		gateway = "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}], "
		service = "targetRefs: [{kind: Service, name: web}], "
		wide    = "namespaces: [shop, cart]"
		narrow  = "namespaces: [shop]"
		account = "principals: [cluster.local/ns/shop/sa/fe]"
		open    = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: w, namespace: shop}, spec: {selector: {matchLabels: {app: web}}, rules: [{}]}}\n"
		caller  = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: lab}, spec: {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {serviceAccountName: fe, containers: [{name: a, image: a}]}}}}\n"
	)
	deny := func(of string) string {
		return "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: d, namespace: shop}, spec: {" + of + "action: DENY, rules: [{to: [{operation: {paths: [/admin]}}]}]}}\n"
	}
	for name, tt := range map[string]struct {
		old, recent files
		want        string
	}{
		"a policy of a gateway":             {files{"p.yaml": policy("p", web, wide), "g.yaml": policy("g", gateway, wide)}, files{"p.yaml": policy("p", web, narrow), "g.yaml": policy("g", gateway, wide)}, ""},
		"a policy of a service":             {files{"p.yaml": policy("p", web, wide), "g.yaml": policy("g", service, wide)}, files{"p.yaml": policy("p", web, narrow), "g.yaml": policy("g", service, wide)}, ""},
		"a wider policy beside it":          {files{"p.yaml": policy("p", web, narrow), "g.yaml": policy("g", gateway, wide)}, files{"p.yaml": policy("p", web, wide), "g.yaml": policy("g", gateway, wide)}, "access widens"},
		"a wider policy of a gateway":       {files{"p.yaml": policy("p", web, narrow), "g.yaml": policy("g", gateway, narrow)}, files{"p.yaml": policy("p", web, narrow), "g.yaml": policy("g", gateway, wide)}, "AuthorizationPolicy shop/g"},
		"a new policy of a gateway":         {files{"p.yaml": policy("p", web, narrow)}, files{"p.yaml": policy("p", web, narrow), "g.yaml": policy("g", gateway, narrow)}, "is new"},
		"the end of a policy of a gateway":  {files{"p.yaml": policy("p", web, narrow), "g.yaml": policy("g", gateway, narrow)}, files{"p.yaml": policy("p", web, narrow)}, "is gone"},
		"a deny that goes to a gateway":     {files{"p.yaml": open, "d.yaml": deny(web)}, files{"p.yaml": open, "d.yaml": deny(gateway)}, "access widens"},
		"a deny that comes from a gateway":  {files{"p.yaml": open, "d.yaml": deny(gateway)}, files{"p.yaml": open, "d.yaml": deny(web)}, "is gone"},
		"a caller of a gateway":             {files{"p.yaml": policy("p", web, "principals: [cluster.local/ns/shop/sa/be]"), "g.yaml": policy("g", gateway, account)}, files{"p.yaml": policy("p", web, "principals: [cluster.local/ns/shop/sa/be]"), "g.yaml": policy("g", gateway, account), "c.yaml": caller}, "serviceAccountName"},
		"no caller of anybody":              {files{"p.yaml": policy("p", web, "principals: [cluster.local/ns/shop/sa/be]")}, files{"p.yaml": policy("p", web, "principals: [cluster.local/ns/shop/sa/be]"), "c.yaml": caller}, ""},
		"a policy of a gateway that moves":  {files{"p.yaml": policy("p", web, narrow), "a/g.yaml": policy("g", gateway, wide)}, files{"p.yaml": policy("p", web, narrow), "b/g.yaml": policy("g", gateway, wide)}, "is in another folder"},
		"another gateway of the same rules": {files{"p.yaml": policy("p", web, narrow), "g.yaml": policy("g", gateway, wide)}, files{"p.yaml": policy("p", web, narrow), "g.yaml": policy("g", service, wide)}, "AuthorizationPolicy shop/g"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkReasons(t, folderSide(t, tt.old, ""), folderSide(t, tt.recent, ""), tt.want)
		})
	}
	for name, of := range map[string]string{
		"a selector too": web + gateway, "one target": "targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: edge}, ", "a pod": "targetRefs: [{kind: Pod, name: a}], ",
		"a gateway of another group": "targetRefs: [{group: networking.istio.io, kind: Gateway, name: edge}], ", "no name": "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway}], ",
		"an unknown key": "targetRefs: [{kind: Service, name: a, future: b}], ", "a gateway and a pod": "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}, {kind: Pod, name: a}], ",
	} {
		side := folderSide(t, files{"p.yaml": policy("p", web, narrow), "g.yaml": policy("g", of, narrow)}, "")
		if _, err := Diff(side, side, ""); err == nil {
			t.Errorf("%s is not refused", name)
		}
	}
}
