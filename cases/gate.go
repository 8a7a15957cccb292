package cases

import (
	"maps"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Gate says on which Envoys a case holds. The zero value admits all of them.
//
// A gate is a claim like any other. On other Envoys the case runs too, and must fail
// there: if it passes, the gate is stale. Fixes are ported back to older releases, so a
// gate that is about a fix names the behaviour and not the release.
type Gate struct {
	// From is the first version, Before is the first version on which the case no longer
	// holds. Both may be empty.
	From, Before string
	// Behaves are the answers that the Envoy gives to probes.
	Behaves []behavior.Condition
	// AnyOf are gates: at least one of them admits the Envoy. Without any there is no such demand.
	AnyOf []Gate
}

// Admits reports whether the case holds on an Envoy of a version, such as "1.39.3", that
// behaves in this way.
func (g Gate) Admits(version string, as behavior.Set) bool {
	compare := func(bound string) int { return semver.Compare("v"+version, "v"+bound) }
	switch {
	case g.From != "" && compare(g.From) < 0, g.Before != "" && compare(g.Before) >= 0:
		return false
	case slices.ContainsFunc(g.Behaves, func(c behavior.Condition) bool { return !c.Holds(as) }):
		return false
	default:
		return len(g.AnyOf) == 0 || slices.ContainsFunc(g.AnyOf, func(one Gate) bool { return one.Admits(version, as) })
	}
}

// String returns text such as "from 1.39.3 and before 1.40.0" or "where dotParameters is
// resolved", and "" for the zero value.
func (g Gate) String() string {
	var all []string
	if g.From != "" {
		all = append(all, "from "+g.From)
	}
	if g.Before != "" {
		all = append(all, "before "+g.Before)
	}
	for _, c := range g.Behaves {
		all = append(all, "where "+c.String())
	}
	if len(g.AnyOf) > 0 {
		texts := make([]string, len(g.AnyOf))
		for i, one := range g.AnyOf {
			texts[i] = one.String()
		}
		all = append(all, strings.Join(texts, ", or "))
	}
	return strings.Join(all, " and ")
}

// gateSchema is the field envoy of a case: one gate, or a list of gates.
type gateSchema struct{ gate Gate }

// UnmarshalManifest lets [manifest.Document.Decode] read the type.
func (s *gateSchema) UnmarshalManifest(d manifest.Document) error {
	all, isList := items(d)
	if !isList {
		var err error
		s.gate, err = readGate(d)
		return err
	}
	if len(all) == 0 {
		return d.Errorf("", "the list is empty, so that it admits every Envoy: leave it out")
	}
	for _, one := range all {
		gate, err := readGate(one)
		if err != nil {
			return err
		}
		s.gate.AnyOf = append(s.gate.AnyOf, gate)
	}
	return nil
}

func readGate(d manifest.Document) (Gate, error) {
	var schema struct {
		From    string            `yaml:"from"`
		Before  string            `yaml:"before"`
		Behaves map[string]string `yaml:"behaves"`
	}
	if err := d.Decode(&schema); err != nil {
		return Gate{}, err
	}
	out := Gate{From: schema.From, Before: schema.Before}
	for _, bound := range []struct{ field, version string }{{"from", out.From}, {"before", out.Before}} {
		// semver takes v1.39 too, which is no release.
		if v := "v" + bound.version; bound.version != "" && semver.Canonical(v) != v {
			return Gate{}, d.Errorf(bound.field, "%q is not a version of Envoy: write one such as 1.39.3", bound.version)
		}
	}
	if out.From != "" && out.Before != "" && semver.Compare("v"+out.From, "v"+out.Before) >= 0 {
		return Gate{}, d.Errorf("", "no version is %s", out)
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Behaves)) {
		c, err := behavior.ParseCondition(name, schema.Behaves[name])
		if err != nil {
			return Gate{}, d.Errorf("behaves", "%v", err)
		}
		out.Behaves = append(out.Behaves, c)
	}
	if out.String() == "" {
		return Gate{}, d.Errorf("", "it admits every Envoy: use from, before, behaves")
	}
	return out, nil
}
