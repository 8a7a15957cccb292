package messages

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"
)

// Validate holds a message against the validation rules that its own definition
// carries (its ValidateAll), and with it every message packed inside it as an
// Any, which ValidateAll alone passes over. It returns the first violation with
// the type of the message that has it.
func Validate(m proto.Message) error { return validate(m, map[packed]bool{}) }

// packed is an Any by its content. Inputs and actions stand in many predicates, each
// time as a message of its own once what is around them was unpacked.
type packed struct{ typeURL, value string }

func validate(m proto.Message, seen map[packed]bool) error {
	if v, ok := m.(interface{ ValidateAll() error }); ok {
		if err := v.ValidateAll(); err != nil {
			return fmt.Errorf("%s: %w", m.ProtoReflect().Descriptor().FullName(), err)
		}
	}
	return validatePacked(m.ProtoReflect(), seen)
}

func validatePacked(m protoreflect.Message, seen map[packed]bool) error {
	if a, ok := m.Interface().(*anypb.Any); ok {
		key := packed{a.TypeUrl, string(a.Value)}
		if seen[key] || a.TypeUrl == "" {
			return nil
		}
		seen[key] = true
		inner, err := a.UnmarshalNew()
		if err != nil {
			return fmt.Errorf("%s: %w", a.TypeUrl, err)
		}
		return validate(inner, seen)
	}
	var failure error
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		failure = validateField(field, value, seen)
		return failure == nil
	})
	return failure
}

func validateField(field protoreflect.FieldDescriptor, value protoreflect.Value, seen map[packed]bool) error {
	switch {
	case field.IsMap():
		if field.MapValue().Message() == nil {
			return nil
		}
		var failure error
		value.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool {
			failure = validatePacked(v.Message(), seen)
			return failure == nil
		})
		return failure
	case field.Message() == nil:
		return nil
	case field.IsList():
		for i := range value.List().Len() {
			if err := validatePacked(value.List().Get(i).Message(), seen); err != nil {
				return err
			}
		}
		return nil
	default:
		return validatePacked(value.Message(), seen)
	}
}
