package messages

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protopath"
	"google.golang.org/protobuf/reflect/protorange"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"
)

// Visitor looks at a message and at every message inside it, also at packed messages, in
// the order of the field numbers and of the map keys.
type Visitor struct {
	// Message is called for each message that is no Any.
	Message func(m protoreflect.Message, at *Path)
	// Closed is called where the visitor cannot look further, with the type URL of an
	// Any.
	Closed func(typeURL, reason string, at *Path)
	// Opened is called with an Any that the visitor looks into, and with what that lost
	// when it was unpacked.
	Opened func(typeURL string, faults []Fault, at *Path)
}

// Visit looks at a message.
func (v Visitor) Visit(m protoreflect.Message) { v.visit(m, nil, 0) }

func (v Visitor) visit(m protoreflect.Message, at *Path, depth int) {
	type place struct {
		path *Path
		// depth counts the messages around the place.
		depth int
	}
	places := []place{{at, depth}}
	push := func(p protopath.Values) error {
		last, here := p.Index(-1), places[len(places)-1]
		here.path = here.path.step(last.Step)
		m, ok := last.Value.Interface().(protoreflect.Message)
		if !ok {
			places = append(places, here)
			return nil
		}
		places = append(places, place{here.path, here.depth + 1})
		return v.message(m, here.path, here.depth)
	}
	pop := func(protopath.Values) error {
		places = places[:len(places)-1]
		return nil
	}
	// No callback ends the walk, so that there is no error.
	_ = protorange.Options{Stable: true}.Range(m, push, pop)
}

// message looks at one message. It returns [protorange.Break] where the messages inside
// it are not to be visited.
func (v Visitor) message(m protoreflect.Message, at *Path, depth int) error {
	if depth >= maxDepth {
		v.Closed("", fmt.Sprintf("it is nested deeper than %d levels", maxDepth), at)
		return protorange.Break
	}
	packed, ok := m.Interface().(*anypb.Any)
	if !ok {
		v.Message(m, at)
		return nil
	}
	inner, faults, err := Unpack(packed)
	if err != nil {
		v.Closed(TypeURL(packed), err.Error(), at)
		return protorange.Break
	}
	v.Opened(TypeURL(packed), faultsBelow(at, faults), at)
	v.visit(inner.ProtoReflect(), at, depth+1)
	return protorange.Break
}

// Unread returns the faults of a message that came in binary form: it keeps what its
// definition does not have.
func Unread(m protoreflect.Message) []Fault {
	var out []Fault
	v := Visitor{
		Closed: func(string, string, *Path) {},
		Opened: func(_ string, faults []Fault, _ *Path) { out = append(out, faults...) },
	}
	v.Message = func(m protoreflect.Message, at *Path) {
		guards := guarding(m.Descriptor())
		for rest := m.GetUnknown(); len(rest) > 0; {
			number, _, n := protowire.ConsumeField(rest)
			if n < 0 {
				break
			}
			out = append(out, Fault{at, fmt.Sprintf("field %d is none that %s has here", number, m.Descriptor().Name()), guards})
			rest = rest[n:]
		}
		for i := range m.Descriptor().Fields().Len() {
			field := m.Descriptor().Fields().Get(i)
			if field.Enum() == nil || field.IsList() || field.IsMap() || !m.Has(field) {
				continue
			}
			if n := m.Get(field).Enum(); field.Enum().Values().ByNumber(n) == nil {
				out = append(out, Fault{at.Field(field.TextName()), fmt.Sprintf("%d is none that %s has here", n, field.Enum().Name()), guards})
			}
		}
	}
	v.Visit(m)
	return out
}

// guarding reports whether RBAC filters are made of the message. A message that others
// use too, such as a string matcher, counts: it may stand in a filter.
func guarding(d protoreflect.MessageDescriptor) bool {
	switch d.ParentFile().Package() {
	case "envoy.config.rbac.v3", "envoy.extensions.filters.http.rbac.v3", "envoy.extensions.filters.network.rbac.v3",
		"xds.type.matcher.v3", "envoy.type.matcher.v3":
		return true
	default:
		return Authorizes(string(d.FullName()))
	}
}

// Path is a place in a message. Its text is made only where a sentence about the place
// is written. A nil Path is the message itself.
type Path struct {
	parent *Path
	// name is a field, a path below, or the key of an entry.
	name string
	kind protopath.StepKind
	i    int
}

// Field returns the path of a field, or of a path below.
func (p *Path) Field(name string) *Path {
	return &Path{parent: p, name: name, kind: protopath.FieldAccessStep}
}

// Key returns the path of an entry of a map.
func (p *Path) Key(key string) *Path {
	return &Path{parent: p, name: key, kind: protopath.MapIndexStep}
}

// Index returns the path of an item of a list.
func (p *Path) Index(i int) *Path { return &Path{parent: p, i: i, kind: protopath.ListIndexStep} }

// step returns the path one step below.
func (p *Path) step(s protopath.Step) *Path {
	switch s.Kind() {
	case protopath.FieldAccessStep:
		return p.Field(s.FieldDescriptor().TextName())
	case protopath.ListIndexStep:
		return p.Index(s.ListIndex())
	case protopath.MapIndexStep:
		return p.Key(s.MapIndex().String())
	default:
		return p
	}
}

// String returns the text, such as `policies["p"].principals[0]`.
func (p *Path) String() string {
	var steps []string
	for ; p != nil; p = p.parent {
		switch p.kind {
		case protopath.FieldAccessStep:
			steps = append(steps, "."+p.name)
		case protopath.MapIndexStep:
			steps = append(steps, "["+strconv.Quote(p.name)+"]")
		case protopath.ListIndexStep:
			steps = append(steps, "["+strconv.Itoa(p.i)+"]")
		}
	}
	slices.Reverse(steps)
	return strings.TrimPrefix(strings.Join(steps, ""), ".")
}
