package authorization_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/gateway/internal/authorization"
	"github.com/meshproof/meshproof/policy/manifest"
)

// object is a policy with this spec, in the namespace finance.
func object(spec string) string {
	return "{apiVersion: gateway.networking.x-k8s.io/v1alpha1, kind: XAuthorizationPolicy, metadata: {name: p, namespace: finance}, spec: {" + spec + "}}"
}

func pods() []policy.Workload {
	var out []policy.Workload
	for _, in := range inbounds() {
		out = append(out, in.Workload)
	}
	return out
}

// shown returns the policy of a text as an object and as JSON.
func shown(t *testing.T, yaml string, pods []policy.Workload) (capability.Object, string) {
	t.Helper()
	objects, err := authorization.Objects(documents(t, yaml), pods)
	if err != nil || len(objects) != 1 {
		t.Fatalf("%s: %d objects, %v", yaml, len(objects), err)
	}
	return objects[0], string(objects[0].JSON)
}

// statusOf is the status in an object's JSON, nil where it has no status.
func statusOf(t *testing.T, o capability.Object) *authorization.PolicyStatus {
	t.Helper()
	var printed struct{ Status *authorization.PolicyStatus }
	if err := json.Unmarshal(o.JSON, &printed); err != nil {
		t.Fatal(err)
	}
	return printed.Status
}

// TestObjectsKeepAbsentEmptyAndSetApart has valid and invalid policies, and reads the output
// again.
func TestObjectsKeepAbsentEmptyAndSetApart(t *testing.T) {
	t.Parallel()
	const (
		sound = "targetRefs: [{kind: Pod, selector: {}}], action: ALLOW, enforcementLevel: Network"
		deny  = "targetRefs: [{kind: Pod, selector: {}}], action: DENY, enforcementLevel: Network"
	)
	for rules, want := range map[string]string{
		"":                                   "",
		", rules: []":                        `"rules":[]`,
		", rules: [{}]":                      `"rules":[{}]`,
		", rules: [{sources: []}]":           `"rules":[{"sources":[]}]`,
		", rules: [{networkAttributes: {}}]": `"rules":[{"networkAttributes":{}}]`,
		", rules: [{sources: [{type: SPIFFE, spiffe: spiffe://td/a}], networkAttributes: {ports: [1]}}]": `"spiffe":"spiffe://td/a"`,
	} {
		for spec, reason := range map[string]string{sound: authorization.ReasonAccepted, deny: authorization.ReasonInvalid} {
			checkObject(t, object(spec+rules), reason, want)
		}
	}
	// These are not valid because of the lists themselves.
	for rules, want := range map[string]string{
		", rules: ":                                    `"rules":null`,
		", rules: [null]":                              `"rules":[null]`,
		", rules: [{sources: }]":                       `"rules":[{"sources":null}]`,
		", rules: [{networkAttributes: }]":             `"rules":[{"networkAttributes":null}]`,
		", rules: [{networkAttributes: {ports: []}}]":  `"rules":[{"networkAttributes":{"ports":[]}}]`,
		", rules: [{networkAttributes: {ports: }}]":    `"rules":[{"networkAttributes":{"ports":null}}]`,
		", rules: {a: 1}":                              `"rules":{"a":1}`,
		", rules: [{httpAttributes: {paths: [/a]}}]":   `"rules":[{"httpAttributes":{"paths":["/a"]}}]`,
		", more: [true, 18446744073709551615, 1.5, ~]": `"more":[true,18446744073709551615,1.5,null]`,
	} {
		checkObject(t, object(sound+rules), authorization.ReasonInvalid, want)
	}
}

// checkObject looks for want in the JSON of a policy; an empty want means no rules. The
// JSON of the JSON has to be the same.
func checkObject(t *testing.T, yaml, reason, want string) {
	t.Helper()
	o, text := shown(t, yaml, pods())
	if got := statusOf(t, o).Ancestors[0].Conditions[0].Reason; got != reason || o.Reason != reason || (o.Invalid != nil) != (reason == authorization.ReasonInvalid) {
		t.Errorf("%s: reason %s, %v; want %s", yaml, got, o.Invalid, reason)
	}
	if !strings.Contains(text, want) || strings.Contains(text, `"rules"`) != strings.Contains(yaml, "rules:") {
		t.Errorf("%s: printed as %s, want %s", yaml, text, want)
	}
	for _, printed := range []string{text, string(documents(t, text)[0].YAML())} {
		if _, again := shown(t, printed, pods()); again != text {
			t.Errorf("%s (-printed +printed again):\n%s", yaml, cmp.Diff(text, again))
		}
	}
}

func TestObjects(t *testing.T) {
	t.Parallel()
	const sound = "targetRefs: [{kind: Pod, selector: {}}], action: ALLOW, enforcementLevel: Network, rules: [{}, {}]"
	written := strings.TrimSuffix(object(sound), "}") + ", status: {ancestors: [{ancestorRef: {name: x}, controllerName: a/b}]}}"
	for name, tc := range map[string]struct {
		yaml  string
		pods  []policy.Workload
		rules int
		want  string // the status
	}{
		"accepted":                    {object(sound), pods(), 2, "True Accepted selects ledger"},
		"no pod is known":             {object(sound), nil, 2, "none"},
		"there is no pod":             {object(sound), []policy.Workload{}, 2, "False TargetNotFound no pod of namespace finance matches selector {}"},
		"invalid without a pod":       {object("rules: [{}]"), nil, 1, "False Invalid spec.action: the action is missing: write ALLOW"},
		"the written status stays":    {written, nil, 2, "a/b"},
		"the written status is stale": {written, pods(), 2, "True Accepted selects ledger"},
		"no spec":                     {`{apiVersion: gateway.networking.x-k8s.io/v1alpha1, kind: XAuthorizationPolicy, metadata: {name: p}}`, nil, 0, "False Invalid spec.action: the action is missing: write ALLOW"},
		"metadata of another kind":    {`{apiVersion: gateway.networking.x-k8s.io/v1alpha1, kind: XAuthorizationPolicy, metadata: {name: p, labels: []}}`, nil, 0, "False Invalid metadata.labels: expected a mapping, found a list"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, _ := shown(t, tc.yaml, tc.pods)
			got := "none"
			if status := statusOf(t, o); status != nil {
				got = status.Ancestors[0].ControllerName
				for _, c := range status.Ancestors[0].Conditions {
					got = c.Status + " " + c.Reason + " " + c.Message
				}
			}
			if got != tc.want || o.Rules != tc.rules || o.Name != "p" || o.Kind != "XAuthorizationPolicy" {
				t.Errorf("%+v, status %q; want %d rules, %q", o, got, tc.rules, tc.want)
			}
		})
	}
}

// TestObjectsOfALargerDocument shows that the status has the place in the policy, and the
// error the place in the file.
func TestObjectsOfALargerDocument(t *testing.T) {
	t.Parallel()
	part, ok := documents(t, "policies: [1, "+object("action: DENY")+"]")[0].At("policies[1]")
	if !ok {
		t.Fatal("the document has no policies[1]")
	}
	objects, err := authorization.Objects([]manifest.Document{part}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := statusOf(t, objects[0]).Ancestors[0].Conditions[0].Message, `spec.action: "DENY" is not supported: ALLOW is the only action`; got != want {
		t.Errorf("status: got %s, want %s", got, want)
	}
	if got, want := objects[0].Invalid.Error(), `p.yaml:1: policies[1].spec.action: "DENY" is not supported: ALLOW is the only action`; got != want {
		t.Errorf("error: got %s, want %s", got, want)
	}
}

// TestNoObjects has documents that no API server could hold. They have no status.
func TestNoObjects(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string]string{
		"[]": `p.yaml:1: kind: "" is not AuthorizationPolicy: use XAuthorizationPolicy`,
		"{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p}}":                                `p.yaml:1: apiVersion: kind AuthorizationPolicy is of group gateway.networking.k8s.io, not of "security.istio.io"`,
		"{apiVersion: gateway.networking.k8s.io/v1, kind: AuthorizationPolicy, metadata: {name: 1}}":                        "p.yaml:1: metadata.name: expected text, found the number 1: put it in quotes",
		"{apiVersion: gateway.networking.k8s.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: [a]}}":        "p.yaml:1: metadata.namespace: expected text, found a list",
		"{apiVersion: gateway.networking.k8s.io/v1, kind: AuthorizationPolicy, metadata: []}":                               "p.yaml:1: metadata.name: a name is required",
		"{apiVersion: gateway.networking.k8s.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: A}}":          `p.yaml:1: metadata.namespace: "A" is no namespace: `,
		"{apiVersion: gateway.networking.k8s.io/v1, kind: AuthorizationPolicy, metadata: {name: p}, spec: {rules: [.nan]}}": "p.yaml:1: an API server cannot hold it: json: unsupported value: NaN",
		object("action: DENY") + "\n---\n" + object("action: DENY"):                                                         "p.yaml:3: metadata.name: finance/p is defined twice, first at p.yaml:1: delete one of the two",
	} {
		objects, err := authorization.Objects(documents(t, yaml), pods())
		if err == nil || !strings.HasPrefix(err.Error(), want) || objects != nil {
			t.Errorf("%s:\ngot  %v, %v\nwant %s", yaml, objects, err, want)
		}
		if !errors.As(err, new(*manifest.Error)) {
			t.Errorf("%s: the error has no place: %v", yaml, err)
		}
	}
}

// TestObjectsOfRefusals shows that each policy of the archive is one object or none, as Parse
// says.
func TestObjectsOfRefusals(t *testing.T) {
	t.Parallel()
	archive, err := txtar.ParseFile(refusals)
	if err != nil {
		t.Fatal(err)
	}
	invalid := 0
	for _, file := range archive.Files {
		for _, doc := range documents(t, string(file.Data)) {
			_, want := authorization.Parse(doc)
			objects, err := authorization.Objects([]manifest.Document{doc}, nil)
			switch {
			case err != nil && want == nil:
				t.Errorf("%s: no object: %v", file.Name, err)
			case err == nil && want != nil:
				invalid++
				if diff := cmp.Diff(want, objects[0].Invalid); diff != "" {
					t.Errorf("%s (-want +got):\n%s", file.Name, diff)
				}
			}
		}
	}
	if invalid < 40 {
		t.Errorf("%d invalid objects, want those of most refusals", invalid)
	}
}
