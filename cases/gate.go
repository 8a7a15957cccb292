package cases

import (
	"strings"

	"golang.org/x/mod/semver"
)

// Gate bounds the versions of Envoy on which a case holds: From is the first of
// them, Before the first on which it no longer holds; either may be empty. The zero
// value admits all.
//
// A gate is a claim like any other. Whoever runs the case outside of its bounds
// expects it to fail there: one that passes has a stale gate.
type Gate struct{ From, Before string }

// Admits reports whether the case holds on a version, such as "1.39.3".
func (g Gate) Admits(version string) bool {
	at := func(bound string) int { return semver.Compare("v"+version, "v"+bound) }
	return (g.From == "" || at(g.From) >= 0) && (g.Before == "" || at(g.Before) < 0)
}

// String returns the bounds as a reader says them, "" for the zero value.
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
