package proof

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/destination"
	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/internal/forwarded"
	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/internal/servername"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
)

// CoverError says that the cover of an inbound contradicts itself, or that the proof does not
// ask what it promises. Then nothing is proven, even if Envoy answers as it should.
type CoverError struct{ Inbound, Why string }

// Error names the inbound.
func (e *CoverError) Error() string {
	return fmt.Sprintf("%s: the cover contradicts itself: %s", e.Inbound, e.Why)
}

// crossCheck counts again what the proof is made of, without the code that made it: it draws
// requests from the strings of the program, and asks for each whether its class is decided as
// it is. It looks up each request that the proof promises to ask.
func (p *Proof) crossCheck() error {
	var errs []error
	for i, in := range p.Inbounds {
		for _, check := range []func(int) string{p.checkClasses, p.checkAsked} {
			if why := check(i); why != "" {
				errs = append(errs, &CoverError{in.String(), why})
			}
		}
	}
	return errors.Join(errs...)
}

// checkClasses holds drawn requests against the witnesses of their classes. A class that is
// missing, or that is two classes in truth, is found so.
func (p *Proof) checkClasses(i int) string {
	in := p.Inbounds[i]
	for _, r := range p.draw(i) {
		n, ok := in.Cover.Locate(r)
		switch {
		case !ok && in.Cover.Complete() && len(r.URIs) < 2:
			return fmt.Sprintf("%s is in no class", requestText(r))
		case !ok:
		case n >= len(in.Cover.Classes):
			return fmt.Sprintf("%s is in class %d of %d", requestText(r), n+1, len(in.Cover.Classes))
		default:
			witness := in.Cover.Classes[n].Witness
			if want, got := policy.Decide(in.Program, witness), policy.Decide(in.Program, r); want != got {
				return fmt.Sprintf("%s and %s are one class, and are decided as %+v and %+v", requestText(witness), requestText(r), want, got)
			}
		}
	}
	return ""
}

// checkSent holds a request that is sent against the class that it is asked for: a part of the
// class that no request carries would be proven by a request of another class.
func (p *Proof) checkSent(in Inbound, q cases.Request, a ask) string {
	if a.class == classes.Unclassed || verdict.Nameless(a.request) {
		return ""
	}
	seen, err := in.Seen(q)
	if err != nil {
		return ""
	}
	seen.UTF8, seen.JoinsLines, seen.RoutesJoinLines = a.request.UTF8, a.request.JoinsLines, a.request.RoutesJoinLines
	if n, ok := in.Cover.Locate(seen); !ok || n != a.class {
		return fmt.Sprintf("class %d of %d (%s) is asked by a request that is not of it: %s", a.class+1, len(in.Cover.Classes), in.Cover.Classes[a.class], requestText(seen))
	}
	return ""
}

// checkAsked looks for the requests that a proof promises: each witness, its request from
// each other caller, and its caller with a longer name.
func (p *Proof) checkAsked(i int) string {
	in := p.Inbounds[i]
	asked := map[string]bool{}
	detours, capitals := 0, 0
	for n, a := range p.asked {
		if a.inbound != i {
			continue
		}
		asked[requestKey(a.request)] = true
		if why := p.checkSent(in, p.Case.Requests[n], a); why != "" {
			return why
		}
		if q := p.Case.Requests[n]; a.request.Path != "" && q.Path != a.request.Path {
			detours++
		}
		if a.request.SNI != p.Case.Requests[n].SNI {
			capitals++
		}
	}
	promised := 0
	for n, c := range in.Cover.Classes {
		w := c.Witness
		if !asked[requestKey(w)] {
			return fmt.Sprintf("class %d of %d is not asked: %s", n+1, len(in.Cover.Classes), requestText(w))
		}
		for k, name := range w.URIs {
			r := w
			r.URIs = slices.Clone(w.URIs)
			r.URIs[k] = name + "x"
			if promised++; promised < mostVariants/2 && !judgesNames(in.Program) && !asked[requestKey(r)] {
				return "a longer name is not asked: " + requestText(r)
			}
		}
	}
	if len(in.Cover.Classes)*len(in.Cover.Classes) <= mostVariants {
		for _, c := range in.Cover.Classes {
			for _, other := range in.Cover.Classes {
				r := c.Witness
				r.URIs, r.DNS = other.Witness.URIs, other.Witness.DNS
				if !asked[requestKey(r)] {
					return "the request of one class from the caller of another is not asked: " + requestText(r)
				}
			}
		}
	}
	if detours == 0 && !p.Case.Normalization.Raw && reads(in.Cover, attribute.Path) && slices.ContainsFunc(in.Cover.Classes, func(c classes.Class) bool { return strings.HasPrefix(c.Witness.Path, "/") }) {
		return "no path is asked in another spelling"
	}
	if capitals == 0 && reads(in.Cover, attribute.SNI) && slices.ContainsFunc(in.Cover.Classes, func(c classes.Class) bool {
		return !verdict.Nameless(c.Witness) && strings.ContainsAny(c.Witness.SNI, "abcdefghijklmnopqrstuvwxyz")
	}) {
		return "no server name is asked in capitals"
	}
	return ""
}

// The numbers of requests that are drawn: fewer of a program with many strings.
const (
	mostDrawn  = 1000
	leastDrawn = 64
	mostWork   = 1_000_000
)

// noPath are characters that no path of RFC 3986, section 3.3, has without an escape. Those with them are in no class.
// A star alone, as in OPTIONS *, is no path.
const noPath = " ?#*{}|^[]`<>\"\\"

// draw draws requests whose values are near those of the program. The draw is the same each
// time.
func (p *Proof) draw(i int) []policy.Request {
	in := p.Inbounds[i]
	values, size := valuesOf(in.Program)
	random := rand.New(rand.NewPCG(uint64(size), uint64(i)))
	pick := func(texts []string) string {
		if len(texts) == 0 {
			return ""
		}
		return mutated(texts[random.IntN(len(texts))], random)
	}
	identities := slices.Concat(values[attribute.Identity], values[attribute.URISAN], []string{"spiffe://trust-domain.mesh/ns/default/sa/any"})
	paths := append(slices.Clone(values[attribute.Path]), "/", "/any")
	methods := append(slices.Clone(values[attribute.Method]), "GET", "POST")
	names := append(slices.Clone(values[attribute.SNI]), "", "any.example")
	var out []policy.Request
	for range max(leastDrawn, min(mostDrawn, mostWork/(size+1))) {
		var r policy.Request
		uris := 1
		if random.IntN(8) == 0 {
			uris = 2
		}
		for len(r.URIs) < uris {
			uri := pick(identities)
			// No certificate of a caller has the name of a trust domain alone (X509-SVID, section 3.1).
			if id, err := spiffeid.FromString(uri); err != nil || id.Path() == "" {
				uri = "spiffe://trust-domain.mesh/ns/default/sa/any"
			}
			r.URIs = append(r.URIs, uri)
		}
		if len(values[attribute.SNI]) > 0 {
			if r.SNI = servername.Kept(pick(names)); servername.Check(r.SNI) != nil {
				r.SNI = ""
			}
		}
		r.Port, r.Source = in.Port, drawAddress(slices.Concat(values[attribute.SourceAddress], values[attribute.RemoteAddress]), random)
		r.Destination = destination.Reached(in.IP, r.Source)
		if in.Protocol.Layer() == policy.L7 {
			r.Method = methods[random.IntN(len(methods))]
			if in.Protocol == policy.HTTP && !slices.Contains(requestline.Methods, r.Method) {
				r.Method = "GET" // HTTP/1.1 carries no other methods
			}
			path, err := p.Case.Normalization.Apply(pick(paths))
			if err != nil || !strings.HasPrefix(path, "/") || strings.ContainsAny(path, noPath) {
				path = "/any"
			}
			r.Path = path
			drawHeaders(&r, values, pick, random)
			if in.TrustedHops > 0 && random.IntN(4) > 0 {
				r.Headers = append(r.Headers, policy.Header{Name: forwarded.Header, Value: forwarded.Text(in.TrustedHops, drawAddress(values[attribute.RemoteAddress], random))})
				r.Remote, _ = forwarded.Address(in.TrustedHops, r.Headers)
			}
			r.Others = drawClaims(in.Inbound.Program.Tokens, values, pick, random)
		}
		out = append(out, r)
	}
	return out
}

// drawAddress draws an address in one of the blocks, or just outside of it.
func drawAddress(blocks []string, random *rand.Rand) netip.Addr {
	if len(blocks) == 0 {
		return endpoint.Unnamed
	}
	text := blocks[random.IntN(len(blocks))]
	block, err := netip.ParsePrefix(text)
	if address, wrong := netip.ParseAddr(text); wrong == nil {
		block, err = netip.PrefixFrom(address, address.BitLen()), nil
	}
	if err != nil {
		return endpoint.Unnamed
	}
	bytes := block.Addr().AsSlice()
	for bit := block.Bits(); bit < len(bytes)*8; bit++ {
		bytes[bit/8] |= byte(random.IntN(2)) << (7 - bit%8)
	}
	address, _ := netip.AddrFromSlice(bytes)
	switch random.IntN(4) {
	case 0:
		address = block.Addr().Prev()
	case 1:
		address = block.Addr()
	}
	if _, err := endpoint.Caller(address.String()); err != nil {
		return endpoint.Unnamed
	}
	return address
}

// mutated returns a text that is like the text of a pattern, or just not.
func mutated(text string, random *rand.Rand) string {
	switch random.IntN(8) {
	case 0:
		return text + "x"
	case 1:
		return strings.TrimRight(text, "/") + "/x"
	case 2:
		return strings.TrimRight(text, "/")
	case 3:
		return text[:max(0, len(text)-1-random.IntN(3))]
	case 4:
		return strings.ToUpper(text[:len(text)/2]) + text[len(text)/2:]
	case 5:
		return text[:strings.LastIndexByte(strings.TrimRight(text, "/"), '/')+1] + "any"
	default:
		return text
	}
}

// valuesOf returns the strings that a program compares, by attribute, and their number.
func valuesOf(p policy.Program) (values map[*policy.Attribute][]string, size int) {
	values = map[*policy.Attribute][]string{}
	for c := range p.Conditions() {
		if is, ok := c.(policy.Is); ok {
			values[is.Attribute] = append(values[is.Attribute], is.Match.Value)
			size++
		}
	}
	return values, size
}

func requestText(r policy.Request) string {
	return strings.TrimSpace(fmt.Sprintf("%s %s as %s", r.Method, r.Path, strings.Join(slices.Concat(r.URIs, r.DNS), " + "))) + servername.Clause(r.SNI) + token.Clause(token.FromClaims(r.Others)) + endpoint.Clause(r.Source, netip.Addr{}) + requestline.HeaderClause(r.Host, r.Headers)
}
