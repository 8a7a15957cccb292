package feature

import (
	"fmt"
	"slices"
)

// Name is the name of a feature, in Gateway API's spelling, such as
// "AuthorizationPolicyPorts".
type Name string

// UnmarshalText implements [encoding.TextUnmarshaler]; it refuses a name that is not
// registered.
func (n *Name) UnmarshalText(text []byte) error {
	if _, ok := Lookup(Name(text)); !ok {
		return fmt.Errorf("feature %q is unknown: meshproof features lists those there are", text)
	}
	*n = Name(text)
	return nil
}

// Profile is the name of a specification, in the spelling of a conformance report.
type Profile string

// The profiles.
const (
	// KumaMTP is Kuma's MeshTrafficPermission by SPIFFE ID, all three options.
	KumaMTP Profile = "KUMA-MTP"
	// KumaMTPLegacy is MeshTrafficPermission's first design, with from.
	KumaMTPLegacy Profile = "KUMA-MTP-LEGACY"
	// GEP3779 is Gateway API's AuthorizationPolicy.
	GEP3779 Profile = "GEP-3779"
)

// UnmarshalText implements [encoding.TextUnmarshaler]; it refuses a profile that does
// not exist.
func (p *Profile) UnmarshalText(text []byte) error {
	if all := Profiles(); !slices.Contains(all, Profile(text)) {
		return fmt.Errorf("profile %q is unknown: there are %v", text, all)
	}
	*p = Profile(text)
	return nil
}

// Level is the level of a feature: core or extended.
type Level uint8

const (
	// Core features are those that every compiler supports that claims the profile.
	Core Level = iota
	// Extended features are a choice.
	Extended
)

// String returns "core" or "extended".
func (l Level) String() string {
	if l == Extended {
		return "extended"
	}
	return "core"
}

// Feature is something that a compiler supports or does not support.
type Feature struct {
	Name    Name
	Profile Profile
	Level   Level
	// About is a sentence about a compiler with the feature.
	About string
}

// Profiles returns all profiles, in the order in which a report lists them.
func Profiles() []Profile { return []Profile{KumaMTP, KumaMTPLegacy, GEP3779} }

// All returns all features, profile by profile, and the core features of a profile first.
func All() []Feature { return slices.Clone(registry) }

// Lookup returns a feature by its name, and whether there is one.
func Lookup(name Name) (Feature, bool) {
	i := slices.IndexFunc(registry, func(f Feature) bool { return f.Name == name })
	if i < 0 {
		return Feature{}, false
	}
	return registry[i], true
}
