package classes

import (
	"net/netip"
	"slices"
	"sync"

	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
)

// Surface says which requests reach an inbound at all. The zero value is an HTTP
// inbound with the default normalization that trusts any trust domain.
type Surface struct {
	Protocol      policy.Protocol
	Normalization policy.PathNormalization
	// TrustDomains are the names of the trust domains whose callers the inbound takes;
	// empty for any.
	TrustDomains []string
	// OwnDomain is the trust domain of a witness where no condition names one; trust-domain.mesh where it is empty.
	OwnDomain string
	// Ports are the ports that callers connect to; empty for any.
	Ports []uint16
	// Destination is the address that callers connect to; not valid for any.
	Destination netip.Addr
	// TrustedHops is the number of entries of x-forwarded-for that the listener trusts: the
	// first of them is the remote address.
	TrustedHops int
	// Tokens is what the inbound demands of tokens; nil for an inbound that takes a token of
	// any issuer, and requires none.
	Tokens *token.Demand
	// AnyText takes every text for a method, a host, a query, a line of a header and a name, every text in lower case for
	// a server name, and every text that begins with a slash for a path, also where no caller of the lab can send it. It is for programs that
	// are compared with each other, and not with an Envoy.
	AnyText bool
}

// demand returns what the inbound demands of tokens.
func (on Surface) demand() token.Demand {
	if on.Tokens == nil {
		return token.Demand{Issuers: []token.Issuer{{}}}
	}
	return *on.Tokens
}

// Cover cuts the requests to one inbound into classes. Each program that it was made of
// gives all requests of a class the same decision, with origin and shadow. It is
// immutable.
//
// It is about TLS callers whose SVIDs the SPIFFE validator takes, and about what they can
// send: methods and paths that the listener lets pass as they are.
//   - Where the programs look at the attribute identity only, every caller whose URI SANs
//     are all SPIFFE IDs is in a class, with any number of them and with none.
//   - Where they look at each name by itself, with the attribute uri-san, every caller is
//     in a class, with any URI SANs behind the SPIFFE ID in front, and any DNS SANs, in
//     any number and order. Where only one gate looks at callers, and no rule of it
//     negates or combines names, one of the names decides as if it stood alone, and the
//     classes are classes of single names. Otherwise a class is made of what matches a
//     name of the caller, and what matches none.
//   - Where they do both, a caller with several names is in no class, as Sampled says.
//
// A request with the target "*" and a CONNECT are left out.
type Cover struct {
	// Classes have a request each, in a stable order.
	Classes []Class
	// Dimensions are the attributes that the programs look at.
	Dimensions []Dimension
	// Sampled has a reason for each kind of request of which the classes have examples
	// only. It is empty where the cover is complete.
	Sampled []string
	// SampledNames is the entry of Sampled about callers with several names, "" without one. An
	// X.509-SVID has one name.
	SampledNames string

	layer policy.Layer
	// trustsHeader is true where the remote address is that of x-forwarded-for.
	trustsHeader bool
	// demand is what the inbound demands of tokens.
	demand token.Demand
	table  *table
	// axes has an axis for each dimension, nil where the dimension tells nothing.
	axes  []*axis
	nodes []node
	root  ref
	// programs are the programs that the cover was made of.
	programs []policy.Program
	// names is not nil where callers are sets of names. It knows nothing of a caller.
	names *names
	// regions has a region for each dimension of each class.
	regions []region
	// edges has a class for each pattern of names: the first class that was asked for
	// the pattern last and has a name that it covers.
	edges map[int32]ref
	// destination is the address that callers connect to, where a program asked for it.
	destination netip.Addr
	// regular is not nil where the programs have matches that form no tree. Then axes, nodes,
	// names and regions are not used.
	regular *regular
	// hidden are requests of cells that no class has a witness of.
	hidden map[int32][]Neighbour
}

// Dimension is a part of a request, as the matchers that look at it cut it.
type Dimension struct {
	Name string
	// Attributes are the attributes that look at the part.
	Attributes []*policy.Attribute
	// Matchers is the number of different matchers. Cells is the number of cells into
	// which they cut the part and which have a request. Where callers are sets of names,
	// the cells are cells of a single name.
	Matchers, Cells int
	// Unreachable are the cells that no request is in. They have no class.
	Unreachable []Unreachable
}

// Unreachable is a cell that no request is in.
type Unreachable struct {
	Cell string
	// Reason says why no caller can send such a request.
	Reason error
}

// Class is a set of requests that are decided alike.
type Class struct {
	// Witness is one of them.
	Witness policy.Request

	cover *Cover
	// self is the index of the class.
	self, parent ref
}

// region is the part of a dimension that a class has: all of it, or what a key covers
// without the patterns inside it, see [Class.innerPatterns].
type region struct {
	cut bool
	key int32
}

// regions returns the region of each dimension.
func (c Class) regions() []region {
	n := len(c.cover.axes)
	return c.cover.regions[int(c.self)*n : int(c.self+1)*n]
}

// Neighbour is a request close to the border of a class, on either side of it.
type Neighbour struct {
	Request policy.Request
	// Class is the index of the class that the request is in, or Unclassed.
	Class int
	// Why says how the request differs from the witness of the class.
	Why string
}

// Unclassed stands for no class, see [Cover.Locate].
const Unclassed = -1

// Complete reports whether every request that the cover is about is in a class.
func (c *Cover) Complete() bool { return len(c.Sampled) == 0 }

// Locate returns the index of the class that a request is in. It returns false for some
// requests that cannot be sent, and for callers with several names where Sampled says so.
func (c *Cover) Locate(r policy.Request) (int, bool) {
	asked := requests.Get().(*policy.Request)
	*asked = r
	class, ok := c.locate(asked)
	*asked = policy.Request{}
	requests.Put(asked)
	return class, ok
}

// requests keeps places on the heap for the next requests, since spaces get a pointer to one.
var requests = sync.Pool{New: func() any { return new(policy.Request) }}

func (c *Cover) locate(r *policy.Request) (int, bool) {
	if c.regular != nil {
		return c.regular.locate(*r)
	}
	var covering []int32
	if c.names != nil {
		covering = c.names.covering(r)
	}
	at := c.root
	for at < 0 && at != noRef {
		n := &c.nodes[^at]
		if n.ranks != nil {
			at = n.kids[n.kid(covering)]
			continue
		}
		cell, ok := c.cell(n.dimension, r)
		if !ok {
			return Unclassed, false
		}
		at = n.kids[c.axes[n.dimension].nearest(n.keys, cell)]
	}
	return int(max(at, Unclassed)), at >= 0
}

func (c *Cover) cell(d int, r *policy.Request) (int32, bool) {
	if d == callers {
		return c.caller(r)
	}
	a := c.axes[d]
	return a.find(a.key(a.read(r))), true
}

// caller returns the cell of a caller. Where each name is judged by itself, a caller with
// several names is in the cell of the name that decides.
func (c *Cover) caller(r *policy.Request) (int32, bool) {
	a, space := c.axes[callers], c.axes[callers].space.(*callerSpace)
	if !space.perName || len(r.URIs)+len(r.DNS) == 0 {
		return a.find(a.key(r.Identity())), true
	}
	names := slices.Concat(r.URIs, r.DNS)
	switch {
	case len(names) == 1:
		return a.find(nameMark + names[0]), !space.joined || len(r.URIs) == 1
	case space.joined:
		return 0, false
	}
	cells := make([]int32, len(names))
	for i, name := range names {
		cells[i] = a.find(nameMark + name)
	}
	innermost := slices.Max(cells)
	if !slices.ContainsFunc(cells, func(cell int32) bool { return !a.covers(cell, innermost) }) {
		return innermost, true
	}
	want := c.decide(*r)
	for i, name := range names {
		alone := *r
		alone.URIs, alone.DNS = []string{name}, nil
		if slices.Equal(c.decide(alone), want) {
			return cells[i], true
		}
	}
	return 0, false
}

// decide returns the decision of each program.
func (c *Cover) decide(r policy.Request) []policy.Decision {
	out := make([]policy.Decision, len(c.programs))
	for i, p := range c.programs {
		out[i] = policy.Decide(p, r)
	}
	return out
}

// put gives a request the attribute that stands for a cell.
func (c *Cover) put(r *policy.Request, d int, cell int32) {
	if d == callers && c.names != nil {
		c.names.setNames(r, c.names.withFront([]int32{cell}))
		return
	}
	c.axes[d].put(r, c.axes[d].witnesses[cell])
}

// sampleNames says that callers with several names are sampled.
func (c *Cover) sampleNames() {
	c.SampledNames = "callers with several names: the rules look at each name by itself, and at all of them as one text"
	c.Sampled = append(c.Sampled, c.SampledNames)
}
