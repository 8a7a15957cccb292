package adversary

import (
	"fmt"
	"path"
	"slices"

	"github.com/spiffe/go-spiffe/v2/spiffeid"
)

// The rules that the identities break or lean on.
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

// Identities returns the mutations of the victim's identity: the one that a policy
// names, be it to allow or to deny it. There are none where the victim has no
// path, and thus names no workload.
func Identities(victim spiffeid.ID) []Identity {
	if victim.Path() == "" {
		return nil
	}
	own := victim.TrustDomain()
	n := namesOf(victim)
	all := slices.Concat(n.several(), n.respelt(), n.neighbours(), n.foreign(Sibling(own)))
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

// several are certificates that name the victim among others, or nobody.
func (n names) several() []Identity {
	beside := uris(n.attacker)
	beside.DNS = []string{n.victim}
	alone := uris()
	alone.DNS = []string{n.victim}
	return []Identity{
		{Name: "two-uris-victim-first", About: "Two URI SANs, of which the first is the victim's.", Source: oneURI, Template: uris(n.victim, n.attacker), NamesVictim: true},
		{Name: "two-uris-victim-last", About: "Two URI SANs, of which the last is the victim's.", Source: oneURI, Template: uris(n.attacker, n.victim), NamesVictim: true},
		{Name: "victim-twice", About: "Two URI SANs, both the victim's.", Source: oneURI, Template: uris(n.victim, n.victim), NamesVictim: true},
		{Name: "comma-victim-first", About: "One URI SAN that reads like two once they are joined, the victim's first.", Source: joined, Template: uris(n.victim + "," + n.attacker), NamesVictim: true},
		{Name: "comma-victim-last", About: "One URI SAN that reads like two once they are joined, the victim's last.", Source: joined, Template: uris(n.attacker + "," + n.victim), NamesVictim: true},
		{Name: "comma-behind", About: "The victim's URI SAN with a comma behind it, as a second, empty one would leave it.", Source: joined, Template: uris(n.victim + ","), NamesVictim: true},
		{Name: "empty-uri-first", About: "An empty URI SAN in front of the victim's.", Source: oneURI, Template: uris("", n.victim), NamesVictim: true},
		{Name: "empty-uri-last", About: "An empty URI SAN behind the victim's.", Source: oneURI, Template: uris(n.victim, ""), NamesVictim: true},
		{Name: "empty-uri", About: "A single URI SAN, which is empty.", Source: oneURI, Template: uris("")},
		{Name: "nameless", About: "No SAN at all.", Source: oneURI, Template: uris()},
		{Name: "dns-alone", About: "A DNS SAN that reads like the victim's SPIFFE ID, and no URI SAN.", Source: "RFC 5280, section 4.2.1.6: a dNSName is a host name", Template: alone, NamesVictim: true},
		{Name: "dns-beside-uri", About: "A DNS SAN that reads like the victim's SPIFFE ID beside the attacker's URI SAN.", Source: "envoy.config.rbac.v3.Principal.Authenticated: a URI SAN or a DNS SAN", Template: beside, NamesVictim: true},
		{Name: "xfcc-key", About: "An attacker's URI SAN that goes on like a second key of XFCC, which names the victim.", Source: xfcc, Template: uris(n.attacker + ";URI=" + n.victim)},
		{Name: "xfcc-element", About: "An attacker's URI SAN that goes on like a second element of XFCC, which names the victim.", Source: xfcc, Template: uris(n.attacker + ",URI=" + n.victim)},
	}
}

// respelt are certificates with one URI SAN that some reader takes for the
// victim's.
func (n names) respelt() []Identity {
	at := func(path string) string { return "spiffe://" + n.domain + path }
	list := []Identity{
		{Name: "scheme-upper-case", About: "The scheme in upper case.", Source: idCase, Template: uris("SPIFFE" + n.victim[len("spiffe"):])},
		{Name: "trust-domain-upper-case", About: "The trust domain in upper case.", Source: idCase, Template: uris("spiffe://" + swapCase(n.domain) + n.path)},
		{Name: "escaped-letter", About: "The first character of the last segment is escaped.", Source: escapes, Template: uris(at(n.dir + fmt.Sprintf("%%%02x", n.last[0]) + n.last[1:]))},
		{Name: "escaped-slash", About: "The last slash is escaped.", Source: escapes, Template: uris(at(n.dir[:len(n.dir)-1] + "%2f" + n.last))},
		{Name: "escaped-comma", About: "The victim's URI SAN, an escaped comma, and the attacker's.", Source: escapes, Template: uris(n.victim + "%2c" + n.attacker)},
		{Name: "trailing-slash", About: "A slash at the end.", Source: pathForm, Template: uris(n.victim + "/")},
		{Name: "double-slash", About: "The last slash is doubled.", Source: pathForm, Template: uris(at(n.dir + "/" + n.last))},
		{Name: "dot-segment", About: "A dot segment in front of the last one.", Source: pathForm, Template: uris(at(n.dir + "./" + n.last))},
		{Name: "climb-to-victim", About: "The attacker's path climbs to the victim's.", Source: pathForm, Template: uris(n.attacker + "/../" + n.last)},
		{Name: "escaped-climb-to-victim", About: "The attacker's path climbs to the victim's with escaped dots.", Source: escapes, Template: uris(n.attacker + "/%2e%2e/" + n.last)},
		{Name: "user", About: "A user in front of the trust domain.", Source: idParts, Template: uris("spiffe://user@" + n.domain + n.path)},
		{Name: "port", About: "A port behind the trust domain.", Source: idParts, Template: uris("spiffe://" + n.domain + ":443" + n.path)},
		{Name: "query", About: "A query behind the path.", Source: idParts, Template: uris(n.victim + "?x=1")},
		{Name: "fragment", About: "A fragment behind the path.", Source: idParts, Template: uris(n.victim + "#x")},
		{Name: "space-behind", About: "A space at the end.", Source: pathChars, Template: uris(n.victim + " ")},
		{Name: "nul-behind", About: "A NUL and more behind the victim's name, which ends there for a reader of C strings.", Source: pathChars, Template: uris(n.victim + "\x00.evil")},
		{Name: "semicolon", About: "A path parameter behind the last segment.", Source: pathChars, Template: uris(n.victim + ";x")},
	}
	for i := range list {
		list[i].NamesVictim = true
	}
	return list
}

// neighbours are certificates of others, whose names are close to the victim's.
func (n names) neighbours() []Identity {
	at := func(path string) string { return "spiffe://" + n.domain + path }
	return []Identity{
		{Name: "path-other-case", About: "The path in the other case of letters, which is another path.", Source: pathCase, Template: uris(at(swapCase(n.path)))},
		{Name: "longer-name", About: "A name that goes on where the victim's ends.", Source: prefixes, Template: uris(n.victim + "-2")},
		{Name: "shorter-name", About: "The victim's name without its last character.", Source: prefixes, Template: uris(n.victim[:len(n.victim)-1])},
		{Name: "below-victim", About: "A path below the victim's.", Source: prefixes, Template: uris(n.victim + "/pod")},
		{Name: "climb-from-victim", About: "The victim's path climbs to the attacker's.", Source: pathForm, Template: uris(n.victim + "/../" + path.Base(n.attacker))},
		{Name: "sibling-namespace", About: "The victim's namesake in a namespace whose name begins as the victim's does.", Source: prefixes, Template: uris(at(n.nextDoor()))},
		{Name: "other-scheme", About: "The victim's trust domain and path under another scheme.", Source: "X509-SVID, section 5.2: the scheme is spiffe", Template: uris("https://" + n.domain + n.path)},
		{Name: "homoglyph", About: "The last segment begins with a Cyrillic letter.", Source: pathChars, Template: uris(at(n.dir + "\u0430" + n.last[1:]))},
		{Name: "no-path", About: "The trust domain itself, without a path.", Source: "X509-SVID, section 3.1: a leaf has a non-root path", Template: uris(at(""))},
	}
}

// foreign are certificates that involve the trust domain next door.
func (n names) foreign(sibling spiffeid.TrustDomain) []Identity {
	there := "spiffe://" + n.sibling
	list := []Identity{
		{Name: "sibling-trust-domain", About: "The victim's namesake in a trust domain whose name begins as the victim's does.", Source: prefixes, Template: uris(there + n.path)},
		{Name: "forged-by-sibling", About: "The victim's own name, signed by the CA of the trust domain next door.", Source: ownCA, Template: uris(n.victim), NamesVictim: true},
		{Name: "sibling-then-victim", About: "A name of the trust domain next door, and behind it the victim's, both signed over there.", Source: ownCA, Template: uris(there+"/attacker", n.victim), NamesVictim: true},
		{Name: "victim-then-sibling", About: "The victim's name, and behind it one of the trust domain next door, both signed over there.", Source: ownCA, Template: uris(n.victim, there+"/attacker"), NamesVictim: true},
		{Name: "sibling-comma-victim", About: "A name of the trust domain next door with a comma and the victim's behind it, signed over there.", Source: joined, Template: uris(there + "/attacker," + n.victim), NamesVictim: true},
		{Name: "sibling-user-victim", About: "The victim's trust domain as the user of the one next door, signed over there.", Source: idParts, Template: uris("spiffe://" + n.domain + "@" + n.sibling + n.path)},
	}
	dns := uris(there + "/attacker")
	dns.DNS = []string{n.victim}
	list = append(list, Identity{Name: "sibling-dns-victim", About: "A name of the trust domain next door, with a DNS SAN that reads like the victim's SPIFFE ID, signed over there.", Source: ownCA, Template: dns, NamesVictim: true})
	for i := range list {
		list[i].SignedBy = sibling
	}
	return list
}
