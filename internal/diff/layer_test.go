package diff

import (
	"slices"
	"testing"
)

// TestLayers has folders with policies of two dialects: access widens where it widens under one of them.
func TestLayers(t *testing.T) {
	t.Parallel()
	type files map[string]string
	const (
		narrow = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: shop}, spec: {rules: [{to: [{operation: {paths: [/a]}}]}]}}\n"
		wide   = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: shop}, spec: {rules: [{}]}}\n"
		fe     = "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: c, namespace: shop}, spec: {endpointSelector: {}, ingress: [{fromEndpoints: [{matchLabels: {app: fe}}]}]}}\n"
		all    = "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: c, namespace: shop}, spec: {endpointSelector: {}, ingress: [{fromEntities: [cluster]}]}}\n"
		kuma   = "{type: MeshTrafficPermission, name: k, mesh: default, spec: {rules: [{default: {allow: [{spiffeID: {type: Exact, value: \"spiffe://trust-domain.mesh/ns/shop/sa/a\"}}]}}]}}\n"
		shared = "{apiVersion: gateway.networking.x-k8s.io/v1alpha1, kind: XAuthorizationPolicy, metadata: {name: s, namespace: shop}, spec: {}}\n"
	)
	for name, tt := range map[string]struct {
		old, recent files
		// want are the dialects under which access widens, and layers those that are compared by themselves.
		want, layers []string
	}{
		"nothing changes":          {files{"p.yaml": narrow, "c.yaml": fe}, files{"p.yaml": narrow, "c.yaml": fe}, nil, []string{"cilium", "istio"}},
		"requests":                 {files{"p.yaml": narrow, "c.yaml": fe}, files{"p.yaml": wide, "c.yaml": fe}, []string{"istio"}, []string{"cilium", "istio"}},
		"connections":              {files{"p.yaml": narrow, "c.yaml": fe}, files{"p.yaml": narrow, "c.yaml": all}, []string{"cilium"}, []string{"cilium", "istio"}},
		"both":                     {files{"p.yaml": narrow, "c.yaml": fe}, files{"p.yaml": wide, "c.yaml": all}, []string{"cilium", "istio"}, []string{"cilium", "istio"}},
		"one dialect is gone":      {files{"p.yaml": narrow, "c.yaml": fe}, files{"p.yaml": narrow}, []string{"cilium"}, []string{"cilium", "istio"}},
		"one dialect is new":       {files{"p.yaml": narrow, "n.yaml": "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}"}, files{"p.yaml": narrow, "c.yaml": fe, "n.yaml": "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}"}, nil, []string{"cilium", "istio"}},
		"one instead of another":   {files{"p.yaml": narrow}, files{"c.yaml": fe}, nil, nil},
		"one that several enforce": {files{"p.yaml": narrow, "c.yaml": shared}, files{"p.yaml": narrow, "c.yaml": shared}, nil, nil},
		"Kuma beside Cilium":       {files{"k.yaml": kuma, "c.yaml": fe}, files{"k.yaml": kuma, "c.yaml": all}, []string{"cilium"}, []string{"cilium", "kuma"}},
		"another mesh":             {files{"k.yaml": kuma, "c.yaml": fe}, files{"p.yaml": narrow, "c.yaml": fe}, nil, nil},
		"a part to another mesh":   {files{"k.yaml": kuma}, files{"k.yaml": kuma, "p.yaml": narrow}, nil, nil},
		"Kuma is gone":             {files{"k.yaml": kuma, "c.yaml": fe}, files{"c.yaml": fe}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got, names []string
			for _, l := range Layers(folderSide(t, tt.old, ""), folderSide(t, tt.recent, "")) {
				names = append(names, l.Dialect)
				d, err := Diff(l.Old, l.Recent, "")
				if err != nil {
					t.Fatal(err)
				}
				if reasons := d.widenings(); len(reasons) > 0 {
					t.Log(reasons)
					got = append(got, l.Dialect)
				}
			}
			if !slices.Equal(got, tt.want) || !slices.Equal(names, tt.layers) {
				t.Errorf("%q of %q, want %q of %q", got, names, tt.want, tt.layers)
			}
		})
	}
}
