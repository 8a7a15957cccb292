package kuma

import (
	"errors"
	"net/http"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy/kuma/internal/conversion"
	"github.com/meshproof/meshproof/policy/kuma/internal/inspect"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Dialect reads MeshTrafficPermission. Its options are kumaOption, shadowForm,
// systemNamespace and legacyCompiler. It is a [capability.Converter] and a
// [capability.Inspector], and its policies have a decision tree.
var Dialect language.Dialect = dialect{}

type dialect struct{}

func (dialect) Name() string { return "kuma" }

func (dialect) Kinds() string {
	return "MeshTrafficPermission, as type: or with apiVersion: kuma.io/v1alpha1"
}

func (dialect) Owns(doc manifest.Document) bool { return permission.Owns(doc) }

func (dialect) NewOptions() any { return new(permission.Options) }

func (dialect) Parse(docs []manifest.Document, opts language.Options) (language.Policies, error) {
	own, err := readOptions(opts)
	if err != nil {
		return nil, err
	}
	all, err := permission.ParseAll(docs)
	if err == nil {
		err = permission.CheckForms(all, own)
	}
	if err != nil {
		return nil, err
	}
	return policies{all, own}, nil
}

func readOptions(opts language.Options) (own permission.Options, err error) {
	err = opts.Document.DecodeKnown(&own)
	return own, err
}

// Inspect implements [capability.Inspector].
func (dialect) Inspect(folder string, opts language.Options) (http.Handler, error) {
	own, err := readOptions(opts)
	if err != nil {
		return nil, err
	}
	resources, err := inspect.Load(folder, own)
	if err != nil {
		return nil, err
	}
	return resources.Handler(), nil
}

// Designs implements [capability.Converter].
func (dialect) Designs() capability.Flag {
	return capability.Flag{Name: "to", Values: optionFlag.Values, Value: optionFlag.Value, Usage: "design to rewrite the policies for"}
}

// Convert implements [capability.Converter].
func (dialect) Convert(docs []manifest.Document, design string) (capability.Conversion, error) {
	var to permission.Option
	errs := []error{to.UnmarshalText([]byte(design))}
	for _, doc := range docs {
		if !permission.Owns(doc) {
			errs = append(errs, doc.Errorf("", "this is no MeshTrafficPermission: only policies are converted, as type: or with apiVersion: kuma.io/v1alpha1"))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return capability.Conversion{}, err
	}
	all, err := permission.ParseAll(docs)
	if err != nil {
		return capability.Conversion{}, err
	}
	converted, err := conversion.Convert(all, to)
	for i, note := range converted.Notes {
		converted.Notes[i] = to.String() + ": " + note
	}
	return capability.Conversion(converted), err
}
