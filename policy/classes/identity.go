package classes

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

var _ = add(row{attribute: attribute.Identity, pattern: bytesPattern, names: true})

// callerSpace is the space of callers, by the text that [policy.Request.Identity] makes
// of their URI SANs, or by the one name that decides about them. Where each name is
// judged by itself, a mark in front of the text keeps callers without any name apart
// from what begins with "".
type callerSpace struct {
	// perName is true where a condition looks at each name by itself.
	perName bool
	// joined is true where a condition looks at the names as one text.
	joined bool
	// wide is true where any text is a name.
	wide bool
	// trusted are the trust domains of the callers; empty for any.
	trusted []string
	// known are trust domains to take witnesses from.
	known []string
}

const (
	scheme        = "spiffe://"
	foreignDomain = "other.example"
	ownDomain     = "trust-domain.mesh"
)

func (*callerSpace) name() string                  { return "caller" }
func (*callerSpace) read(r *policy.Request) string { return r.Identity() }
func (d *callerSpace) describe(p pattern) string {
	if p.kind == policy.Exact {
		return "identity " + d.value(p.text)
	}
	return "identity " + d.value(p.text) + "…"
}

// alphabet has the comma between URI SANs.
func (d *callerSpace) alphabet() string {
	if d.wide {
		return wideSpace{}.alphabet() + ","
	}
	return strings.TrimSuffix(unreservedChars, "~") + "/,"
}

// nameMark stands in front of every name.
const nameMark = "+"

func (d *callerSpace) key(value string) string {
	if d.perName && value != "" {
		return nameMark + value
	}
	return value
}

func (d *callerSpace) value(key string) string {
	if d.perName {
		return strings.TrimPrefix(key, nameMark)
	}
	return key
}

// markedPattern returns the pattern of a leaf for a space that judges each name by
// itself.
func (l leaf) markedPattern() pattern {
	if p := l.pattern; l.dimension == callers && (l.perName || p.text != "") {
		return pattern{text: nameMark + p.text, kind: p.kind}
	}
	return l.pattern
}

// isRest reports whether the cell of the pattern is the cell of callers that no matcher
// covers.
func (d *callerSpace) isRest(p pattern) bool {
	return p.kind == policy.Prefix && (p.text == nameMark && d.perName || p.text == "" && !d.perName)
}

func (d *callerSpace) put(r *policy.Request, value string) { r.URIs = splitNames(value) }

func (d *callerSpace) clear(r *policy.Request) { r.URIs = nil }

// splitNames returns the names that Envoy joins to a text.
func splitNames(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// sound takes a SPIFFE ID by the rules of go-spiffe, and no name at all. Where the names
// are judged as one text only, it takes several SPIFFE IDs too.
func (d *callerSpace) sound(identity string) error {
	switch {
	case identity == "":
		return nil
	case d.perName:
		return d.soundID(identity)
	}
	for name := range strings.SplitSeq(identity, ",") {
		if err := d.soundID(name); err != nil {
			return err
		}
	}
	return nil
}

func (d *callerSpace) soundID(identity string) error {
	if d.wide {
		return nil
	}
	id, err := spiffeid.FromString(identity)
	switch {
	case err != nil:
		return &idError{identity, err}
	case id.Path() == "":
		return fmt.Errorf("%q names a trust domain, not a workload: a leaf has a path (X509-SVID, section 3.1)", identity)
	case len(d.trusted) > 0 && !slices.Contains(d.trusted, id.TrustDomain().Name()):
		return fmt.Errorf("%q is not of a trust domain that the inbound trusts", identity)
	default:
		return nil
	}
}

// idError says why a name is no SPIFFE ID. Its text is made where somebody reads it: a search for witnesses tries
// many names.
type idError struct {
	identity string
	cause    error
}

func (e *idError) Error() string {
	return fmt.Sprintf("%q is not a SPIFFE ID: %v", e.identity, e.cause)
}
func (e *idError) Unwrap() error { return e.cause }

// complete prefers the known trust domains, and identities of the form that meshes on Kubernetes
// give to a service account.
func (d *callerSpace) complete(key string, n int) []string {
	if d.perName && key == "" {
		return []string{""}
	}
	prefix := d.value(key)
	if comma := strings.LastIndexByte(prefix, ','); comma >= 0 && !d.perName {
		var out []string
		for _, last := range d.completeName(prefix[comma+1:], n) {
			out = append(out, prefix[:comma+1]+last)
		}
		return out
	}
	out := d.completeName(prefix, n)
	if d.wide {
		out = append(out, prefix+unusual+filler(n))
	}
	return out
}

func (d *callerSpace) completeName(prefix string, n int) []string {
	if strings.HasPrefix(scheme, prefix) {
		prefix = scheme
	}
	name := filler(n)
	rest, isID := strings.CutPrefix(prefix, scheme)
	switch {
	case !isID:
		return []string{prefix + name, prefix}
	case strings.HasSuffix(rest, "/"):
		return append(accounts(prefix, name), prefix+name, prefix+"sa/"+name)
	case strings.Contains(rest, "/"):
		return append(accounts(prefix+"/", name), prefix+"/"+name, prefix, prefix+"-"+name)
	}
	var out []string
	in := func(td string) {
		out = append(append(out, accounts(scheme+td+"/", name)...), scheme+td+"/"+name)
	}
	for _, td := range d.known {
		if strings.HasPrefix(td, rest) {
			in(td)
		}
	}
	if rest == "" {
		in(foreignDomain)
		return out
	}
	for _, behind := range []string{"/", "x/"} {
		out = append(append(out, accounts(prefix+behind, name)...), prefix+behind+name)
	}
	return append(out, prefix)
}

// accounts returns the identity of a service account that begins with a prefix, which ends with a
// slash; none where the prefix is no part of such an identity.
func accounts(prefix, name string) []string {
	steps := strings.Split(strings.TrimPrefix(prefix, scheme), "/")
	switch n := len(steps); {
	case n == 2:
		return []string{prefix + "ns/" + name + "/sa/" + name}
	case n == 3 && steps[1] == "ns":
		return []string{prefix + name + "/sa/" + name}
	case n == 4 && steps[1] == "ns":
		return []string{prefix + "sa/" + name}
	default:
		return nil
	}
}

func (d *callerSpace) neighbours(p pattern, witness string) []variant {
	whole := strings.TrimSuffix(d.value(p.text), "/")
	// tail is the part of the witness behind the pattern.
	tail := strings.TrimPrefix(witness, whole)
	out := []variant{
		{whole + "-evil" + tail, "a longer name"},
		{whole + "2", "a longer name"},
		{witness + "/x", "a child"},
		{witness + "x", "a longer name"},
		{whole, "the pattern itself"},
		{swapCase(whole) + tail, "another case"},
	}
	if whole != "" {
		out = append(out, variant{whole[:len(whole)-1] + tail, "a shorter name"}, variant{whole[:len(whole)-1], "a shorter name"})
	}
	if cut := strings.LastIndexByte(whole, '/'); cut >= len(scheme) {
		out = append(out, variant{whole[:cut], "the parent"}, variant{whole[:cut] + tail, "the parent"})
	}
	if rest, ok := strings.CutPrefix(witness, scheme); ok {
		td, path, _ := strings.Cut(rest, "/")
		out = append(out, variant{scheme + td + ".evil/" + path, "a longer trust domain"}, variant{scheme + foreignDomain + "/" + path, "another trust domain"})
	}
	return out
}

// sendable implements [sender]. It is about a single SPIFFE ID.
func (d *callerSpace) sendable() (natural, all string, without []string) {
	// A certificate with an empty label in the name of its trust domain cannot be made: Go reads none.
	domain := `[a-z0-9_-]+(\.[a-z0-9_-]+)*`
	if len(d.trusted) > 0 {
		domain = oneOf(d.trusted)
	}
	const name = `[a-z][a-z0-9]*(-[a-z0-9]+)*`
	if d.wide {
		return scheme + oneOf(d.known) + "/ns/" + name + "/sa/" + name, anyText, nil
	}
	return scheme + oneOf(d.known) + "/ns/" + name + "/sa/" + name, scheme + domain + `(/[a-zA-Z0-9._-]+)+`, []string{`.*/\.{1,2}(/.*)?`}
}

func oneOf(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = regexp.QuoteMeta(text)
	}
	return "(" + strings.Join(quoted, "|") + ")"
}

// addNames returns callers with several names: the witness and an identity of another
// cell. Envoy joins the URI SANs, or looks at each of them and at DNS SANs too.
func (d *callerSpace) addNames(r policy.Request, witness, other string) []policy.Request {
	first, last, dns := r, r, r
	first.URIs, last.URIs = []string{witness, other}, []string{other, witness}
	if !d.perName {
		return []policy.Request{first, last}
	}
	dns.URIs, dns.DNS = []string{other}, []string{witness}
	return []policy.Request{first, last, dns}
}

// trustDomainsOf returns the trust domains that patterns name in full, and the own one where they name none.
func trustDomainsOf(leaves []leaf, own string) []string {
	var out []string
	seen := make(map[string]bool)
	for _, l := range leaves {
		p := l.pattern
		if p.kind == policy.Regex {
			if e, err := regexp.Compile(p.text); err == nil {
				p.text, _ = e.LiteralPrefix()
			}
		}
		rest, ok := strings.CutPrefix(p.text, scheme)
		td, _, whole := strings.Cut(rest, "/")
		// A match in any case may spell a trust domain in capitals, and none has these.
		td = strings.ToLower(td)
		if _, err := spiffeid.TrustDomainFromString(td); err != nil {
			continue
		}
		if !ok || td == "" || !whole && p.kind != policy.Exact || seen[td] {
			continue
		}
		if seen[td] = true; len(out) < maxKnownDomains {
			out = append(out, td)
		}
	}
	if len(out) == 0 {
		out = append(out, cmp.Or(own, ownDomain))
	}
	return out
}

// maxKnownDomains bounds how many trust domains are tried for a witness.
const maxKnownDomains = 16
