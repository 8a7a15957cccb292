package adversary

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/certs"
)

// Identity is a certificate that a reader may take for the certificate of the victim.
type Identity struct {
	// Name is unique among the identities, in kebab case, and stable.
	Name string
	// Attack describes the attack in one sentence.
	Attack string
	// Source is the rule that the certificate breaks or uses.
	Source string
	// Template describes the certificate for [certs.Authority.Forge].
	Template certs.Template
	// SignedBy is the trust domain whose CA signs: the victim's own, or its [Sibling].
	// The attack of a sibling needs an inbound that trusts the sibling.
	SignedBy spiffeid.TrustDomain
	// NamesVictim tells that the certificate names the victim: alone, among other names,
	// or in a spelling that some reader takes for the same. A deny on the victim has
	// failed when it lets such a certificate pass. It may let the other certificates pass.
	NamesVictim bool
}

// Sibling returns the sibling trust domain: the name of the given domain is a prefix of its
// name, and it has another owner.
func Sibling(td spiffeid.TrustDomain) spiffeid.TrustDomain {
	if td.IsZero() {
		return td
	}
	return spiffeid.RequireTrustDomainFromString(td.Name() + ".evil")
}

// Attacker returns the attacker's own identity: a workload next to the victim. The
// victim's name is no prefix of its name. It is the zero ID when the victim has no path.
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

// names are the parts of the identities.
type names struct {
	// victim and attacker are whole SPIFFE IDs. domain and sibling are trust domains.
	victim, attacker, domain, sibling string
	// path is the path of the victim. It is dir, which ends in a slash, and last.
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

// siblingPath returns the victim's path in the sibling namespace, or below a sibling of the
// first segment when the path has no namespace.
func (n names) siblingPath() string {
	segments := strings.Split(n.path, "/")
	namespace := 1
	if i := slices.Index(segments, "ns"); i > 0 && i+1 < len(segments) {
		namespace = i + 1
	}
	segments[namespace] += "-evil"
	return strings.Join(segments, "/")
}

// swapCase changes the case of the ASCII letters of s.
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

// The rules that the identities break or use.
const (
	oneURI    = "X509-SVID, section 2: exactly one URI SAN; section 5.2: more than one is to be refused"
	pathChars = "SPIFFE-ID, section 2.2: letters, digits, dot, dash and underscore only"
	pathForm  = "SPIFFE-ID, section 2.2: no empty and no dot segments, no trailing slash"
	idParts   = "SPIFFE-ID, section 2: no query or fragment; section 2.1: no user or port"
	idCase    = "RFC 3986, section 6.2.2.1: scheme and host have no case; SPIFFE-ID, section 2.1: written in lower case"
	pathCase  = "RFC 3986, section 6.2.2.1: a path has case"
	escapes   = "RFC 3986, section 6.2.2.2: an escaped unreserved character is that character; SPIFFE-ID, section 2.2: no escapes"
	ownCA     = "SPIFFE-ID, section 3: signed by an authority of the ID's own trust domain"
	prefixes  = "envoy.type.matcher.v3.StringMatcher: a prefix is a run of bytes"
	joined    = "envoy.extensions.matching.common_inputs.ssl.v3.UriSanInput: all URI SANs, joined by commas"
	xfcc      = "x-forwarded-client-cert: keys end in a semicolon, elements in a comma"
)

// Identities returns the mutations of the identity of a victim: a policy names the victim
// to allow or to deny it. There are none when the victim has no path, because such an ID
// names no workload.
func Identities(victim spiffeid.ID) []Identity {
	if victim.Path() == "" {
		return nil
	}
	own := victim.TrustDomain()
	n := namesOf(victim)
	all := slices.Concat(n.multiNames(), n.spellings(), n.neighbours(), n.siblings(Sibling(own)))
	for i := range all {
		if all[i].SignedBy.IsZero() {
			all[i].SignedBy = own
		}
	}
	// A victim without letters has no other case.
	return slices.DeleteFunc(all, func(id Identity) bool {
		return len(id.Template.DNS) == 0 && slices.Equal(id.Template.URIs, []string{n.victim}) && id.SignedBy == own
	})
}

// multiNames are certificates that name the victim among others, or have no name.
func (n names) multiNames() []Identity {
	withURI, withoutURI := uris(n.attacker), uris()
	withURI.DNS, withoutURI.DNS = []string{n.victim}, []string{n.victim}
	return []Identity{
		{Name: "two-uris-victim-first", Attack: "Two URI SANs, the first of them the victim's.", Source: oneURI, Template: uris(n.victim, n.attacker), NamesVictim: true},
		{Name: "two-uris-victim-last", Attack: "Two URI SANs, the last of them the victim's.", Source: oneURI, Template: uris(n.attacker, n.victim), NamesVictim: true},
		{Name: "victim-twice", Attack: "Two URI SANs, both the victim's.", Source: oneURI, Template: uris(n.victim, n.victim), NamesVictim: true},
		{Name: "comma-victim-first", Attack: "One URI SAN that looks like two joined ones, the victim's first.", Source: joined, Template: uris(n.victim + "," + n.attacker), NamesVictim: true},
		{Name: "comma-victim-last", Attack: "One URI SAN that looks like two joined ones, the victim's last.", Source: joined, Template: uris(n.attacker + "," + n.victim), NamesVictim: true},
		{Name: "comma-behind", Attack: "The victim's URI SAN with a comma after it, as a second, empty SAN would produce.", Source: joined, Template: uris(n.victim + ","), NamesVictim: true},
		{Name: "empty-uri-first", Attack: "An empty URI SAN before the victim's.", Source: oneURI, Template: uris("", n.victim), NamesVictim: true},
		{Name: "empty-uri-last", Attack: "An empty URI SAN after the victim's.", Source: oneURI, Template: uris(n.victim, ""), NamesVictim: true},
		{Name: "empty-uri", Attack: "One empty URI SAN.", Source: oneURI, Template: uris("")},
		{Name: "nameless", Attack: "No SAN at all.", Source: oneURI, Template: uris()},
		{Name: "dns-alone", Attack: "A DNS SAN with the text of the victim's SPIFFE ID, and no URI SAN.", Source: "RFC 5280, section 4.2.1.6: a dNSName is a host name", Template: withoutURI, NamesVictim: true},
		{Name: "dns-beside-uri", Attack: "A DNS SAN with the text of the victim's SPIFFE ID next to the attacker's URI SAN.", Source: "envoy.config.rbac.v3.Principal.Authenticated: a URI SAN or a DNS SAN", Template: withURI, NamesVictim: true},
		{Name: "xfcc-key", Attack: "The attacker's URI SAN, followed by the text of a second XFCC key with the victim's name.", Source: xfcc, Template: uris(n.attacker + ";URI=" + n.victim)},
		{Name: "xfcc-element", Attack: "The attacker's URI SAN, followed by the text of a second XFCC element with the victim's name.", Source: xfcc, Template: uris(n.attacker + ",URI=" + n.victim)},
	}
}

// spellings are certificates with one URI SAN that some reader takes for the victim's.
func (n names) spellings() []Identity {
	uri := func(path string) string { return "spiffe://" + n.domain + path }
	list := []Identity{
		{Name: "scheme-upper-case", Attack: "The scheme in upper case.", Source: idCase, Template: uris("SPIFFE" + n.victim[len("spiffe"):])},
		{Name: "trust-domain-upper-case", Attack: "The trust domain in upper case.", Source: idCase, Template: uris("spiffe://" + swapCase(n.domain) + n.path)},
		{Name: "escaped-letter", Attack: "The first character of the last segment is escaped.", Source: escapes, Template: uris(uri(n.dir + fmt.Sprintf("%%%02x", n.last[0]) + n.last[1:]))},
		{Name: "escaped-slash", Attack: "The last slash is escaped.", Source: escapes, Template: uris(uri(n.dir[:len(n.dir)-1] + "%2f" + n.last))},
		{Name: "escaped-comma", Attack: "The victim's URI SAN, an escaped comma, and the attacker's.", Source: escapes, Template: uris(n.victim + "%2c" + n.attacker)},
		{Name: "trailing-slash", Attack: "A slash at the end.", Source: pathForm, Template: uris(n.victim + "/")},
		{Name: "double-slash", Attack: "The last slash is doubled.", Source: pathForm, Template: uris(uri(n.dir + "/" + n.last))},
		{Name: "dot-segment", Attack: "A dot segment before the last segment.", Source: pathForm, Template: uris(uri(n.dir + "./" + n.last))},
		{Name: "climb-to-victim", Attack: "The attacker's path climbs to the victim's.", Source: pathForm, Template: uris(n.attacker + "/../" + n.last)},
		{Name: "escaped-climb-to-victim", Attack: "The attacker's path climbs to the victim's with escaped dots.", Source: escapes, Template: uris(n.attacker + "/%2e%2e/" + n.last)},
		{Name: "user", Attack: "A user before the trust domain.", Source: idParts, Template: uris("spiffe://user@" + n.domain + n.path)},
		{Name: "port", Attack: "A port after the trust domain.", Source: idParts, Template: uris("spiffe://" + n.domain + ":443" + n.path)},
		{Name: "query", Attack: "A query after the path.", Source: idParts, Template: uris(n.victim + "?x=1")},
		{Name: "fragment", Attack: "A fragment after the path.", Source: idParts, Template: uris(n.victim + "#x")},
		{Name: "space-behind", Attack: "A space at the end.", Source: pathChars, Template: uris(n.victim + " ")},
		{Name: "nul-behind", Attack: "A NUL and more text after the victim's name, where a C string would end.", Source: pathChars, Template: uris(n.victim + "\x00.evil")},
		{Name: "semicolon", Attack: "A path parameter after the last segment.", Source: pathChars, Template: uris(n.victim + ";x")},
	}
	for i := range list {
		list[i].NamesVictim = true
	}
	return list
}

// neighbours are certificates of other workloads with a name close to the victim's.
func (n names) neighbours() []Identity {
	uri := func(path string) string { return "spiffe://" + n.domain + path }
	return []Identity{
		{Name: "path-other-case", Attack: "The path with upper and lower case exchanged, which is another path.", Source: pathCase, Template: uris(uri(swapCase(n.path)))},
		{Name: "longer-name", Attack: "The victim's name with more text after it.", Source: prefixes, Template: uris(n.victim + "-2")},
		{Name: "shorter-name", Attack: "The victim's name without its last character.", Source: prefixes, Template: uris(n.victim[:len(n.victim)-1])},
		{Name: "below-victim", Attack: "A path below the victim's.", Source: prefixes, Template: uris(n.victim + "/pod")},
		{Name: "climb-from-victim", Attack: "The victim's path climbs to the attacker's.", Source: pathForm, Template: uris(n.victim + "/../" + path.Base(n.attacker))},
		{Name: "sibling-namespace", Attack: "The victim's last segment in a namespace with the victim's namespace as a prefix.", Source: prefixes, Template: uris(uri(n.siblingPath()))},
		{Name: "other-scheme", Attack: "The victim's trust domain and path under another scheme.", Source: "X509-SVID, section 5.2: the scheme is spiffe", Template: uris("https://" + n.domain + n.path)},
		{Name: "homoglyph", Attack: "The last segment begins with a Cyrillic letter.", Source: pathChars, Template: uris(uri(n.dir + "\u0430" + n.last[1:]))},
		{Name: "no-path", Attack: "The trust domain itself, without a path.", Source: "X509-SVID, section 3.1: a leaf has a non-root path", Template: uris(uri(""))},
	}
}

// siblings are certificates of the sibling trust domain.
func (n names) siblings(sibling spiffeid.TrustDomain) []Identity {
	prefix := "spiffe://" + n.sibling
	list := []Identity{
		{Name: "sibling-trust-domain", Attack: "The victim's path in the sibling trust domain.", Source: prefixes, Template: uris(prefix + n.path)},
		{Name: "forged-by-sibling", Attack: "The victim's own name, signed by the CA of the sibling trust domain.", Source: ownCA, Template: uris(n.victim), NamesVictim: true},
		{Name: "sibling-then-victim", Attack: "A name of the sibling trust domain and then the victim's, both signed by the sibling.", Source: ownCA, Template: uris(prefix+"/attacker", n.victim), NamesVictim: true},
		{Name: "victim-then-sibling", Attack: "The victim's name and then a name of the sibling trust domain, both signed by the sibling.", Source: ownCA, Template: uris(n.victim, prefix+"/attacker"), NamesVictim: true},
		{Name: "sibling-comma-victim", Attack: "A name of the sibling trust domain, a comma and the victim's name, signed by the sibling.", Source: joined, Template: uris(prefix + "/attacker," + n.victim), NamesVictim: true},
		{Name: "sibling-user-victim", Attack: "The victim's trust domain as a user of the sibling trust domain, signed by the sibling.", Source: idParts, Template: uris("spiffe://" + n.domain + "@" + n.sibling + n.path)},
	}
	dns := uris(prefix + "/attacker")
	dns.DNS = []string{n.victim}
	list = append(list, Identity{Name: "sibling-dns-victim", Attack: "A name of the sibling trust domain and a DNS SAN with the text of the victim's SPIFFE ID, signed by the sibling.", Source: ownCA, Template: dns, NamesVictim: true})
	for i := range list {
		list[i].SignedBy = sibling
	}
	return list
}
