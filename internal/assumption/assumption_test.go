package assumption_test

import (
	"testing"

	"github.com/meshproof/meshproof/internal/assumption"
	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/policy/manifest"
)

func read(t *testing.T, text string) []manifest.Document {
	t.Helper()
	docs, err := manifest.Parse("a.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

// A setting is named where it may be another than the one taken, and where policies of its mesh have changed.
func TestFind(t *testing.T) {
	t.Parallel()
	const (
		istio  = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: a, namespace: shop}}"
		other  = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: a, namespace: shop}, spec: {action: DENY}}"
		cilium = "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: a, namespace: shop}, spec: {endpointSelector: {}, ingress: [{}]}}"
		mesh   = "{apiVersion: v1, kind: ConfigMap, metadata: {name: istio, namespace: istio-system}, data: {mesh: 'rootNamespace: a'}}"
		agent  = "{apiVersion: v1, kind: ConfigMap, metadata: {name: cilium-config, namespace: kube-system}, data: {enable-policy: always}}"
	)
	for name, tt := range map[string]struct{ old, recent, document, text, stated, want string }{
		"another root":                      {istio, other, mesh, "", "", "a.yaml:1: data.mesh"},
		"no policy has changed":             {istio, istio, mesh, "", "", ""},
		"a policy of another mesh":          {istio, istio + "\n---\n" + cilium, mesh, "", "", ""},
		"its root is stated":                {istio, other, mesh, "", "istio: {rootNamespace: a}", ""},
		"a setting of Cilium":               {istio, istio + "\n---\n" + cilium, agent, "", "", "a.yaml:1: data.enable-policy"},
		"a setting of Cilium as by default": {istio, istio + "\n---\n" + cilium, "{apiVersion: v1, kind: ConfigMap, metadata: {name: cilium-config}, data: {enable-policy: default}}", "", "", ""},
		"a text that is not read":           {istio, other, "", "rootNamespace: a", "", "main.tf"},
		"a comment of such a text":          {istio, other, "", "# rootNamespace: a\n", "", ""},
	} {
		var options assumption.Options
		if tt.stated != "" {
			options = assumption.Options{read(t, tt.stated)[0], read(t, tt.stated)[0]}
		} else {
			options = assumption.Options{read(t, "{}")[0]}
		}
		found := assumption.Find(clusterobject.ReadAll(read(t, tt.old)), clusterobject.ReadAll(read(t, tt.recent)),
			clusterobject.ReadAll(read(t, tt.document)).All, []assumption.Text{{Name: "main.tf", Content: tt.text}}, options)
		got := ""
		if len(found) > 0 {
			got = found[0].Place
		}
		if got != tt.want {
			t.Errorf("%s: %v, want %q", name, found, tt.want)
		}
	}
}
