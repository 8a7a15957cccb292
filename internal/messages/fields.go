package messages

import (
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// KnowsOnly returns an error for a message that has another field than those.
func KnowsOnly(m proto.Message, fields ...protoreflect.Name) (err error) {
	message := m.ProtoReflect()
	message.Range(func(field protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		if !slices.Contains(fields, field.Name()) {
			err = fmt.Errorf("its field %s is not read", field.Name())
		}
		return err == nil
	})
	if err == nil && len(message.GetUnknown()) > 0 {
		err = errors.New("it has a field that is not known")
	}
	return err
}
