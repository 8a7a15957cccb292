package permission

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/policy/manifest"
)

// TagService is the tag with the name of a workload's service.
const TagService = "kuma.io/service"

// subsetKind says which fields a kind of the legacy form takes.
type subsetKind struct{ name, tags bool }

var subsetKinds = map[string]subsetKind{
	"Mesh":              {},
	"MeshSubset":        {tags: true},
	"MeshService":       {name: true},
	"MeshServiceSubset": {name: true, tags: true},
}

func (k subsetKind) check(doc manifest.Document, field, kind, name string, tags map[string]string) error {
	switch {
	case k.name && name == "":
		return doc.Errorf(field+".name", "the name is missing: kind %s names a service", kind)
	case !k.name && name != "":
		return doc.Errorf(field+".name", "must not be set with kind %s", kind)
	case k.tags && len(tags) == 0:
		return doc.Errorf(field+".tags", "the tags are missing: kind %s without tags is kind %s", kind, kind[:len(kind)-len("Subset")])
	case !k.tags && tags != nil:
		return doc.Errorf(field+".tags", "must not be set with kind %s", kind)
	}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if err := checkTag(key, tags[key]); err != nil {
			return doc.Errorf(fmt.Sprintf("%s.tags[%q]", field, key), "%v", err)
		}
	}
	if _, twice := tags[TagService]; twice && k.name {
		return doc.Errorf(fmt.Sprintf("%s.tags[%q]", field, TagService), "must not be set beside name: they are the same")
	}
	return nil
}

// A value has no slash, so that key and value can be told apart in a URI SAN.
var (
	tagKey   = regexp.MustCompile(`^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$`)
	tagValue = regexp.MustCompile(`^[A-Za-z0-9._:-]+$`)
)

func checkTag(key, value string) error {
	switch {
	case !tagKey.MatchString(key):
		return fmt.Errorf("%q is no tag: use letters, digits, '.', '_', '-' and single slashes", key)
	case !tagValue.MatchString(value):
		return fmt.Errorf("%q is no value of a tag: use letters, digits, '.', '_', ':' and '-'", value)
	}
	return nil
}

// checkMeshName demands a name that can be a trust domain: certificates have it as
// one.
func checkMeshName(mesh string) error {
	if td, err := spiffeid.TrustDomainFromString(mesh); err != nil || td.Name() != mesh {
		return fmt.Errorf("mesh %q is no trust domain, so that no certificate names it: use lower-case letters, digits, '.', '_' and '-'", mesh)
	}
	return nil
}

// checkServiceIdentity demands that spiffe://<mesh>/<service> is a SPIFFE ID.
func checkServiceIdentity(mesh, service string) error {
	if err := checkMeshName(mesh); err != nil {
		return err
	}
	td := spiffeid.RequireTrustDomainFromString(mesh)
	if _, err := spiffeid.FromSegments(td, service); err != nil {
		return fmt.Errorf("service %q of mesh %q makes no SPIFFE ID: %w", service, mesh, err)
	}
	return nil
}
