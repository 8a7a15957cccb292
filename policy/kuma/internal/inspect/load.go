package inspect

import (
	"errors"
	"fmt"
	"os"

	"github.com/meshproof/meshproof/internal/dataplane"
	"github.com/meshproof/meshproof/internal/kri"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Load reads the MeshTrafficPermissions and Dataplanes in the .yaml and .yml files of a
// folder and of the folders below it, or in a single file. It refuses a document of
// another kind, a policy that the option does not read, and a folder without documents.
// All errors are joined, one line each with its place.
func Load(folder string, opts permission.Options) (*Resources, error) {
	files, err := manifest.Files(folder)
	if err != nil {
		return nil, fmt.Errorf("inspect: %w", err)
	}
	var docs []manifest.Document
	var errs []error
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			errs = append(errs, fmt.Errorf("inspect: %w", err))
			continue
		}
		read, err := manifest.Parse(file, data)
		docs, errs = append(docs, read...), append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if len(docs) == 0 {
		return nil, fmt.Errorf("inspect: %s: there is nothing to inspect: name a folder with Dataplanes and MeshTrafficPermissions in .yaml files", folder)
	}
	return Parse(docs, opts)
}

// Parse reads documents as [Load] reads files.
func Parse(docs []manifest.Document, opts permission.Options) (*Resources, error) {
	var owned []manifest.Document
	var dataplanes []*dataplane.Dataplane
	var errs []error
	ids, names := make(map[kri.KRI]string), make(map[[2]string]string)
	for _, doc := range docs {
		if permission.Owns(doc) {
			owned = append(owned, doc)
			continue
		}
		d, err := parseOther(doc)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		name := [2]string{d.Workload.Mesh, d.Name}
		switch first, second := ids[d.ID()], names[name]; {
		case first != "":
			errs = append(errs, doc.Errorf("", "%s is defined twice, first at %s", d.ID(), first))
			continue
		case second != "":
			errs = append(errs, doc.Errorf("", "dataplane %q is defined twice, first at %s", d.Name, second))
			continue
		}
		ids[d.ID()], names[name] = d.Place, d.Place
		dataplanes = append(dataplanes, d)
	}
	policies, err := permission.ParseAll(owned)
	if err == nil {
		err = permission.CheckForms(policies, opts)
	}
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	return newResources(dataplanes, policies, opts), nil
}

func parseOther(doc manifest.Document) (*dataplane.Dataplane, error) {
	const known = "a folder to inspect has MeshTrafficPermissions and Dataplanes"
	switch head := doc.Type(); {
	case dataplane.Owns(doc):
		return dataplane.Parse(doc)
	case head.Type != "":
		return nil, doc.Errorf("type", "kind %q is unknown: %s", head.Type, known)
	case head.Kind != "":
		return nil, doc.Errorf("kind", "kind %q of apiVersion %q is unknown: %s", head.Kind, head.APIVersion, known)
	default:
		return nil, doc.Errorf("", "there is neither type nor apiVersion and kind: %s", known)
	}
}
