package diff

import "testing"

// TestDenyThatNoScriptNames has a wider ALLOW and a DENY that hides it, in a new file. A text that names the files to apply leaves the new one out.
func TestDenyThatNoScriptNames(t *testing.T) {
	t.Parallel()
	const (
		closed = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: shop}, spec: {selector: {matchLabels: {app: web}}, rules: [{to: [{operation: {notPaths: [/admin]}}]}]}}\n"
		open   = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: shop}, spec: {selector: {matchLabels: {app: web}}, rules: [{}]}}\n"
		deny   = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: d, namespace: shop}, spec: {selector: {matchLabels: {app: web}}, action: DENY, rules: [{to: [{operation: {paths: [/admin]}}]}]}}\n"
		told   = "names a file beside a/deny.yaml, and not this one"
	)
	for name, tt := range map[string]struct{ file, text, want string }{
		"no script":                             {"a.txt", "a", ""},
		"a script":                              {"Makefile", "deploy:\n\tkubectl apply -f a/allow.yaml\n", told},
		"a script with both files":              {"Makefile", "deploy:\n\tkubectl apply -f a/allow.yaml -f a/deny.yaml\n", ""},
		"a script with the folder":              {"Makefile", "deploy:\n\tkubectl apply -f a\n", ""},
		"a script with a longer name":           {"Makefile", "deploy:\n\tkubectl apply -f b/dis-allow.yaml\n", ""},
		"a script with another one of the name": {"Makefile", "deploy:\n\tkubectl apply -f a/allow.yaml -f b/deny.yaml\n", told},
		"a script with it in a comment":         {"Makefile", "# not a/deny.yaml\ndeploy:\n\tkubectl apply -f a/allow.yaml\n", told},
		"a script that ends with a name":        {"deploy.sh", "kubectl apply -f a/allow.yaml -f a/deny.yaml.off\n", told},
		"a script with wildcards":               {"deploy.sh", "kubectl apply -f 'a/allow*.yaml'\n", told},
		"a script with all files":               {"deploy.sh", "kubectl apply -f a/*.yaml\n", ""},
		"a script with a choice":                {"deploy.sh", "kubectl apply -f a/{allow,other}.yaml\n", told},
		"a script with it in a choice":          {"deploy.sh", "kubectl apply -f a/{allow,deny}.yaml\n", ""},
		"a script with a variable":              {"deploy.sh", "kubectl apply -f \"$DIR/allow.yaml\" -f \"$DIR/deny.yaml\"\n", ""},
		"the configuration of a program":        {"skaffold.yaml", "{apiVersion: skaffold/v4beta1, kind: Config, manifests: {rawYaml: [a/allow.yaml]}}\n", told},
		"the steps of a job":                    {"build.yaml", "{steps: [{args: [apply, -f, a/allow.yaml]}]}\n", told},
		"a workload with such a text":           {"pod.yaml", "{apiVersion: v1, kind: Pod, metadata: {name: x, namespace: shop}, spec: {containers: [{name: a, image: a, args: [a/allow.yaml]}]}}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := map[string]string{tt.file: tt.text, "a/allow.yaml": closed}
			recent := map[string]string{tt.file: tt.text, "a/allow.yaml": open, "a/deny.yaml": deny}
			checkReasons(t, folderSide(t, old, ""), folderSide(t, recent, ""), tt.want)
		})
	}
}
