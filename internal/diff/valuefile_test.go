package diff

import "testing"

// A document without a kind, such as the values of a chart, is known by its file: the field that differs is named.
func TestValuesByFile(t *testing.T) {
	t.Parallel()
	const policy = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: shop}, spec: {rules: [{to: [{operation: {paths: [/a]}}]}]}}\n"
	for name, tt := range map[string]struct {
		old, recent map[string]string
		want        string
	}{
		"another value":        {map[string]string{"values.yaml": "{a: {b: 1}, c: 2}"}, map[string]string{"values.yaml": "{a: {b: 3}, c: 2}"}, "values.yaml:1: a.b (a document without a kind) has changed"},
		"another name of file": {map[string]string{"values.yaml": "{a: 1}"}, map[string]string{"other.yaml": "{a: 1}"}, "other.yaml:1 (a document without a kind) is in another folder than before"},
		"another file":         {map[string]string{"values.yaml": "{a: 1}"}, map[string]string{"other.yaml": "{a: 2}"}, "other.yaml:1 (a document without a kind) is new"},
		"one of two":           {map[string]string{"values.yaml": "a: 1\n---\nb: 1\n"}, map[string]string{"values.yaml": "a: 2\n---\nb: 1\n"}, "values.yaml:1: a (a document without a kind) has changed"},
		"two of two":           {map[string]string{"values.yaml": "a: 1\n---\nb: 1\n"}, map[string]string{"values.yaml": "a: 2\n---\nb: 2\n"}, "(a document without a kind) is new"},
		"what an API server writes into an object": {map[string]string{"values.yaml": "{status: {role: a}, metadata: {resourceVersion: a}}"}, map[string]string{"values.yaml": "{status: {role: b}, metadata: {resourceVersion: b}}"}, "values.yaml:1: metadata.resourceVersion (a document without a kind) has changed, "},
		"an annotation":              {map[string]string{"values.yaml": "{metadata: {annotations: {role: a}}}"}, map[string]string{"values.yaml": "{metadata: {annotations: {role: b}}}"}, "values.yaml:1: metadata.annotations.role (a document without a kind) has changed"},
		"a label that no policy has": {map[string]string{"values.yaml": "{metadata: {labels: {role: a}}}"}, map[string]string{"values.yaml": "{metadata: {labels: {role: b}}}"}, "values.yaml:1: metadata.labels.role (a document without a kind) has changed"},
		"a default that goes":        {map[string]string{"values.yaml": "{a: {b: 1}}"}, map[string]string{"values.yaml": "{a: {b: 1, role: null}}"}, "values.yaml:1: a.role (a document without a kind) has changed"},
		"an item of a list":          {map[string]string{"values.yaml": "{a: [{name: x, b: 1}, 2]}"}, map[string]string{"values.yaml": "{a: [{name: x, b: 2}, 2]}"}, "values.yaml:1: a[0].b (a document without a kind) has changed"},
		"one more item":              {map[string]string{"values.yaml": "{a: [1]}"}, map[string]string{"values.yaml": "{a: [1, 2]}"}, "values.yaml:1: a (a document without a kind) has changed"},
		"a new field":                {map[string]string{"values.yaml": "{a: 1}"}, map[string]string{"values.yaml": "{a: 1, policyEnforcementMode: never}"}, "policyEnforcementMode"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.old["p.yaml"], tt.recent["p.yaml"] = policy, policy
			checkReasons(t, folderSide(t, tt.old, ""), folderSide(t, tt.recent, ""), tt.want)
		})
	}
}
