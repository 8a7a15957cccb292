package authorization_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy/gateway/internal/authorization"
)

// TestStatus compares the status with the text that an API server would show.
func TestStatus(t *testing.T) {
	t.Parallel()
	const (
		head = `{"ancestors":[{"ancestorRef":{"group":"","kind":"Namespace","name":"finance"},"controllerName":"github.com/meshproof/meshproof","conditions":[{"type":"Accepted",`
		tail = `"}]}]}`
	)
	for spec, want := range map[string]string{
		"targetRefs: [{kind: Pod, selector: {}}], action: ALLOW, enforcementLevel: Network":                          `"status":"True","observedGeneration":4,"reason":"Accepted","message":"selects ledger`,
		"targetRefs: [{kind: Pod, selector: {matchLabels: {a: b}}}], action: ALLOW, enforcementLevel: Network":       `"status":"False","observedGeneration":4,"reason":"TargetNotFound","message":"no pod of namespace finance matches selector {a: b}`,
		"targetRefs: [{kind: Pod, selector: {}}], action: DENY, enforcementLevel: Network":                           `"status":"False","observedGeneration":4,"reason":"Invalid","message":"spec.action: \"DENY\" is not supported: ALLOW is the only action`,
		"targetRefs: [{kind: Pod, selector: {}}], action: ALLOW, enforcementLevel: Network, rules: [{sources: [1]}]": `"status":"False","observedGeneration":4,"reason":"Invalid","message":"spec.rules[0].sources[0]: expected a mapping, found the number 1`,
	} {
		doc := documents(t, "{apiVersion: gateway.networking.x-k8s.io/v1alpha1, kind: XAuthorizationPolicy, metadata: {name: p, namespace: finance, generation: 4}, spec: {"+spec+"}}")[0]
		got, err := json.Marshal(authorization.Status(doc, append(workloads(), workloads()...)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(head+want+tail, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", spec, diff)
		}
	}
}

// TestStatusOfAnything shows that a document that is no policy has a status too.
func TestStatusOfAnything(t *testing.T) {
	t.Parallel()
	for _, yaml := range []string{"[]", "a", "{metadata: []}", "{metadata: {namespace: [], generation: x}}"} {
		ancestor := authorization.Status(documents(t, yaml)[0], nil).Ancestors[0]
		if c := ancestor.Conditions[0]; ancestor.AncestorRef.Name != "default" || c.Reason != authorization.ReasonInvalid || c.Message == "" || c.ObservedGeneration != 0 {
			t.Errorf("%s: %+v", yaml, ancestor)
		}
	}
}
