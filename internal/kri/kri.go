// Package kri reads and writes Kuma resource identifiers. Envoy reports policies under
// these names:
//
//	kri_<type>_<mesh>_<zone>_<namespace>_<name>_<section>
//
// The format has no escaping. It is unambiguous because only the last field may have an
// underscore. The package guarantees that: [KRI.Validate] refuses a field that would be
// read back as another, and [Parse] accepts exactly the identifiers that Validate
// accepts.
//
// It knows the resource types that this module uses, and no others.
package kri

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy"
)

// Short names of the resource types.
const (
	MeshTrafficPermission = "mtp"
	Dataplane             = "dp"
	Mesh                  = "m"
	MeshHTTPRoute         = "mhttpr"
	MeshTCPRoute          = "mtcpr"
	MeshTimeout           = "mt"
	MeshService           = "msvc"
	MeshMultiZoneService  = "mzsvc"
	MeshExternalService   = "extsvc"
)

var types = []string{
	Dataplane, MeshExternalService, Mesh, MeshHTTPRoute, MeshService, MeshTimeout, MeshTCPRoute, MeshTrafficPermission, MeshMultiZoneService,
}

// KRI identifies one resource, or with Section a part of it. Type and Name are
// required. Call [KRI.Validate] where the fields come from outside.
type KRI struct {
	// Type is a short name, one of the constants.
	Type string
	// Mesh is empty for a resource that belongs to no mesh, such as a mesh itself.
	Mesh string
	// Zone and Namespace are empty on a single-zone and on a universal control plane.
	Zone      string
	Namespace string
	// Name is the display name.
	Name string
	// Section is the name or the port of an inbound. Only Section may have "_".
	Section string
}

// String returns the identifier. [Parse] reads it back where [KRI.Validate] returns nil.
func (k KRI) String() string {
	return strings.Join([]string{"kri", k.Type, k.Mesh, k.Zone, k.Namespace, k.Name, k.Section}, "_")
}

// Parse reads an identifier. It returns an error where a field is missing or
// [KRI.Validate] refuses one.
func Parse(s string) (KRI, error) {
	// A section may have underscores, so that there are seven parts at most.
	parts := strings.SplitN(s, "_", 7)
	if len(parts) < 7 || parts[0] != "kri" {
		return KRI{}, fmt.Errorf("kri: parse %q: want kri_<type>_<mesh>_<zone>_<namespace>_<name>_<section>", s)
	}
	k := KRI{Type: parts[1], Mesh: parts[2], Zone: parts[3], Namespace: parts[4], Name: parts[5], Section: parts[6]}
	if err := k.Validate(); err != nil {
		return KRI{}, fmt.Errorf("kri: parse %q: %w", s, err)
	}
	return k, nil
}

// Validate returns an error where type or name is missing, where the type is unknown, or
// where a field has a character that is not allowed. Fields have lower-case letters,
// digits, "-" and "."; a section may also have upper-case letters and "_".
func (k KRI) Validate() error {
	if !slices.Contains(types, k.Type) {
		return fmt.Errorf("type %q is unknown: use one of %s", k.Type, strings.Join(types, ", "))
	}
	if k.Name == "" {
		return fmt.Errorf("name is empty")
	}
	for _, field := range []struct{ name, value string }{
		{"mesh", k.Mesh}, {"zone", k.Zone}, {"namespace", k.Namespace}, {"name", k.Name},
	} {
		if strings.IndexFunc(field.value, notPlain) >= 0 {
			return fmt.Errorf("%s %q: use lower-case letters, digits, '-' and '.' only", field.name, field.value)
		}
	}
	if strings.IndexFunc(k.Section, notSection) >= 0 {
		return fmt.Errorf("section %q: use letters, digits, '-', '.' and '_' only", k.Section)
	}
	return nil
}

// IsName reports whether a resource can have the name: [KRI.Validate] takes it.
func IsName(name string) bool { return name != "" && strings.IndexFunc(name, notPlain) < 0 }

func notPlain(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '.')
}

func notSection(r rune) bool { return notPlain(r) && !(r >= 'A' && r <= 'Z') && r != '_' }

// MarshalText returns the identifier, or the error of [KRI.Validate].
func (k KRI) MarshalText() ([]byte, error) {
	if err := k.Validate(); err != nil {
		return nil, fmt.Errorf("kri: marshal %s: %w", k, err)
	}
	return []byte(k.String()), nil
}

// UnmarshalText is [Parse].
func (k *KRI) UnmarshalText(text []byte) error {
	parsed, err := Parse(string(text))
	if err != nil {
		return err
	}
	*k = parsed
	return nil
}

// Inbound returns the identifier of an inbound: the identifier of its Dataplane with the
// inbound's section. A workload without a mesh is in the mesh "default".
func Inbound(in policy.Inbound) KRI {
	w := in.Workload
	return KRI{
		Type: Dataplane, Mesh: cmp.Or(w.Mesh, "default"), Zone: w.Zone, Namespace: w.Namespace, Name: w.Name, Section: in.Section(),
	}
}
