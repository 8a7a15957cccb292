package cases

import (
	"cmp"
	"crypto/x509"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Caller sends a request.
type Caller struct {
	// Name is the caller as the case file spells it.
	Name string
	// A plaintext caller uses no TLS. An anonymous caller shows no certificate.
	Plaintext, Anonymous bool
	// Template is the certificate of every other caller. The CA of the trust domain
	// SignedBy signs it.
	Template certs.Template
	SignedBy spiffeid.TrustDomain
	// SourceIP is the address that the caller has; the harness chooses one for the
	// zero value.
	SourceIP netip.Addr
}

// soundCaller returns a caller with a sound SVID.
func soundCaller(name string, id spiffeid.ID) Caller {
	return Caller{Name: name, Template: certs.Template{URIs: []string{id.String()}}, SignedBy: id.TrustDomain()}
}

func (b *builder) addCallers() error {
	for _, name := range slices.Sorted(maps.Keys(b.schema.Callers)) {
		doc := b.schema.Callers[name]
		if _, ok := b.workloads[name]; ok {
			return doc.Errorf("", "%q is a workload already", name)
		}
		if casefile.Reserved(name) {
			return doc.Errorf("", "the name %q has a meaning of its own", name)
		}
		c, err := b.forge(name, doc)
		if err != nil {
			return err
		}
		b.callers[name] = c
	}
	return nil
}

// forge reads an entry under callers, whose certificate need not be sound.
func (b *builder) forge(name string, doc manifest.Document) (Caller, error) {
	var s callerSchema
	if err := doc.Decode(&s); err != nil {
		return Caller{}, err
	}
	if s.Expired && s.NotYetValid {
		return Caller{}, doc.Errorf("notYetValid", "a certificate cannot be both expired and not yet valid")
	}
	service, err := s.serviceURIs(doc)
	if err != nil {
		return Caller{}, err
	}
	s.URIs = append(s.URIs, service...)
	c := Caller{
		Name:     name,
		Template: certs.Template{URIs: s.URIs, DNS: s.DNS, CA: s.CACertificate},
		SignedBy: b.built.TrustDomains[0],
	}
	switch {
	case s.Expired:
		c.Template.Validity = certs.Expired
	case s.NotYetValid:
		c.Template.Validity = certs.NotYetValid
	}
	if s.WrongExtKeyUsage {
		c.Template.Usages = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	}
	if len(s.URIs) > 0 {
		// A sound certificate is signed by the CA of its own trust domain.
		if id, err := spiffeid.FromString(s.URIs[0]); err == nil {
			c.SignedBy = id.TrustDomain()
		}
	}
	if s.SignedBy != "" {
		if c.SignedBy, err = trustDomain(s.SignedBy); err != nil {
			return Caller{}, doc.Errorf("signedBy", "%v", err)
		}
	}
	if s.SourceIP != "" {
		if c.SourceIP, err = endpoint.Caller(s.SourceIP); err != nil {
			return Caller{}, doc.Errorf("sourceIP", "%v", err)
		}
	}
	return c, nil
}

// caller finds the caller that a request names in a field.
func (b *builder) caller(field, name string) (Caller, error) {
	switch {
	case name == casefile.Plaintext:
		return Caller{Name: name, Plaintext: true}, nil
	case name == casefile.Anonymous:
		return Caller{Name: name, Anonymous: true}, nil
	case strings.HasPrefix(name, "spiffe://"):
		id, err := spiffeid.FromString(name)
		if err != nil {
			return Caller{}, b.doc.Errorf(field, "%q is not a SPIFFE ID: %v", name, err)
		}
		return soundCaller(name, id), nil
	}
	if c, ok := b.callers[name]; ok {
		return c, nil
	}
	if c, ok := b.workloads[name]; ok {
		return c, nil
	}
	if strings.Contains(name, "/ns/") {
		return Caller{}, b.doc.Errorf(field, "there is no caller %q: a SPIFFE ID begins with its scheme: write spiffe://%s", name, strings.TrimPrefix(name, "/"))
	}
	known := slices.Concat([]string{casefile.Plaintext, casefile.Anonymous}, slices.Sorted(maps.Keys(b.callers)), slices.Sorted(maps.Keys(b.workloads)))
	return Caller{}, b.doc.Errorf(field, "there is no caller %q: use a SPIFFE ID, or the name of a caller: %s", name, strings.Join(known, ", "))
}

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
	for _, key := range slices.Sorted(maps.Keys(s.Tags)) {
		value := s.Tags[key]
		if key == tagService || !tagKey.MatchString(key) || !tagValue.MatchString(value) {
			return nil, doc.Errorf("tags", "%s=%q cannot be a tag of a certificate; the service has a field of its own", key, value)
		}
		uris = append(uris, "kuma://"+key+"/"+value)
	}
	return uris, nil
}
