package authorization

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/internal/policylist"
	"github.com/meshproof/meshproof/policy/manifest"
)

const defaultNamespace = "default"

// groups has the kinds of the policy, each with its API group.
var groups = map[string]string{experimental: groupOfX, standard: groupOfGateway}

// Kinds are the two names of an AuthorizationPolicy.
var Kinds = []manifest.Head{{APIVersion: groupOfX, Kind: experimental}, {APIVersion: groupOfGateway, Kind: standard}}

// version matches a version of a Kubernetes API. GEP-3779 states no version and one
// schema, so that every version is accepted.
var version = regexp.MustCompile(`^v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?$`)

// Owns reports whether the document is an AuthorizationPolicy of Gateway API, in any
// version, under its experimental kind or under its planned kind.
func Owns(doc manifest.Document) bool {
	head := doc.Type()
	group, _, _ := strings.Cut(head.APIVersion, "/")
	return head.Type == "" && groups[head.Kind] != "" && (group == groupOfX || group == groupOfGateway)
}

// ParseAll parses each document, and refuses a policy that is there twice. The two kinds
// are two names of one policy. Where there is an error it returns no policies, and all
// errors joined, one line each.
func ParseAll(docs []manifest.Document) ([]Policy, error) { return policylist.Parse(docs, Parse) }

// Parse reads one policy. Every error is a [*manifest.Error]. It refuses a field that is
// unknown, lacks its value or has a wrong type, and what GEP-3779 forbids or gives no
// meaning.
func Parse(doc manifest.Document) (Policy, error) {
	var resource AuthorizationPolicy
	if err := doc.Decode(&resource); err != nil {
		return Policy{}, withHint(err)
	}
	resource.Metadata.Namespace = cmp.Or(resource.Metadata.Namespace, defaultNamespace)
	p := Policy{doc: doc, resource: resource}
	for _, check := range []func() error{p.checkHead, p.checkSpec} {
		if err := check(); err != nil {
			return Policy{}, err
		}
	}
	var err error
	if p.selector, err = p.target(); err != nil {
		return Policy{}, err
	}
	return p, p.checkRules()
}

// withHint suggests matchExpressions for matchExpression, which GEP-3779 has once.
func withHint(err error) error {
	return manifest.WithMeant(err, "matchExpressions", func(field string) bool { return strings.HasSuffix(field, ".matchExpression") })
}

func (p Policy) checkHead() error {
	r := p.resource
	group, v, _ := strings.Cut(r.APIVersion, "/")
	switch want, known := groups[r.Kind]; {
	case !known:
		return p.doc.Errorf("kind", "%q is not %s: use %s", r.Kind, standard, experimental)
	case group != want:
		return p.doc.Errorf("apiVersion", "kind %s is of group %s, not of %q", r.Kind, want, group)
	case !version.MatchString(v):
		return p.doc.Errorf("apiVersion", "%q is no version of %s: write one such as %s/v1alpha1", v, group, group)
	}
	if problem := metadata.NameProblem(r.Metadata.Name); problem != "" {
		return p.doc.Errorf("metadata.name", "%s", problem)
	}
	if problem := metadata.NamespaceProblem(r.Metadata.Namespace); problem != "" {
		return p.doc.Errorf("metadata.namespace", "%s", problem)
	}
	return nil
}

func (p Policy) checkSpec() error {
	spec := p.resource.Spec
	switch {
	case spec.Action == "":
		return p.doc.Errorf("spec.action", "the action is missing: write %s", actionAllow)
	case spec.Action != actionAllow:
		return p.doc.Errorf("spec.action", "%q is not supported: %s is the only action", spec.Action, actionAllow)
	case spec.EnforcementLevel == "":
		return p.doc.Errorf("spec.enforcementLevel", "the level is missing: write %s", levelNetwork)
	case spec.EnforcementLevel != levelNetwork:
		return p.doc.Errorf("spec.enforcementLevel", "%q is not supported: %s is the only level", spec.EnforcementLevel, levelNetwork)
	case spec.Rules == nil && p.isNull("spec.rules"):
		return p.doc.Errorf("spec.rules", "the list has no value: write [] or leave the field out to let no caller in, [{}] to let every caller in")
	}
	return nil
}

// isNull reports whether a field was written without a value. The decoder takes it as
// absent, and the author may mean an empty list.
func (p Policy) isNull(field string) bool {
	at, written := p.doc.Lookup(field)
	if !written {
		return false
	}
	var value any
	return at.Decode(&value) == nil && value == nil
}

func item(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }

func (p Policy) checkRules() error {
	for i, rule := range p.rules() {
		if err := p.checkRule(item("spec.rules", i), rule); err != nil {
			return err
		}
	}
	return nil
}

func (p Policy) checkRule(field string, rule Rule) error {
	switch sources := field + ".sources"; {
	case rule.Sources != nil:
		for i, source := range *rule.Sources {
			if err := p.checkSource(item(sources, i), source); err != nil {
				return err
			}
		}
	case p.isNull(sources):
		return p.doc.Errorf(sources, "the list has no value: write [] to let no caller in, leave the field out to let every caller in")
	}
	attributes := field + ".networkAttributes"
	if rule.NetworkAttributes == nil {
		if p.isNull(attributes) {
			return p.doc.Errorf(attributes, "the field has no value: leave it out to mean all ports")
		}
		return nil
	}
	return p.checkPorts(attributes+".ports", rule.NetworkAttributes.Ports)
}

func (p Policy) checkPorts(field string, ports *[]uint16) error {
	switch {
	case ports == nil && p.isNull(field), ports != nil && len(*ports) == 0:
		return p.doc.Errorf(field, "the list has no port: leave the field out to mean all ports")
	case ports == nil:
		return nil
	}
	for i, port := range *ports {
		if port == 0 {
			return p.doc.Errorf(item(field, i), "0 is no port: use 1 to 65535")
		}
	}
	return nil
}

func (p Policy) checkSource(field string, s Source) error {
	switch s.Type {
	case "":
		return p.doc.Errorf(field+".type", "the type is missing: use %s or %s", sourceSPIFFE, sourceAccount)
	case sourceSPIFFE:
		switch {
		case s.ServiceAccount != nil:
			return p.doc.Errorf(field+".serviceAccount", "must not be set beside type %s: write a source for each", s.Type)
		case s.SPIFFE == nil:
			return p.doc.Errorf(field+".spiffe", "the SPIFFE ID is missing")
		}
		return p.checkSPIFFE(field+".spiffe", *s.SPIFFE)
	case sourceAccount:
		switch {
		case s.SPIFFE != nil:
			return p.doc.Errorf(field+".spiffe", "must not be set beside type %s: write a source for each", s.Type)
		case s.ServiceAccount == nil:
			return p.doc.Errorf(field+".serviceAccount", "the service account is missing")
		}
		return p.checkAccount(field+".serviceAccount", *s.ServiceAccount)
	default:
		return p.doc.Errorf(field+".type", "%q is unknown: use %s or %s", s.Type, sourceSPIFFE, sourceAccount)
	}
}

// longestURI is the length of the longest AbsoluteURI of Gateway API, in bytes. GEP-3779 makes a SPIFFE ID one of these.
const longestURI = 253

// checkSPIFFE checks the value against the SPIFFE ID standard, for an SVID has a SPIFFE
// ID. GEP-3779 demands a path behind the trust domain.
func (p Policy) checkSPIFFE(field, value string) error {
	if strings.Contains(value, "*") {
		return p.doc.Errorf(field, "a SPIFFE ID is compared as a whole, * has no meaning in it: list the IDs, or use type %s", sourceAccount)
	}
	id, err := spiffeid.FromString(value)
	switch {
	case err != nil:
		return p.doc.Errorf(field, "not a SPIFFE ID: %v", err)
	case len(value) > longestURI:
		return p.doc.Errorf(field, "it has %d characters, and an AbsoluteURI of Gateway API no more than %d", len(value), longestURI)
	case id.Path() == "":
		return p.doc.Errorf(field, "%s names a trust domain and no workload: write the path of the workload behind it", value)
	}
	return nil
}

func (p Policy) checkAccount(field string, a ServiceAccount) error {
	if a.Namespace != nil {
		if *a.Namespace == "" {
			return p.doc.Errorf(field+".namespace", "the namespace is empty: leave the field out to mean the policy's, %s", p.resource.Metadata.Namespace)
		}
		if reasons := validation.IsDNS1123Label(*a.Namespace); reasons != nil {
			return p.doc.Errorf(field+".namespace", "%q is no namespace: %s", *a.Namespace, reasons[0])
		}
	}
	switch {
	case a.Name == "":
		return p.doc.Errorf(field+".name", "the name is missing: write * for all service accounts of the namespace")
	case a.Name == anyAccount:
		return nil
	}
	if reasons := validation.IsDNS1123Subdomain(a.Name); reasons != nil {
		return p.doc.Errorf(field+".name", "%q is neither * nor a name of a service account: %s", a.Name, reasons[0])
	}
	return nil
}

// target checks the only targetRef and returns its selector.
func (p Policy) target() (labels.Selector, error) {
	const field = "spec.targetRefs"
	refs := p.resource.Spec.TargetRefs
	if len(refs) == 0 {
		return nil, p.doc.Errorf(field, "a target is required: write {kind: Pod, selector: {}} for all pods of the namespace")
	}
	for i, ref := range refs {
		if err := p.checkTarget(item(field, i), ref); err != nil {
			return nil, err
		}
	}
	if len(refs) > 1 {
		return nil, p.doc.Errorf(item(field, 1), "kind Pod allows one targetRef: write one selector, or one policy for each")
	}
	return p.parseSelector(item(field, 0)+".selector", *refs[0].Selector)
}

func (p Policy) checkTarget(field string, ref TargetRef) error {
	group := ""
	if ref.Group != nil {
		group = *ref.Group
	}
	switch {
	case ref.Kind == "":
		return p.doc.Errorf(field+".kind", "the kind is missing: write Pod")
	case ref.Kind != kindPod && ref.Selector != nil:
		return p.doc.Errorf(field+".selector", "kind %s takes no selector: only pods are selected by labels", ref.Kind)
	case ref.Kind != kindPod:
		return p.doc.Errorf(field+".kind", "%q is not supported: at level %s only pods are targets, write kind: Pod and a selector", ref.Kind, levelNetwork)
	case group != "" && group != "core":
		return p.doc.Errorf(field+".group", "kind Pod is of the core group, not of %q: leave the group out", group)
	case ref.Name != nil && *ref.Name != "":
		return p.doc.Errorf(field+".name", "pods are not targeted by name: write a selector")
	case ref.Selector == nil:
		return p.doc.Errorf(field+".selector", "the selector is missing: write {} for all pods of the namespace")
	}
	return nil
}

// operators has the operators of a Kubernetes label selector. apimachinery has more.
var operators = map[string]selection.Operator{
	"In": selection.In, "NotIn": selection.NotIn, "Exists": selection.Exists, "DoesNotExist": selection.DoesNotExist,
}

// parseSelector reads a selector. Its requirements keep their order, labels first.
func (p Policy) parseSelector(field string, s LabelSelector) (labels.Selector, error) {
	selector := labels.NewSelector()
	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		r, err := labels.NewRequirement(key, selection.Equals, []string{s.MatchLabels[key]})
		if err != nil {
			return nil, p.doc.Errorf(fmt.Sprintf("%s.matchLabels[%q]", field, key), "%v", err)
		}
		selector = selector.Add(*r)
	}
	for i, e := range s.MatchExpressions {
		at := item(field+".matchExpressions", i)
		operator, known := operators[e.Operator]
		takesValues := operator == selection.In || operator == selection.NotIn
		switch {
		case !known:
			return nil, p.doc.Errorf(at+".operator", "%q is no operator: use In, NotIn, Exists or DoesNotExist", e.Operator)
		case takesValues && len(e.Values) == 0:
			return nil, p.doc.Errorf(at+".values", "operator %s needs one value at least", e.Operator)
		case !takesValues && len(e.Values) > 0:
			return nil, p.doc.Errorf(at+".values", "operator %s takes no values: leave them out", e.Operator)
		}
		r, err := labels.NewRequirement(e.Key, operator, e.Values)
		if err != nil {
			return nil, p.doc.Errorf(at, "%v", err)
		}
		selector = selector.Add(*r)
	}
	return selector, nil
}

// expression prints the selector as kubectl describe does.
func (s LabelSelector) expression() string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		parts = append(parts, key+": "+s.MatchLabels[key])
	}
	for _, e := range s.MatchExpressions {
		part := e.Key + " " + e.Operator
		if len(e.Values) > 0 {
			part += " (" + strings.Join(e.Values, ", ") + ")"
		}
		parts = append(parts, part)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
