package dump

import (
	"fmt"
	"strings"

	"github.com/meshproof/meshproof/internal/messages"
)

// Kind says what an [Unknown] means for a replay of its inbound.
type Kind uint8

const (
	// Lost is authorization that could not be read: Filters lacks it, and a replay
	// would judge otherwise than the sidecar.
	Lost Kind = iota
	// Opaque is in Filters, and an Envoy judges by it, but no request class can be made for
	// it: it asks for something that no policy can say.
	Opaque
	// BesideRBAC is around the RBAC filters: it may decide before or after them, or change what
	// they see.
	BesideRBAC
	// Exposed leads past the filters: another way to the workload, or an identity that no CA
	// of the mesh gave.
	Exposed
	// Note is for what lets no request past RBAC. All other kinds leave an inbound without a
	// proof.
	Note
)

var kindNames = [...]string{Lost: "lost", Opaque: "opaque", BesideRBAC: "beside", Exposed: "exposed", Note: "note"}

// String returns the name for messages.
func (k Kind) String() string { return kindNames[k] }

// Unknown is something that was found and is not understood. Each combination of
// place and reason is told once.
type Unknown struct {
	Kind Kind
	// Listener, Chain and Filter are names; empty where it is about all of them.
	Listener, Chain, Filter string
	// Type is the type URL of the thing that is not understood, if it has one.
	Type string
	// Path is the path of the first such field, from the listener, the route
	// configuration or the filter.
	Path   string
	Reason string
	// Position tells on which side of the RBAC filters it is.
	Position Position
	// Idle is set where it is known to send no requests of its own, and to lead none elsewhere. All else may send some to the
	// workload of another inbound, past the filters there.
	Idle bool
}

// Position is the place of a filter of another kind among the RBAC filters of its inbound.
type Position uint8

const (
	// Unplaced is for what is no filter, or is in a chain without RBAC.
	Unplaced Position = iota
	// InFront meets requests, or their connections, before RBAC does. The filters of
	// a listener do, and filters without a listener count as such.
	InFront
	// BehindRBAC meets only what RBAC has let pass.
	BehindRBAC
)

var positionTexts = [...]string{Unplaced: "", InFront: "it stands in front of RBAC", BehindRBAC: "it stands behind RBAC"}

// String returns a clause for messages, empty for [Unplaced].
func (p Position) String() string { return positionTexts[p] }

// String is one line: the place, what stands there, and the reason.
func (u Unknown) String() string {
	var place []string
	add := func(what, name string) {
		if name != "" {
			place = append(place, fmt.Sprintf("%s %q", what, name))
		}
	}
	add("listener", u.Listener)
	add("filter chain", u.Chain)
	add("filter", u.Filter)
	if u.Path != "" {
		place = append(place, u.Path)
	}
	if u.Type != "" {
		place = append(place, u.Type)
	}
	return strings.Map(messages.Printable, strings.Join(append(place, u.Reason), ": "))
}
