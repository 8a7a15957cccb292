package messages

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

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

// list is a Closed that can be asked.
type list map[protoreflect.FullName]map[protoreflect.Name]bool

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
	return func(m protoreflect.Message, at *Path, tell func(at *Path, reason string)) { l.check(m, at, 0, tell) }
}

func (l list) check(m protoreflect.Message, at *Path, depth int, tell func(at *Path, reason string)) {
	d := m.Descriptor()
	if packed, ok := m.Interface().(*anypb.Any); ok {
		inner, _, err := Unpack(packed)
		switch {
		case err != nil:
			tell(at, fmt.Sprintf("%s: %v", TypeURL(packed), err))
		case depth == maxDepth:
			tell(at, fmt.Sprintf("it is nested deeper than %d levels", maxDepth))
		default:
			l.check(inner.ProtoReflect(), at, depth+1, tell)
		}
		return
	}
	fields, ok := l[d.FullName()]
	if !ok {
		if d.ParentFile().Package() != "google.protobuf" {
			tell(at, fmt.Sprintf("%s is not known to be harmless here", d.Name()))
		}
		return
	}
	var set []protoreflect.FieldDescriptor
	m.Range(func(field protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		set = append(set, field)
		return true
	})
	slices.SortFunc(set, func(a, b protoreflect.FieldDescriptor) int { return cmp.Compare(a.Number(), b.Number()) })
	for _, field := range set {
		below := at.Field(field.TextName())
		switch read, ok := fields[field.Name()]; {
		case !ok:
			tell(below, fmt.Sprintf("%s of %s is not known to be harmless", field.Name(), d.Name()))
		case read:
			l.checkField(field, m.Get(field), below, depth, tell)
		}
	}
}

func (l list) checkField(field protoreflect.FieldDescriptor, value protoreflect.Value, at *Path, depth int, tell func(at *Path, reason string)) {
	switch {
	case field.IsMap():
		if field.MapValue().Message() == nil {
			return
		}
		entries := value.Map()
		var keys []protoreflect.MapKey
		entries.Range(func(k protoreflect.MapKey, _ protoreflect.Value) bool {
			keys = append(keys, k)
			return true
		})
		slices.SortFunc(keys, func(a, b protoreflect.MapKey) int { return cmp.Compare(a.String(), b.String()) })
		for _, k := range keys {
			l.check(entries.Get(k).Message(), at.Key(k.String()), depth, tell)
		}
	case field.Message() == nil:
	case field.IsList():
		for i := range value.List().Len() {
			l.check(value.List().Get(i).Message(), at.Index(i), depth, tell)
		}
	default:
		l.check(value.Message(), at, depth, tell)
	}
}
