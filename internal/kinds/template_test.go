package kinds_test

import (
	"testing"

	"github.com/meshproof/meshproof/internal/kinds"
)

// TestMakesRoutes has templates of routes, which are policies where they lead to a Server of Linkerd.
func TestMakesRoutes(t *testing.T) {
	t.Parallel()
	const route = "kind: HTTPRoute\nspec:\n  parentRefs:\n    {{- toYaml .Values.parents | nindent 4 }}\n"
	for version, want := range map[string]bool{"gateway.networking.k8s.io/v1": true, "policy.linkerd.io/v1": false, "{{ .Values.version }}": false} {
		template := []byte("apiVersion: " + version + "\n" + route)
		if kinds.MakesOthersAlone(template, false) || kinds.MakesOthersAlone(template, true) != want {
			t.Errorf("%s: not %t", version, want)
		}
	}
}

// TestMakesOthersAlone has templates of Helm. A policy may come from all but the first ones.
func TestMakesOthersAlone(t *testing.T) {
	t.Parallel()
	const deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ include \"web.name\" . }}\n  labels:\n    {{- include \"web.labels\" . | nindent 4 }}\nspec: {}\n"
	for name, tt := range map[string]struct {
		template string
		want     bool
	}{
		"a workload":                                {deployment, true},
		"under a condition":                         {"{{- if .Values.enabled }}\n" + deployment + "{{- end }}\n", true},
		"behind a comment":                          {"# of a team\n\n" + deployment, true},
		"without a kind behind a comment":           {deployment + "---\n# of a team\napiVersion: v1\n", false},
		"two workloads":                             {"{{- with .Values.a }}\n" + deployment + "---\n# second\n" + deployment + "{{- end }}\n---\n{{/* nothing:\n   here */}}\n", true},
		"a container named server":                  {deployment + "# server: {{ .Values.server.port }}\n", true},
		"a Secret of a type":                        {"kind: Secret # of TLS\ntype: kubernetes.io/tls\ndata: {a: {{ .Values.a }}}\n", true},
		"an indented value":                         {deployment + "{{ .Values.more | indent 4 }}\n", true},
		"a variable":                                {"{{- $name := include \"web.name\" . -}}\n" + deployment, true},
		"a Service of a type that is made":          {"kind: Service\nspec:\n  type: {{ .Values.service.type }}\n", true},
		"a kind that is made below":                 {"kind: ExternalSecret\nspec:\n  secretStoreRef:\n    kind: {{ .Values.store.kind }}\n", true},
		"a type that is made at the margin":         {"kind: Secret\ntype: {{ .Values.type }}\n", false},
		"a type that comes to the margin":           {"kind: Secret\n{{ if .Values.a -}}\n  type: {{ .Values.type }}\n{{ end }}", false},
		"a kind that is made in one line":           {deployment + "---\n{kind: {{ .Values.kind }}}\n", false},
		"a manifest in flow style":                  {"{{ if .Values.a }}\nkind: ConfigMap\n{{ else }}\n{apiVersion: {{ .Values.version }}, kind: {{ .Values.kind }}}\n{{ end }}\n", false},
		"a manifest that is indented whole":         {"{{ if .Values.a }}\nkind: ConfigMap\n{{ else }}\n  apiVersion: {{ .Values.version }}\n  kind: {{ .Values.kind }}\n{{ end }}\n", false},
		"a kind of Gateway API in JSON":             {"{{ if .Values.a }}\nkind: ConfigMap\n{{ else }}\n{\n  \"apiVersion\": \"gateway.networking.k8s.io/v1\",\n  \"kind\": \"{{ .Values.kind }}\"\n}\n{{ end }}\n", false},
		"a kind on the next line":                   {"apiVersion: {{ .Values.version }}\n{{ if .Values.a }}\nkind: ConfigMap\n{{ else }}\nkind:\n  {{ .Values.kind }}\n{{ end }}\n", false},
		"a policy in a comment":                     {"# for now, and no CiliumNetworkPolicy {\n" + deployment, true},
		"a policy in a comment that is filled":      {"# {{ .Values.a }}: CiliumNetworkPolicy\n" + deployment, false},
		"a policy behind a comment":                 {"# of a team\n" + deployment + "---\nkind: CiliumNetworkPolicy # of a team\nspec: {{ .Values.a }}\n", false},
		"a Gateway":                                 {"apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: {{ .Values.a }}}\n", true},
		"a policy of Gateway API":                   {"apiVersion: gateway.networking.k8s.io/v1\nkind: AuthorizationPolicy\nmetadata: {name: {{ .Values.a }}}\n", false},
		"no manifest":                               {"{{- define \"a\" }}x{{ end }}\n", false},
		"a policy":                                  {"kind: AuthorizationPolicy\nspec: {{ .Values.spec }}\n", false},
		"a policy of one word":                      {deployment + "---\nkind: \"Server\"\nspec: {{ .Values.spec }}\n", false},
		"a policy of Kuma":                          {deployment + "---\ntype: MeshTrafficPermission\nname: {{ .Values.a }}\n", false},
		"a list of what is made":                    {"apiVersion: v1\nkind: List\nitems:\n  {{- include \"objects\" . | nindent 2 }}\n", false},
		"a list of policies":                        {"kind: AuthorizationPolicyList\nitems: {{ .Values.items }}\n", false},
		"a policy in an item":                       {"kind: List\nitems:\n  - kind: AuthorizationPolicy\n    spec: {{ .Values.spec }}\n", false},
		"a route of Linkerd":                        {deployment + "---\napiVersion: {{ .Values.version }}\nkind: HTTPRoute\n", false},
		"a timeout of Kuma":                         {"kind: MeshTimeout\nspec: {{ .Values.spec }}\n", false},
		"a Mesh":                                    {"apiVersion: kuma.io/v1alpha1\nkind: Mesh\nspec: {{ .Values.spec }}\n", false},
		"a group of blocks":                         {"apiVersion: cilium.io/v2\nkind: CiliumCIDRGroup\nspec: {{ .Values.spec }}\n", false},
		"a Dataplane":                               {"kind: Dataplane\nspec: {{ .Values.spec }}\n", false},
		"a kind that is made":                       {deployment + "---\nkind: {{ .Values.kind }}\n", false},
		"a part of a kind":                          {"kind: Authorization{{ .Values.kind }}\n", false},
		"a manifest that is made":                   {deployment + "---\n{{ include \"common.policy\" . }}\n", false},
		"a manifest that is made in one line":       {deployment + "---\n{{- if .Values.a }}{{ include \"common.policy\" . }}{{ end }}\n", false},
		"a manifest that is made in YAML":           {deployment + "---\n{{ toYaml .Values.extra }}\n", false},
		"a manifest that is indented":               {deployment + "---\n  {{- tpl .Values.extra . | nindent 0 }}\n", false},
		"a manifest that takes its indent away":     {deployment + "---\n{{- if .Values.a }}\n  {{- include \"common.policy\" . }}\n{{- end }}\n", false},
		"a manifest that is made on two lines":      {deployment + "---\n{{ include \"common.policy\"\n     (dict \"a\" .) }}\n", false},
		"a manifest with a brace in its call":       {deployment + "---\n{{ include \"common.policy\" (dict \"a\" \"{}\") }}\n", false},
		"a manifest by another function":            {deployment + "---\n{{ index .Values \"extra-objects\" | join \"\\n---\\n\" }}\n", false},
		"a value that takes its indent away":        {deployment + "  {{- with .Values.a }}\n  a:\n    {{- toYaml . | nindent 4 }}\n  {{- end }}\n  {{- $b := 1 }}\n", true},
		"a manifest without a kind":                 {deployment + "---\napiVersion: security.istio.io/v1\n{{- with .Values.a }}\nmetadata: {}\n{{- end }}\n", false},
		"a manifest that is indented behind a line": {deployment + "{{ range .Values.extra }}\n---\n  {{- tpl (toYaml .) $ | nindent 2 }}\n{{ end }}", false},
		"a manifest that is commented out":          {deployment + "# {{- include \"common.policy\" . | nindent 0 }}\n", false},
		"lines behind a comment":                    {deployment + "  # {{ toYaml .Values.a }}\n", false},
		"a value that is commented out":             {deployment + "  # a: {{ .Values.a }}\n  # {{- include \"web.labels\" . | nindent 4 }}\n", true},
		"a manifest in comments":                    {deployment + "---\n# kind: Secret\n# namespace: {{ .Release.Namespace }}\n", true},
		"nothing behind a line":                     {deployment + "---\n  {{- with .Values.a }}{{ $b := 1 }}{{ end }}\n", true},
		"a value at the margin":                     {deployment + "{{ .Values.more }}\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := kinds.MakesOthersAlone([]byte(tt.template), false); got != tt.want {
				t.Errorf("%t, want %t", got, tt.want)
			}
		})
	}
}
