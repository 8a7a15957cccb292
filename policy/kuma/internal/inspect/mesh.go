package inspect

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/dataplane"
	"github.com/meshproof/meshproof/internal/kri"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/lint"
	"github.com/meshproof/meshproof/policy/kuma/internal/outbound"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Resources are the Dataplanes and policies of a folder. They are immutable;
// [Parse] makes them. The zero value has none.
type Resources struct {
	opts   permission.Options
	meshes map[string]*mesh
	// outbounds are the routes and timeouts of all meshes.
	outbounds *outbound.Resources
	last      lastProxy
}

// mesh is one mesh, with the warnings that need all of its inbounds together.
type mesh struct {
	name       string
	dataplanes []*dataplane.Dataplane
	policies   []permission.Policy
	// rules has the rules of each policy, by its KRI.
	rules map[string][]Rule
	// warnings has the warnings of each policy that hold on every inbound it applies to.
	warnings map[string][]Warning
	// idle has the warning of each policy that applies to no inbound.
	idle map[string]Warning
	// unplaced has the warnings of idle where the mesh has no inbound to show them.
	unplaced []Warning
	// routes has the routes that the policies name. Whether they exist is not known.
	routes []policy.InboundRoute
	// mismatches are timeouts for other proxies than the routes that they name, and backends that do not
	// exist.
	mismatches []Warning
}

func newResources(dataplanes []*dataplane.Dataplane, policies []permission.Policy, outbounds *outbound.Resources, opts permission.Options) *Resources {
	r := &Resources{opts: opts, meshes: make(map[string]*mesh), outbounds: outbounds}
	for _, d := range dataplanes {
		m := r.mesh(d.Workload.Mesh)
		m.dataplanes = append(m.dataplanes, d)
	}
	for _, p := range policies {
		m := r.mesh(p.ID.Mesh)
		m.policies = append(m.policies, p)
		if route := p.Route(); route != "" {
			m.routes = append(m.routes, policy.InboundRoute{Name: route})
		}
		m.rules[p.Origin] = append(m.rules[p.Origin], newRules(p)...)
	}
	for _, m := range r.meshes {
		slices.SortFunc(m.dataplanes, func(a, b *dataplane.Dataplane) int { return cmp.Compare(a.Name, b.Name) })
		m.survey(opts)
		var proxies []policy.Inbound
		for _, d := range m.dataplanes {
			proxies = append(proxies, d.Caller())
		}
		for _, i := range outbounds.Mismatches(m.name, proxies) {
			m.mismatches = append(m.mismatches, Warning{Reason: Idle, KRI: i.Origin, Place: i.Place, Message: i.Reason})
		}
		for _, i := range outbounds.MissingBackends(m.name) {
			m.mismatches = append(m.mismatches, Warning{Reason: Ignored, KRI: i.Origin, Place: i.Place, Message: i.Reason})
		}
	}
	return r
}

func (r *Resources) mesh(name string) *mesh {
	m := r.meshes[name]
	if m == nil {
		m = &mesh{name: name, rules: make(map[string][]Rule), warnings: make(map[string][]Warning), idle: make(map[string]Warning)}
		r.meshes[name] = m
	}
	return m
}

func (m *mesh) survey(opts permission.Options) {
	var inbounds []policy.Inbound
	for _, d := range m.dataplanes {
		inbounds = append(inbounds, d.Inbounds...)
	}
	if len(inbounds) == 0 {
		m.noInbound()
	}
	survey := lint.TakeSurvey(m.policies, inbounds, opts)
	if len(m.routes) > 0 {
		// A policy of a route may apply once the route exists.
		for i := range inbounds {
			inbounds[i].Routes = m.routes
		}
		survey.Idle = lint.TakeSurvey(m.policies, inbounds, opts).Idle
	}
	for _, w := range survey.Idle {
		m.idle[w.Policy] = newWarning(Idle, w)
	}
	for _, w := range survey.Hidden {
		m.warnings[w.Policy] = append(m.warnings[w.Policy], newWarning(Hidden, w))
	}
	for _, w := range lint.Lint(m.policies, nil, opts) {
		m.warnings[w.Policy] = append(m.warnings[w.Policy], newWarning(Lint, w))
	}
}

// noInbound marks every policy as idle.
func (m *mesh) noInbound() {
	message := fmt.Sprintf("mesh %q has no Dataplane", m.name)
	if len(m.dataplanes) > 0 {
		message = fmt.Sprintf("no Dataplane of mesh %q has an inbound", m.name)
	}
	for _, p := range m.policies {
		w := Warning{Reason: Idle, KRI: p.String(), Place: p.Place(), Message: message}
		m.idle[p.String()] = w
		m.unplaced = append(m.unplaced, w)
	}
}

// sorted returns the meshes by name.
func (r *Resources) sorted() []*mesh {
	out := make([]*mesh, 0, len(r.meshes))
	for _, m := range r.meshes {
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b *mesh) int { return cmp.Compare(a.name, b.name) })
	return out
}

// find returns the dataplane with that name in URLs, or else the only dataplane with
// that display name.
func (r *Resources) find(meshName, name string) (*mesh, *dataplane.Dataplane, *problem) {
	m := r.meshes[meshName]
	if m == nil {
		return nil, nil, notFound("there is no mesh %q", meshName)
	}
	var found []*dataplane.Dataplane
	for _, d := range m.dataplanes {
		switch {
		case d.Name == name:
			return m, d, nil
		case d.Workload.Name == name:
			found = append(found, d)
		}
	}
	switch len(found) {
	case 0:
		return nil, nil, notFound("mesh %q has no dataplane %q", meshName, name)
	case 1:
		return m, found[0], nil
	}
	names := make([]string, len(found))
	for i, d := range found {
		names[i] = d.Name
	}
	return nil, nil, notFound("mesh %q has %d dataplanes %q: use one of %s", meshName, len(found), name, strings.Join(names, ", "))
}

// findInbound returns the inbound of an identifier. Each part of the identifier has to
// be the mesh of the dataplane.
func findInbound(d *dataplane.Dataplane, text string) (policy.Inbound, *problem) {
	asked, err := kri.Parse(text)
	if err != nil {
		return policy.Inbound{}, badRequest("%v", err)
	}
	own := d.ID()
	for _, part := range []struct{ name, asked, actual string }{
		{"type", asked.Type, own.Type}, {"mesh", asked.Mesh, own.Mesh}, {"zone", asked.Zone, own.Zone},
		{"namespace", asked.Namespace, own.Namespace}, {"name", asked.Name, own.Name},
	} {
		if part.asked != part.actual {
			return policy.Inbound{}, notFound("%s is no inbound of dataplane %q: its %s is %q, the dataplane's is %q", text, d.Name, part.name, part.asked, part.actual)
		}
	}
	for _, in := range d.Inbounds {
		if in.Section() == asked.Section {
			return in, nil
		}
	}
	return policy.Inbound{}, notFound("dataplane %q has no inbound with section %q: it has %s", d.Name, asked.Section, sections(d))
}

func sections(d *dataplane.Dataplane) string {
	if len(d.Inbounds) == 0 {
		return "none"
	}
	names := make([]string, len(d.Inbounds))
	for i, in := range d.Inbounds {
		names[i] = in.Section()
	}
	return strings.Join(names, ", ")
}

// Parse reads MeshTrafficPermissions, Dataplanes, and the routes, timeouts and services that
// [outbound.Owns] tells. It refuses a document of another kind, a policy that the option does
// not read, and no documents at all. All errors are joined, one
// line each with its place.
func Parse(docs []manifest.Document, opts permission.Options) (*Resources, error) {
	if len(docs) == 0 {
		return nil, errors.New("there is nothing to inspect: name a folder with Dataplanes and MeshTrafficPermissions")
	}
	var owned, outward []manifest.Document
	var dataplanes []*dataplane.Dataplane
	var errs []error
	ids, names := make(map[kri.KRI]string), make(map[[2]string]string)
	for _, doc := range docs {
		if permission.Owns(doc) {
			owned = append(owned, doc)
			continue
		}
		if outbound.Owns(doc) {
			outward = append(outward, doc)
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
	outbounds, invalid := outbound.Parse(outward, opts.ControlPlaneNamespace(), opts.Routes)
	if err := errors.Join(append(errs, err, invalid)...); err != nil {
		return nil, err
	}
	return newResources(dataplanes, policies, outbounds, opts), nil
}

func parseOther(doc manifest.Document) (*dataplane.Dataplane, error) {
	const known = "serve reads the MeshTrafficPermissions and Dataplanes of Kuma: ask meshproof inspect inbound about policies of other meshes"
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

// selectFor selects as [selection.Select] does, but the reason for a policy of a route
// says that it may apply: a Dataplane does not state its routes.
func (m *mesh) selectFor(in policy.Inbound, opts permission.Options) selection.Selection {
	sel := selection.Select(m.policies, in, opts)
	if len(m.routes) == 0 {
		return sel
	}
	in.Routes = m.routes
	routed := selection.Select(m.policies, in, opts)
	reasons := make(map[string]string, len(routed.Ignored))
	for _, ignored := range routed.Ignored {
		reasons[ignored.Policy.String()] = ignored.Reason
	}
	for i, ignored := range sel.Ignored {
		reason, missed := reasons[ignored.Policy.String()]
		if !missed {
			reason = fmt.Sprintf("targetRef names the route %q: routes are not known here, so that it may govern one of the inbound", ignored.Policy.Route())
		}
		sel.Ignored[i].Reason = reason
	}
	return sel
}

// selectAlike returns the policies that apply to every inbound of a dataplane. The names
// and ports of the inbounds do not count.
func (m *mesh) selectAlike(d *dataplane.Dataplane, opts permission.Options) selection.Selection {
	if len(d.Inbounds) == 0 {
		return m.selectFor(policy.Inbound{Workload: d.Workload}, opts)
	}
	selections := make([]selection.Selection, len(d.Inbounds))
	applied := make(map[string]int)
	for i, in := range d.Inbounds {
		in.Name, in.Port = "", 0
		selections[i] = m.selectFor(in, opts)
		for _, p := range selections[i].Policies {
			applied[p.String()]++
		}
	}
	// The reasons are those of the first inbound that can have routes.
	sel := selections[max(0, slices.IndexFunc(d.Inbounds, func(in policy.Inbound) bool { return in.Protocol.Layer() == policy.L7 }))]
	const some = "it applies to some of the inbounds, this is about all of them alike: ask for the policies of an inbound"
	for i, ignored := range sel.Ignored {
		if applied[ignored.Policy.String()] > 0 {
			sel.Ignored[i].Reason = some
		}
	}
	sel.Policies = slices.DeleteFunc(sel.Policies, func(p permission.Policy) bool {
		partly := applied[p.String()] < len(d.Inbounds)
		if partly {
			sel.Ignored = append(sel.Ignored, selection.Ignored{Policy: p, Reason: some})
		}
		return partly
	})
	return sel
}
