package clusterobject

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/policy/manifest"
)

// deliveryGroups are the groups of the objects by which Flux and Argo CD take folders, by the kinds of these objects.
var deliveryGroups = map[string]string{"Application": "argoproj.io", "ApplicationSet": "argoproj.io", "HelmRelease": "helm.toolkit.fluxcd.io", "Kustomization": "kustomize.toolkit.fluxcd.io"}

// deliveryNames are these groups, for each text in which one may stand.
var deliveryNames = slices.Collect(maps.Values(deliveryGroups))

// Deliveries returns the objects of a list, and those of Flux and Argo CD that others have in their fields, such as a ResourceSet: something makes these. A patch of such
// objects counts as an object that takes each folder, because the patch may be for any of them. The objects have the names of their makers.
func (l List) Deliveries() []Object {
	out := slices.Clone(l.All)
	for _, o := range l.All {
		out = append(out, o.carried()...)
		if o.Category != Unknown {
			continue
		}
		if isOfArgo, _ := filepath.Match(".argocd-source*.yaml", filepath.Base(o.File())); isOfArgo && o.Kind == "" {
			out = append(out, o.making("Application", map[string]any{"source": o.Fields}))
		}
		out = append(out, l.byChart(o)...)
		inside := o.Fields
		if !o.IsNone() && !o.IsOfKustomize() {
			inside = fieldvalue.Lookup(o.Fields, "spec")
		}
		fieldvalue.Any(inside, func(value any) bool {
			fields := fieldvalue.Mapping(value)
			made := o
			version, _ := fields["apiVersion"].(string)
			made.Kind, _ = fields["kind"].(string)
			if made.Group, _, _ = strings.Cut(version, "/"); made.IsDelivery() {
				made.Fields = fields
				out = append(out, made)
			}
			out = append(out, l.patched(o, fields)...)
			for _, inline := range fieldvalue.Texts(fields["patchesStrategicMerge"]) {
				if strings.Contains(inline, "spec") { // else it is the name of a file
					out = append(out, l.patched(o, map[string]any{"patch": inline})...)
				}
			}
			out = append(out, o.ofValues(fields)...)
			return false
		})
	}
	return out
}

// IsDelivery reports whether Flux or Argo CD takes a folder by an object, or by what that makes.
func (o Object) IsDelivery() bool { return o.Group != "" && deliveryGroups[o.Kind] == o.Group }

// carried returns such objects that stand as texts in a ConfigMap, a Secret or another object: something may apply what these carry.
func (o Object) carried() (out []Object) {
	fieldvalue.Any(o.Fields, func(value any) bool {
		text, _ := value.(string)
		if !fieldvalue.HasAnyPart(text, deliveryNames) || !strings.Contains(text, "apiVersion") {
			return false
		}
		docs, _ := manifest.Parse(o.File(), []byte(text))
		for _, doc := range docs {
			if made := Read(doc); made.IsDelivery() {
				o.Group, o.Kind, o.Fields = made.Group, made.Kind, made.Fields
				out = append(out, o)
			}
		}
		return false
	})
	return out
}

// making is an object that another one makes, or changes so.
func (o Object) making(kind string, spec any) Object {
	o.Group, o.Kind, o.Fields = deliveryGroups[kind], kind, map[string]any{"spec": spec}
	return o
}

// ofValues returns the object of Flux or Argo CD that a chart may make of values: one that takes a folder, and changes what it takes.
func (o Object) ofValues(values map[string]any) []Object {
	_, isOfGit := values["repoURL"].(string) // a definition of such objects has a mapping there
	_, isOfFolder := values["path"].(string)
	switch {
	case o.IsDelivery() && o.Kind != "HelmRelease" || o.IsOfKustomize():
	case isOfGit && (values["kustomize"] != nil || values["plugin"] != nil):
		return []Object{o.making("Application", map[string]any{"source": values})}
	case isOfFolder && (values["patches"] != nil || values["targetNamespace"] != nil):
		return []Object{o.making("Kustomization", values)}
	}
	return nil
}

// byChart returns a release of a chart that another object names, with that chart: the whole root where the object is not there.
func (l List) byChart(o Object) []Object {
	of := fieldvalue.Lookup(o.Fields, "spec", "chartRef")
	if kind := fieldvalue.Lookup(of, "kind"); o.Kind != "HelmRelease" || kind != "HelmChart" && kind != "ExternalArtifact" {
		return nil
	}
	var chart any = map[string]any{"chart": "."}
	for _, other := range l.All {
		if other.Kind == "HelmChart" && other.Name == fieldvalue.Lookup(of, "name") {
			chart = fieldvalue.Lookup(other.Fields, "spec")
		}
	}
	spec := maps.Clone(fieldvalue.Mapping(fieldvalue.Lookup(o.Fields, "spec")))
	spec["chart"] = map[string]any{"spec": chart}
	return []Object{o.making(o.Kind, spec)}
}

// charts returns the folders that releases take.
func (l List) charts() (out []string) {
	for _, o := range l.All {
		if o.Kind == "HelmRelease" {
			for _, release := range append(l.byChart(o), o) {
				out = append(out, release.Takes()...)
			}
		}
	}
	return out
}

// patched returns what a patch of Kustomize or Flux may give objects that take folders.
func (l List) patched(of Object, fields map[string]any) (out []Object) {
	text, isPatch := fields["patch"].(string)
	name, _ := fields["path"].(string)
	if !isPatch && (name == "" || fields["target"] == nil) {
		return nil
	}
	docs, err := manifest.Parse(of.File(), []byte(text))
	if name != "" {
		for _, o := range l.All {
			if o.File() == filepath.Join(filepath.Dir(of.File()), name) {
				docs = append(docs, o.Doc)
			}
		}
	}
	add := func(body any, kind string) {
		for _, one := range slices.Sorted(maps.Keys(deliveryGroups)) {
			if !mayBe(kind, one) {
				continue
			}
			if one != "HelmRelease" {
				out = append(out, of.making(one, body))
				continue
			}
			for _, at := range l.charts() {
				spec := maps.Clone(fieldvalue.Mapping(body))
				spec["chart"] = map[string]any{"spec": map[string]any{"chart": at, "sourceRef": map[string]any{"kind": "GitRepository"}}}
				out = append(out, of.making(one, spec))
			}
		}
	}
	target, _ := fieldvalue.Lookup(fields, "target", "kind").(string)
	if err != nil && fields["target"] != nil {
		add(map[string]any{"patches": text, "postRenderers": text, "source": map[string]any{"plugin": text}}, target)
	}
	for _, doc := range docs {
		var operations []any
		if doc.Decode(&operations) != nil {
			kind := target
			if fields["target"] == nil {
				kind = doc.Type().Kind
			}
			if spec, states := fieldvalue.Lookup(fieldvalue.Decode(doc), "spec").(map[string]any); states && (kind != "" || fields["target"] != nil) {
				add(spec, kind)
			}
		}
		for _, operation := range operations {
			if spec := specOf(fieldvalue.Mapping(operation)); spec != nil && fields["target"] != nil {
				add(spec, target)
			}
		}
	}
	return out
}

// mayBe reports whether the kind of a target, which is an expression, may be a kind.
func mayBe(expression, kind string) bool {
	found, err := regexp.MatchString("^(?:"+expression+")$", kind)
	return expression == "" || found || err != nil
}

// specOf returns what an operation of a patch in JSON puts into the spec of an object, nil where it puts nothing there.
func specOf(operation map[string]any) any {
	path, _ := operation["path"].(string)
	parts := strings.Split(path, "/")
	if len(parts) < 2 || parts[1] != "spec" || operation["op"] == "remove" || operation["op"] == "test" {
		return nil
	}
	value := operation["value"]
	if value == nil {
		value = operation["from"]
	}
	for _, part := range slices.Backward(parts[2:]) {
		if strings.Trim(part, "0123456789-") == "" {
			value = []any{value}
		} else {
			value = map[string]any{part: value}
		}
	}
	return value
}
