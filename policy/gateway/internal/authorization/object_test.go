package authorization_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/property"
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

// TestObjectsKeepAbsentEmptyAndSet has valid and invalid policies, and reads the output
// again.
func TestObjectsKeepAbsentEmptyAndSet(t *testing.T) {
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
	part, ok := documents(t, "policies: [1, "+object("action: DENY")+"]")[0].Lookup("policies[1]")
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
		object("action: DENY") + "\n---\n" + object("action: DENY"):                                                         "p.yaml:3: metadata.name: finance/p is defined twice, first at p.yaml:1: delete one of the two, or write out what is applied, such as by kustomize build",
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

// reparse prints a policy and reads the output.
func reparse(t testing.TB, p authorization.Policy) authorization.Policy {
	t.Helper()
	text, err := json.Marshal(p.Resource())
	if err != nil {
		t.Fatal(err)
	}
	// Once more as YAML.
	return parseAll(t, string(documents(t, string(text))[0].YAML()))[0]
}

// TestRoundTripKeepsAbsentEmptyAndSetApart goes from the text to Go and back, and then to a
// program. A missing pair of brackets would change the program.
func TestRoundTripKeepsAbsentEmptyAndSetApart(t *testing.T) {
	t.Parallel()
	in := inbounds()[0]
	for rules, want := range map[string]struct{ printed, rule string }{
		"":                                       {`"spec":{"targetRefs":[{"kind":"Pod","selector":{}}],"action":"ALLOW","enforcementLevel":"Network"}`, ""},
		"[]":                                     {`"rules":[]`, ""},
		"[{}]":                                   {`"rules":[{}]`, "allow by default/p/000 when always"},
		"[{sources: []}]":                        {`"rules":[{"sources":[]}]`, "allow by default/p/000 when never"},
		"[{networkAttributes: {}}]":              {`"rules":[{"networkAttributes":{}}]`, "allow by default/p/000 when always"},
		"[{sources: [], networkAttributes: {}}]": {`"rules":[{"sources":[],"networkAttributes":{}}]`, "allow by default/p/000 when never"},
		"[{networkAttributes: {ports: [8080]}}]": {`"rules":[{"networkAttributes":{"ports":[8080]}}]`, "allow by default/p/000 when always"},
		"[{networkAttributes: {ports: [80]}}]":   {`"rules":[{"networkAttributes":{"ports":[80]}}]`, "allow by default/p/000 when never"},
		"[{sources: [{type: ServiceAccount, serviceAccount: {name: a}}]}]": {
			`"rules":[{"sources":[{"type":"ServiceAccount","serviceAccount":{"name":"a"}}]}]`, `allow by default/p/000 when a URI SAN = "spiffe://td/ns/default/sa/a"`},
	} {
		p := parseAll(t, one("p", "{}", rules))[0]
		text, err := json.Marshal(p.Resource())
		if err != nil || !strings.Contains(string(text), want.printed) {
			t.Errorf("rules %q are printed as %s, %v; want %s", rules, text, err, want.printed)
		}
		for _, p := range []authorization.Policy{p, reparse(t, p)} {
			program := authorization.Lower(authorization.Select([]authorization.Policy{p}, in), in, options).String()
			wantProgram := "gate of named rules L4\n"
			if want.rule != "" {
				wantProgram += "  " + want.rule + "\n"
			}
			if diff := cmp.Diff(wantProgram+"  else deny\n", program); diff != "" {
				t.Errorf("rules %q (-want +got):\n%s", rules, diff)
			}
		}
	}
}

func TestRoundTripKeepsEveryField(t *testing.T) {
	t.Parallel()
	const full = `{apiVersion: gateway.networking.k8s.io/v1, kind: AuthorizationPolicy,
  metadata: {name: p, namespace: web, labels: {}, annotations: {a: b}, generation: 7, uid: u, resourceVersion: "1", creationTimestamp: t},
  spec: {targetRefs: [{group: "", kind: Pod, name: "", selector: {matchLabels: {a: ""}, matchExpressions: [{key: b, operator: Exists, values: []}, {key: c, operator: In, values: [d]}]}}],
    action: ALLOW, enforcementLevel: Network, rules: [{sources: [{type: SPIFFE, spiffe: spiffe://td/a}, {type: ServiceAccount, serviceAccount: {namespace: x, name: "*"}}], networkAttributes: {ports: [1]}}]},
  status: {ancestors: [{ancestorRef: {group: "", kind: Namespace, namespace: 'n', name: web, sectionName: s, port: 1}, controllerName: a/b,
    conditions: [{type: Accepted, status: "True", observedGeneration: 7, lastTransitionTime: t, reason: Accepted, message: m}]}]}}`
	p := parseAll(t, full)[0]
	var want, got map[string]any
	if err := documents(t, full)[0].Decode(&want); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(p.Resource())
	if err != nil {
		t.Fatal(err)
	}
	if err := documents(t, string(text))[0].Decode(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-written +printed):\n%s", diff)
	}
}

// kubectl create --dry-run writes a time without a value.
func TestNoCreationTimestamp(t *testing.T) {
	t.Parallel()
	const text = `{apiVersion: gateway.networking.k8s.io/v1, kind: AuthorizationPolicy, metadata: {name: p, creationTimestamp: null},
  spec: {targetRefs: [{kind: Pod, selector: {}}], action: ALLOW, enforcementLevel: Network}}`
	if at := parseAll(t, text)[0].Resource().Metadata.CreationTimestamp; at != nil {
		t.Errorf("it was created at %s", *at)
	}
}

func TestRoundTripOfRandomPolicies(t *testing.T) {
	t.Parallel()
	property.Check(t, func(r *rapid.T) {
		ps := parseAll(t, drawPolicies(r))
		for i, p := range ps {
			ps[i] = reparse(t, p)
			if diff := cmp.Diff(p.Resource(), ps[i].Resource()); diff != "" {
				r.Fatalf("(-before +after):\n%s", diff)
			}
			for _, in := range inbounds() {
				lower := func(p authorization.Policy) policy.Program {
					return authorization.Lower(authorization.Select([]authorization.Policy{p}, in), in, options)
				}
				if want, got := lower(p), lower(ps[i]); !got.Equal(want) {
					r.Fatalf("want\n%s\ngot\n%s", want, got)
				}
			}
		}
	})
}
