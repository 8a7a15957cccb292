package cases

import (
	"strings"

	"golang.org/x/mod/semver"
)

// Gate bounds the versions of Envoy on which a case holds. From is the first of them,
// Before is the first version on which the case no longer holds. Both may be empty. The
// zero value admits all versions.
//
// A gate is a claim like any other. Outside of its bounds the case runs too, and must
// fail there: if it passes, the gate is stale.
type Gate struct{ From, Before string }

// Admits reports whether the case holds on a version, such as "1.39.3".
func (g Gate) Admits(version string) bool {
	compare := func(bound string) int { return semver.Compare("v"+version, "v"+bound) }
	return (g.From == "" || compare(g.From) >= 0) && (g.Before == "" || compare(g.Before) < 0)
}

// String returns text such as "from 1.39.3 and before 1.40.0", and "" for the zero value.
func (g Gate) String() string {
	var bounds []string
	if g.From != "" {
		bounds = append(bounds, "from "+g.From)
	}
	if g.Before != "" {
		bounds = append(bounds, "before "+g.Before)
	}
	return strings.Join(bounds, " and ")
}

func (b *builder) gate() error {
	gate := Gate(b.schema.Envoy)
	for field, version := range map[string]string{"envoy.from": gate.From, "envoy.before": gate.Before} {
		// semver takes v1.39 too, which is no release.
		if version != "" && semver.Canonical("v"+version) != "v"+version {
			return b.doc.Errorf(field, "%q is not a version of Envoy: write one such as 1.39.3", version)
		}
	}
	if gate.From != "" && gate.Before != "" && semver.Compare("v"+gate.From, "v"+gate.Before) >= 0 {
		return b.doc.Errorf("envoy", "no version is %s", gate)
	}
	b.out.Gate = gate
	return nil
}
