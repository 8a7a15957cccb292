package sidecar

import (
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/messages"
)

// findings collects each Unknown once.
type findings struct {
	list []dump.Unknown
	seen map[dump.Unknown]bool
}

func (f *findings) add(u dump.Unknown) {
	key := u
	key.Path = ""
	if f.seen[key] {
		return
	}
	if f.seen == nil {
		f.seen = map[dump.Unknown]bool{}
	}
	f.seen[key] = true
	f.list = append(f.list, u)
}

// unknown returns an Unknown of this chain.
func (c *chain) unknown(kind dump.Kind, filter, reason string) dump.Unknown {
	u := dump.Unknown{Kind: kind, Listener: c.inbound.Listener, Chain: c.inbound.Chain, Filter: filter, Reason: reason}
	if c.inbound.Chain == "" && filter != "" {
		u.Position = dump.InFront
	}
	return u
}

// tell tells something about a listener.
func (r *reader) tell(l *listenerv3.Listener, kind dump.Kind, reason string) {
	r.found.add(dump.Unknown{Kind: kind, Listener: l.Name, Reason: reason})
}

// tellIdle tells something about a listener by which no request goes past the filters of another one.
func (r *reader) tellIdle(l *listenerv3.Listener, kind dump.Kind, reason string) {
	r.found.add(dump.Unknown{Kind: kind, Listener: l.Name, Reason: reason, Idle: true})
}

func (c *chain) tell(kind dump.Kind, filter, typeURL, reason string) {
	u := c.unknown(kind, filter, reason)
	u.Type = typeURL
	c.found.add(u)
}

// tellIdle tells about something that sends no requests.
func (c *chain) tellIdle(kind dump.Kind, filter, typeURL, reason string) {
	u := c.unknown(kind, filter, reason)
	u.Type, u.Idle = typeURL, true
	c.found.add(u)
}

func (c *chain) noteFilter(kind dump.Kind, filter, typeURL, reason string) {
	u := c.unknown(kind, filter, reason)
	u.Type = typeURL
	c.others = append(c.others, otherFilter{unknown: u, judgesBefore: c.judges})
}

// tellFaults tells what the configuration of a filter lost.
func (c *chain) tellFaults(filter string, faults []messages.Fault) {
	for _, f := range faults {
		u := c.unknown(dump.BesideRBAC, filter, f.What)
		u.Path, u.Idle = f.Path.String(), f.Guards
		if f.Guards {
			u.Kind = dump.Lost
		}
		c.found.add(u)
	}
}

// lostFilter notes a filter whose configuration is not there. It sends nothing where it is an RBAC filter, whichever it has.
func (c *chain) lostFilter(f anyFilter, lost configuration) {
	c.noteFilter(dump.Lost, f.GetName(), lost.typeURL, lost.missing)
	c.others[len(c.others)-1].unknown.Idle = authorizesAlone(f)
}
