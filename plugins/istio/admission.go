package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"istio.io/istio/manifests"
	"istio.io/istio/pilot/pkg/config/kube/crd"
	"istio.io/istio/pkg/config"
	schemas "istio.io/istio/pkg/config/crd"
	"istio.io/istio/pkg/config/schema/collections"
	"istio.io/istio/pkg/config/schema/resource"
)

// admission refuses what a cluster with Istio refuses.
type admission struct{ schemas *schemas.Validator }

// definitions are the CRDs of the policies that this program reads.
var definitions = []string{"authorizationpolicies", "peerauthentications", "requestauthentications"}

// newAdmission reads the CRDs that Istio's chart installs.
func newAdmission() (*admission, error) {
	all, err := manifests.FS.ReadFile("charts/base/files/crd-all.gen.yaml")
	if err != nil {
		return nil, err
	}
	var own [][]byte
	for _, one := range bytes.Split(all, []byte("\n---\n")) {
		for _, plural := range definitions {
			if bytes.Contains(one, []byte("\n  name: "+plural+".security.istio.io\n")) {
				own = append(own, one)
			}
		}
	}
	if len(own) != len(definitions) {
		return nil, fmt.Errorf("read the CRDs of Istio: %d of %d found", len(own), len(definitions))
	}
	// The validator of Istio reads files only.
	folder, err := os.MkdirTemp("", "istio-crds-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "crds.yaml")
	if err := os.WriteFile(file, bytes.Join(own, []byte("\n---\n")), 0o600); err != nil {
		return nil, err
	}
	read, err := schemas.NewValidatorFromFilesWithOptions([]string{file}, schemas.WithoutCRDValidation())
	return &admission{read}, err
}

// admitAll returns the policies as Istio keeps them, or the errors of all.
func (a *admission) admitAll(policies []json.RawMessage) ([]config.Config, error) {
	var out []config.Config
	var wrong []error
	taken := map[string]bool{}
	for _, text := range policies {
		one, err := a.admit(text)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		if taken[one.Key()] {
			wrong = append(wrong, fmt.Errorf("%s %s/%s exists already", one.GroupVersionKind.Kind, one.Namespace, one.Name))
		}
		taken[one.Key()] = true
		out = append(out, *one)
	}
	return out, errors.Join(wrong...)
}

// admit asks in the order of a cluster: the API server for the object and its schema, then the
// webhook of Istio.
func (a *admission) admit(text json.RawMessage) (*config.Config, error) {
	var object unstructured.Unstructured
	if err := object.UnmarshalJSON(text); err != nil {
		return nil, err
	}
	// The API server does so before it validates, and no field of these CRDs may be null
	// (PruneNonNullableNullsWithoutDefaults of apiextensions-apiserver).
	dropNulls(object.Object)
	name := fmt.Sprintf("%s %s/%s", object.GetKind(), object.GetNamespace(), object.GetName())
	pruned, err := object.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var typed crd.IstioKind
	if err := json.Unmarshal(pruned, &typed); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if typed.Namespace == "" {
		typed.Namespace = "default"
	}
	if errs := validation.ValidateObjectMeta(&typed.ObjectMeta, true, validation.NameIsDNSSubdomain, field.NewPath("metadata")); len(errs) > 0 {
		return nil, fmt.Errorf("%s: %w", name, errs.ToAggregate())
	}
	if err := a.schemas.ValidateCustomResource(&object); err != nil {
		return nil, err
	}
	gvk := typed.GroupVersionKind()
	schema, ok := collections.Pilot.FindByGroupVersionAliasesKind(resource.FromKubernetesGVK(&gvk))
	if !ok {
		return nil, fmt.Errorf("%s: Istio has no such kind", name)
	}
	out, err := crd.ConvertObjectInternal(schema, &typed, "", strictly)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if _, err := schema.ValidateConfig(*out); err != nil {
		return nil, fmt.Errorf("%s: %s", name, strings.Join(strings.Fields(err.Error()), " "))
	}
	return out, nil
}

// dropNulls removes the fields without a value. An item of a list without a value stays.
func dropNulls(v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			if inner == nil {
				delete(v, key)
			}
			dropNulls(inner)
		}
	case []any:
		for _, inner := range v {
			dropNulls(inner)
		}
	}
}

// strictly reads a spec and refuses unknown fields.
func strictly(schema resource.Schema, text string) (config.Spec, error) {
	out, err := schema.NewInstance()
	if err != nil {
		return nil, err
	}
	return out, config.ApplyJSONStrict(out, text)
}
