package sidecar

import (
	"cmp"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"
)

// visitor looks at a message and at every message inside it, in the order of the
// field numbers and of the map keys, packed ones too.
type visitor struct {
	// message is called for each message that is no Any.
	message func(m protoreflect.Message, at *path)
	// closed is called where it cannot look further, with the type URL of an Any.
	closed func(typeURL, reason string, at *path)
	// opened is called with an Any that it looks into, and with what that lost when it
	// was unpacked.
	opened func(typeURL string, faults []fault, at *path)
}

func (v visitor) visit(m protoreflect.Message, at *path, depth int) {
	if depth == maxDepth {
		v.closed("", fmt.Sprintf("it is nested deeper than %d levels", maxDepth), at)
		return
	}
	a, ok := m.Interface().(*anypb.Any)
	if !ok {
		v.message(m, at)
		fields := m.Descriptor().Fields()
		for i := range fields.Len() {
			if field := fields.Get(i); m.Has(field) {
				v.visitField(field, m.Get(field), at.field(field.TextName()), depth+1)
			}
		}
		return
	}
	inner, faults, err := unpack(a)
	if err != nil {
		v.closed(holds(a), err.Error(), at)
		return
	}
	v.opened(holds(a), under(at, faults), at)
	v.visit(inner.ProtoReflect(), at, depth+1)
}

func (v visitor) visitField(field protoreflect.FieldDescriptor, value protoreflect.Value, at *path, depth int) {
	switch {
	case field.IsMap():
		if field.MapValue().Message() == nil {
			return
		}
		type entry struct {
			key   string
			value protoreflect.Message
		}
		var entries []entry
		value.Map().Range(func(k protoreflect.MapKey, m protoreflect.Value) bool {
			entries = append(entries, entry{k.String(), m.Message()})
			return true
		})
		slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
		for _, e := range entries {
			v.visit(e.value, at.key(e.key), depth)
		}
	case field.Message() == nil:
	case field.IsList():
		for i := range value.List().Len() {
			v.visit(value.List().Get(i).Message(), at.index(i), depth)
		}
	default:
		v.visit(value.Message(), at, depth)
	}
}

// unread returns the faults of a message that came in binary form: it holds on to
// what its definition does not have.
func unread(m protoreflect.Message) []fault {
	var out []fault
	v := visitor{
		closed: func(string, string, *path) {},
		opened: func(_ string, faults []fault, _ *path) { out = append(out, faults...) },
	}
	v.message = func(m protoreflect.Message, at *path) {
		guards := guarding(m.Descriptor())
		for rest := m.GetUnknown(); len(rest) > 0; {
			number, _, n := protowire.ConsumeField(rest)
			if n < 0 {
				break
			}
			out = append(out, fault{at, fmt.Sprintf("field %d is none that %s has here", number, m.Descriptor().Name()), guards})
			rest = rest[n:]
		}
		for i := range m.Descriptor().Fields().Len() {
			field := m.Descriptor().Fields().Get(i)
			if field.Enum() == nil || field.IsList() || field.IsMap() || !m.Has(field) {
				continue
			}
			if n := m.Get(field).Enum(); field.Enum().Values().ByNumber(n) == nil {
				out = append(out, fault{at.field(field.TextName()), fmt.Sprintf("%d is none that %s has here", n, field.Enum().Name()), guards})
			}
		}
	}
	v.visit(m, nil, 0)
	return out
}

// guarding reports whether a message is one that RBAC filters are made of. One that
// others use too, such as a string matcher, counts: it may stand in one.
func guarding(d protoreflect.MessageDescriptor) bool {
	switch d.ParentFile().Package() {
	case "envoy.config.rbac.v3", "envoy.extensions.filters.http.rbac.v3", "envoy.extensions.filters.network.rbac.v3",
		"xds.type.matcher.v3", "envoy.type.matcher.v3":
		return true
	default:
		return authorizes(string(d.FullName()))
	}
}
