package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Surface says which requests reach an inbound at all. The zero value is an HTTP
// inbound with the default normalization that trusts any trust domain.
type Surface struct {
	Protocol      Protocol
	Normalization PathNormalization
	// TrustDomains are the names of the trust domains whose callers the inbound takes;
	// empty for any.
	TrustDomains []string
}

// Cover cuts the requests to one inbound into classes: within a class every
// program it was made of gives each request the same decision, origin and shadow
// included. It is immutable.
//
// It is about TLS callers whose URI SANs are SPIFFE IDs, and about what they can
// send: methods and paths that the listener lets pass as they are.
//   - Where the programs look at identities only (see [Identity]), every caller is in
//     a class, with any number of URI SANs and with none.
//   - Where they look at each name by itself (see [URI]), every caller is in a class
//     who has one URI SAN or none, and no DNS SAN. Callers with several names are
//     found among the neighbours. They decide nothing new where one gate alone looks
//     at callers and no rule of it negates or combines names, for then one of the
//     names decides as if it stood alone; elsewhere Sampled says that they are
//     examples. A matcher of URIs of another scheme gets a caller who has such a URI
//     behind a SPIFFE ID that no matcher covers.
//
// Left out are a request whose target is "*", and a CONNECT.
type Cover struct {
	// Classes have a request each, in a stable order.
	Classes []Class
	// Dimensions are the attributes that the programs look at.
	Dimensions []Dimension
	// Sampled has a reason for each kind of request of which the classes have examples
	// only, and is empty where the cover is complete.
	Sampled []string

	layer Layer
	axes  [dimensions]*axis
	nodes []node
	root  ref
	// hidden are requests of cells that no class has a witness of.
	hidden map[int32][]Neighbour
}

// Dimension is an attribute of requests, cut by the matchers that look at it.
type Dimension struct {
	Name string
	// Matchers is the number of different ones, and Cells that of the cells into which
	// they cut the attribute and which have a request.
	Matchers, Cells int
	// Unreachable are the cells that no request is in. There is no class of them.
	Unreachable []Unreachable
}

// Unreachable is what a matcher says that no request has.
type Unreachable struct {
	Cell string
	// Reason is why nobody can send such a request.
	Reason error
}

// Class is a set of requests that are decided alike.
type Class struct {
	// Witness is one of them.
	Witness Request

	cover   *Cover
	parent  ref
	regions [dimensions]region
}

// region is what a class is of a dimension: all of it, or what is left of what a
// key covers, see [Class.inside].
type region struct {
	cut bool
	key int32
}

// Neighbour is a request close to the border of a class, on either side of it.
type Neighbour struct {
	Request Request
	// Class is the index of the class that the request is in, or Unclassed.
	Class int
	// Why says what the request has to do with the class it is a neighbour of.
	Why string
}

// Unclassed stands for no class, see [Cover.Locate].
const Unclassed = -1

// Complete reports whether every request that the cover is about is in a class.
func (c *Cover) Complete() bool { return len(c.Sampled) == 0 }

// Locate returns the index of the class that a request is in. There is none for
// one that cannot be sent, and for some callers with several names.
func (c *Cover) Locate(r Request) (int, bool) {
	at := c.root
	for at < 0 && at != nobody {
		n := &c.nodes[^at]
		cell, ok := c.cell(n.dimension, &r)
		if !ok {
			return Unclassed, false
		}
		at = n.kids[c.axes[n.dimension].nearest(n.keys, cell)]
	}
	return int(max(at, Unclassed)), at >= 0
}

func (c *Cover) cell(d int, r *Request) (int32, bool) {
	if d == callers {
		return c.caller(r)
	}
	a := c.axes[d]
	return a.find(a.key(a.read(r))), true
}

// caller returns the cell of a caller. One with several names, each judged by
// itself, is met by the matchers of them all, and thus in the cell of one of them
// if that lies inside the others.
func (c *Cover) caller(r *Request) (int32, bool) {
	a, space := c.axes[callers], c.space()
	names := slices.Concat(r.URIs, r.DNS)
	if !space.perName || len(names) == 0 {
		return a.find(a.key(r.Identity())), true
	}
	cells := make([]int32, len(names))
	for i, name := range names {
		cells[i] = a.find(mark + name)
	}
	innermost := slices.Max(cells)
	for _, cell := range cells {
		if !a.covers(cell, innermost) {
			return 0, false
		}
	}
	return innermost, !space.joined || len(names) == 1 && len(r.URIs) == 1
}

func (c *Cover) space() *callerSpace { return c.axes[callers].dimension.(*callerSpace) }

// put gives a request the attribute that stands for a cell.
func (c *Cover) put(r *Request, d int, cell int32) {
	c.axes[d].put(r, c.axes[d].witnesses[cell])
}

// String counts the classes, and the cells of each dimension.
func (c *Cover) String() string {
	text := fmt.Sprintf("%d classes of requests", len(c.Classes))
	if len(c.Classes) == 1 {
		text = "1 class of requests"
	}
	var cells []string
	for _, d := range c.Dimensions {
		cells = append(cells, fmt.Sprintf("%s: %d", d.Name, d.Cells))
	}
	if len(cells) > 0 {
		text += " (cells by " + strings.Join(cells, ", by ") + ")"
	}
	if !c.Complete() {
		text += "; sampled: " + strings.Join(c.Sampled, "; ")
	}
	return text
}
