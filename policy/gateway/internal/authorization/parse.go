package authorization

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/meshproof/meshproof/policy/manifest"
)

const defaultNamespace = "default"

// groups has the kinds of the policy, each with its API group.
var groups = map[string]string{experimental: groupOfX, standard: groupOfGateway}

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
func ParseAll(docs []manifest.Document) ([]Policy, error) {
	var errs []error
	ps := make([]Policy, 0, len(docs))
	names := firstPlaces{}
	for _, doc := range docs {
		p, err := Parse(doc)
		if err == nil {
			err = names.add(doc, p.String())
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		ps = append(ps, p)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return ps, nil
}

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
	if e := new(manifest.Error); errors.As(err, &e) && strings.HasSuffix(e.Field, ".matchExpression") {
		hinted := *e
		hinted.Reason = "unknown field: did you mean matchExpressions?"
		return &hinted
	}
	return err
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
	case r.Metadata.Name == "":
		return p.doc.Errorf("metadata.name", "a name is required")
	}
	if reasons := validation.IsDNS1123Subdomain(r.Metadata.Name); reasons != nil {
		return p.doc.Errorf("metadata.name", "%q is no name of a Kubernetes object: %s", r.Metadata.Name, reasons[0])
	}
	if reasons := validation.IsDNS1123Label(r.Metadata.Namespace); reasons != nil {
		return p.doc.Errorf("metadata.namespace", "%q is no namespace: %s", r.Metadata.Namespace, reasons[0])
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
		return p.doc.Errorf("spec.rules", "the list has no value: write [] or leave the field out to let nobody in, [{}] to let everybody in")
	}
	return nil
}

// isNull reports whether a field was written without a value. The decoder takes it as
// absent, and the author may mean an empty list.
func (p Policy) isNull(field string) bool {
	at, written := p.doc.At(field)
	if !written {
		return false
	}
	var value any
	return at.Decode(&value) == nil && value == nil
}

func item(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }
