package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	schemas "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cilium/cilium/pkg/k8s/apis/cilium.io/client"
	v2 "github.com/cilium/cilium/pkg/k8s/apis/cilium.io/v2"
	"github.com/cilium/cilium/pkg/policy/api"
)

// admission refuses what a cluster with Cilium refuses.
type admission struct{ kinds map[string]definition }

// definition is the CRD of a kind.
type definition struct {
	namespaced bool
	structure  *schema.Structural
	validator  schemas.SchemaCreateValidator
}

// newAdmission reads the CRDs that Cilium's operator installs.
func newAdmission() (*admission, error) {
	out := &admission{map[string]definition{}}
	for kind, crd := range map[string]string{v2.CNPKindDefinition: client.CNPCRDName, v2.CCNPKindDefinition: client.CCNPCRDName} {
		read, err := readDefinition(crd)
		if err != nil {
			return nil, fmt.Errorf("read the CRD of %s: %w", kind, err)
		}
		out.kinds[kind] = read
	}
	return out, nil
}

func readDefinition(crd string) (definition, error) {
	spec := client.GetPregeneratedCRD(logger, crd).Spec
	var internal apiextensions.CustomResourceValidation
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(spec.Versions[0].Schema, &internal, nil); err != nil {
		return definition{}, err
	}
	structure, err := schema.NewStructural(internal.OpenAPIV3Schema)
	if err != nil {
		return definition{}, err
	}
	validator, _, err := schemas.NewSchemaValidator(internal.OpenAPIV3Schema)
	return definition{spec.Scope == apiextensionsv1.NamespaceScoped, structure, validator}, err
}

// admitAll returns the rules of the policies as the agent reads them, or the errors of all.
func (a *admission) admitAll(policies []json.RawMessage, cluster string) (api.Rules, error) {
	var out api.Rules
	var wrong []error
	taken := map[string]bool{}
	for _, text := range policies {
		var object unstructured.Unstructured
		if err := object.UnmarshalJSON(text); err != nil {
			wrong = append(wrong, err)
			continue
		}
		key := fmt.Sprintf("%s %s/%s", object.GetKind(), object.GetNamespace(), object.GetName())
		rules, err := a.admit(object, cluster)
		if err == nil && taken[key] {
			err = errors.New("exists already")
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", key, err))
		}
		taken[key] = true
		out = append(out, rules...)
	}
	return out, errors.Join(wrong...)
}

// admit asks in the order of a cluster: the API server for the object and its schema, then the
// agent.
func (a *admission) admit(object unstructured.Unstructured, cluster string) (api.Rules, error) {
	kind, ok := a.kinds[object.GetKind()]
	if !ok || object.GetAPIVersion() != v2.SchemeGroupVersion.String() {
		return nil, fmt.Errorf("Cilium has no kind %s of %s", object.GetKind(), object.GetAPIVersion())
	}
	// The cluster writes the status.
	delete(object.Object, "status")
	if unknown := pruning.PruneWithOptions(object.Object, kind.structure, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}); len(unknown) > 0 {
		return nil, fmt.Errorf("unknown fields: %s", strings.Join(unknown, ", "))
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(object.Object, kind.structure)
	defaulting.Default(object.Object, kind.structure)
	errs := schemas.ValidateCustomResource(nil, object.Object, kind.validator)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, kind.structure, object.Object)...)
	if len(errs) > 0 {
		return nil, errs.ToAggregate()
	}
	text, err := object.MarshalJSON()
	if err != nil {
		return nil, err
	}
	if kind.namespaced {
		var typed v2.CiliumNetworkPolicy
		if err := json.Unmarshal(text, &typed); err != nil {
			return nil, err
		}
		if typed.Namespace == "" {
			typed.Namespace = metav1.NamespaceDefault
		}
		if err := validateMeta(&typed.ObjectMeta, true); err != nil {
			return nil, err
		}
		return typed.Parse(logger, cluster)
	}
	var typed v2.CiliumClusterwideNetworkPolicy
	if err := json.Unmarshal(text, &typed); err != nil {
		return nil, err
	}
	if err := validateMeta(&typed.ObjectMeta, false); err != nil {
		return nil, err
	}
	return typed.Parse(logger, cluster)
}

func validateMeta(meta *metav1.ObjectMeta, namespaced bool) error {
	return validation.ValidateObjectMeta(meta, namespaced, validation.NameIsDNSSubdomain, field.NewPath("metadata")).ToAggregate()
}
