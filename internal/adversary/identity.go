package adversary

import (
	"path"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/certs"
)

// Identity is a certificate that is mistaken for somebody else's, or tries to be.
type Identity struct {
	// Name is unique among the identities, in kebab case, and stable.
	Name string
	// About says in one sentence what the attack is.
	About string
	// Source is the rule that the certificate breaks or leans on.
	Source string
	// Template is the certificate, as [certs.Authority.Forge] takes it.
	Template certs.Template
	// SignedBy is the trust domain whose CA signs: the victim's own, or its
	// [Sibling], which an inbound has to trust for the attack to make sense.
	SignedBy spiffeid.TrustDomain
	// NamesVictim tells that the certificate names the victim, be it among other
	// names, or in a spelling that some reader takes for the same. A deny on the
	// victim that lets it pass was got around; one that lets the others pass did
	// as it was told.
	NamesVictim bool
}

// Sibling returns the trust domain next door: its name begins as the given one
// does and belongs to somebody else.
func Sibling(td spiffeid.TrustDomain) spiffeid.TrustDomain {
	if td.IsZero() {
		return td
	}
	return spiffeid.RequireTrustDomainFromString(td.Name() + ".evil")
}

// Attacker returns the identity that the attacker holds by right: another
// workload beside the victim, whose name does not begin with the
// victim's. It is the zero ID where the victim has no path.
func Attacker(victim spiffeid.ID) spiffeid.ID {
	if victim.Path() == "" {
		return spiffeid.ID{}
	}
	dir, _ := path.Split(victim.Path())
	name := "attacker"
	if strings.HasPrefix(name, path.Base(victim.Path())) {
		name = "other-" + name
	}
	return spiffeid.RequireFromPath(victim.TrustDomain(), dir+name)
}

// names are the spellings that the identities are made of.
type names struct {
	// victim and attacker are whole SPIFFE IDs, domain and sibling trust domains.
	victim, attacker, domain, sibling string
	// path is that of the victim: dir, which ends in a slash, and last.
	path, dir, last string
}

func namesOf(victim spiffeid.ID) names {
	n := names{
		victim:   victim.String(),
		attacker: Attacker(victim).String(),
		domain:   victim.TrustDomain().Name(),
		sibling:  Sibling(victim.TrustDomain()).Name(),
		path:     victim.Path(),
	}
	n.dir, n.last = path.Split(n.path)
	return n
}

// nextDoor returns the path of the victim's namesake in the namespace next door,
// or below the neighbour of the first segment where the path has no namespace.
func (n names) nextDoor() string {
	segments := strings.Split(n.path, "/")
	at := 1
	if i := slices.Index(segments, "ns"); i > 0 && i+1 < len(segments) {
		at = i + 1
	}
	segments[at] += "-evil"
	return strings.Join(segments, "/")
}

// swapCase turns the ASCII letters of s into the other case.
func swapCase(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		default:
			return r
		}
	}, s)
}

func uris(names ...string) certs.Template { return certs.Template{URIs: names} }
