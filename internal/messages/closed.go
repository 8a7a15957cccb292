package messages

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/anypb"
)

// Read is the reason for fields that a reader understands. Messages in such a field are
// held against the list too.
const Read = ""

// Closed lists the fields of messages that are understood or harmless: for the full name
// of a message, a reason and the names of its fields, separated by spaces. What stands in
// a field with a reason other than [Read] is not looked at. Every other field that is set
// is unknown, and so is a message without an entry.
type Closed map[string]map[string]string

// Check reports the names that no message has, and fields that are listed twice. A misspelt
// field would make an honest dump unverified.
func (c Closed) Check() error {
	var errs []error
	for message, reasons := range c {
		found, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName(message))
		if err != nil {
			errs = append(errs, fmt.Errorf("there is no message %s", message))
			continue
		}
		listed := map[string]bool{}
		for name := range strings.FieldsSeq(strings.Join(slices.Collect(maps.Values(reasons)), " ")) {
			if found.Descriptor().Fields().ByName(protoreflect.Name(name)) == nil || listed[name] {
				errs = append(errs, fmt.Errorf("%s has no field %q, or the list has it twice", message, name))
			}
			listed[name] = true
		}
	}
	return errors.Join(errs...)
}

// Checker returns a function that calls tell for each field of a message, and of the
// messages inside it, that is not on the list. A packed message counts as a message of its
// own type.
func (c Closed) Checker() func(m protoreflect.Message, at *Path, tell func(at *Path, reason string)) {
	l := list{}
	for message, reasons := range c {
		fields := map[protoreflect.Name]bool{}
		for reason, names := range reasons {
			for _, name := range strings.Fields(names) {
				fields[protoreflect.Name(name)] = reason == Read
			}
		}
		l[protoreflect.FullName(message)] = fields
	}
	// A dump has thousands of filter chains, each a message of its own: they share the fields.
	var fields sync.Map
	return func(m protoreflect.Message, at *Path, tell func(at *Path, reason string)) {
		w := closedWalk{list: l, fields: &fields, sound: map[packedAt]bool{}}
		w.tell = func(*Path, string) { w.told++ }
		if w.message(m, nil, 0); w.told == 0 {
			return
		}
		w.tell, w.places = func(at *Path, reason string) { w.told++; tell(at, reason) }, true
		w.message(m, at, 0)
	}
}

// list is a Closed that can be asked: by the name of a message, its fields, and whether
// what stands in them is looked at.
type list map[protoreflect.FullName]map[protoreflect.Name]bool

// closedWalk holds one message against a list. A large filter has the same small messages
// thousands of times, so that it remembers what it knows of them. Most have nothing that is
// to be told: the first walk only looks, in any order.
type closedWalk struct {
	list list
	tell func(at *Path, reason string)
	// places is true where the places of messages are wanted, and their order.
	places bool
	// told counts the calls of tell.
	told int
	// fields has the fields ([]listedField) of the messages that were met, by their descriptors, in the
	// order of their numbers.
	fields *sync.Map
	// sound has the packed messages of which there was nothing to tell.
	sound map[packedAt]bool
}

type listedField struct {
	protoreflect.FieldDescriptor
	name   string
	listed bool
	// descends is true where the messages in the field are looked at.
	descends bool
}

// packedAt is an Any and how deep it lies: what is inside a deeper one may be too deep.
type packedAt struct {
	packed
	depth int
}

func (w *closedWalk) message(m protoreflect.Message, at *Path, depth int) {
	if a, ok := m.Interface().(*anypb.Any); ok {
		w.packed(a, at, depth)
		return
	}
	d := m.Descriptor()
	known, ok := w.fields.Load(d)
	if !ok {
		known = w.list.fieldsOf(d)
		w.fields.Store(d, known)
	}
	fields, _ := known.([]listedField)
	if fields == nil {
		if d.ParentFile().Package() != "google.protobuf" {
			w.tell(at, fmt.Sprintf("%s is not known to be harmless here", d.Name()))
		}
		return
	}
	for _, field := range fields {
		if !m.Has(field.FieldDescriptor) || field.listed && !field.descends {
			continue
		}
		below := at
		if w.places {
			below = at.Field(field.name)
		}
		if !field.listed {
			w.tell(below, fmt.Sprintf("%s of %s is not known to be harmless", field.Name(), d.Name()))
			continue
		}
		w.field(field, m.Get(field.FieldDescriptor), below, depth)
	}
}

// fieldsOf returns the fields of a message, and nil for a message that is not on the list.
func (l list) fieldsOf(d protoreflect.MessageDescriptor) []listedField {
	listed, ok := l[d.FullName()]
	if !ok {
		return nil
	}
	out := make([]listedField, d.Fields().Len())
	for i := range out {
		field := d.Fields().Get(i)
		read, ok := listed[field.Name()]
		out[i] = listedField{field, field.TextName(), ok, read && holdsMessages(field)}
	}
	slices.SortFunc(out, func(a, b listedField) int { return cmp.Compare(a.Number(), b.Number()) })
	return out
}

func holdsMessages(field protoreflect.FieldDescriptor) bool {
	if field.IsMap() {
		field = field.MapValue()
	}
	return field.Message() != nil
}

func (w *closedWalk) packed(a *anypb.Any, at *Path, depth int) {
	if w.sound[packedAt{packed{a.TypeUrl, string(a.Value)}, depth}] {
		return
	}
	told := w.told
	inner, _, err := Unpack(a)
	switch {
	case err != nil:
		w.tell(at, fmt.Sprintf("%s: %v", TypeURL(a), err))
	case depth == maxDepth:
		w.tell(at, fmt.Sprintf("it is nested deeper than %d levels", maxDepth))
	case inner.ProtoReflect().Descriptor().ParentFile().Package() == "google.protobuf":
		// Envoy may find an extension by the name beside it.
		w.tell(at, fmt.Sprintf("%s is not known to be harmless here", inner.ProtoReflect().Descriptor().Name()))
	default:
		w.message(inner.ProtoReflect(), at, depth+1)
	}
	if w.told == told {
		w.sound[packedAt{packed{a.TypeUrl, string(a.Value)}, depth}] = true
	}
}

// field looks at the messages in a field.
func (w *closedWalk) field(field listedField, value protoreflect.Value, at *Path, depth int) {
	switch {
	case field.IsMap() && !w.places:
		value.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool {
			w.message(v.Message(), at, depth)
			return true
		})
	case field.IsMap():
		var keys []protoreflect.MapKey
		value.Map().Range(func(k protoreflect.MapKey, _ protoreflect.Value) bool {
			keys = append(keys, k)
			return true
		})
		slices.SortFunc(keys, func(a, b protoreflect.MapKey) int { return cmp.Compare(a.String(), b.String()) })
		for _, k := range keys {
			w.message(value.Map().Get(k).Message(), at.Key(k.String()), depth)
		}
	case field.IsList():
		for i := range value.List().Len() {
			below := at
			if w.places {
				below = at.Index(i)
			}
			w.message(value.List().Get(i).Message(), below, depth)
		}
	default:
		w.message(value.Message(), at, depth)
	}
}
