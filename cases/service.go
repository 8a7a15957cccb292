package cases

import (
	"cmp"
	"regexp"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/policy/manifest"
)

// tagService is the tag that service: stands for.
const tagService = "kuma.io/service"

// The characters of a tag: key and value together must make one URI.
var (
	tagKey   = regexp.MustCompile(`^[A-Za-z0-9._/-]+$`)
	tagValue = regexp.MustCompile(`^[A-Za-z0-9._:-]+$`)
)

// serviceURIs returns the URI SANs of the certificate that Kuma's first design
// gives to a service: spiffe://<mesh>/<service> first, then kuma://<key>/<value>
// for each tag, by key. There are none where none of the three fields is set.
func (s callerSchema) serviceURIs(doc manifest.Document) ([]string, error) {
	switch {
	case s.Service == "" && s.Tags == nil && s.Mesh == "":
		return nil, nil
	case s.URIs != nil:
		return nil, doc.Errorf("uris", "must not be set beside service, tags or mesh: they make the URI SANs")
	case s.Service == "":
		return nil, doc.Errorf("service", "the service is missing: tags and mesh are those of a service")
	}
	td, err := trustDomain(cmp.Or(s.Mesh, casefile.DefaultMesh))
	if err != nil {
		return nil, doc.Errorf("mesh", "%v", err)
	}
	id, err := spiffeid.FromSegments(td, s.Service)
	if err != nil {
		return nil, doc.Errorf("service", "%q makes no SPIFFE ID: %v", s.Service, err)
	}
	uris := []string{id.String()}
	for _, key := range sortedKeys(s.Tags) {
		value := s.Tags[key]
		if key == tagService || !tagKey.MatchString(key) || !tagValue.MatchString(value) {
			return nil, doc.Errorf("tags", "%s=%q cannot be a tag of a certificate; the service has a field of its own", key, value)
		}
		uris = append(uris, "kuma://"+key+"/"+value)
	}
	return uris, nil
}
