package messages

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// toAny marshals deterministically: a map in another order would be another
// version of the resource, and Envoy would drain a listener that did not change.
func Pack(m proto.Message) (*anypb.Any, error) {
	a := new(anypb.Any)
	if err := anypb.MarshalFrom(a, m, proto.MarshalOptions{Deterministic: true}); err != nil {
		return nil, fmt.Errorf("xds: marshal %s: %w", m.ProtoReflect().Descriptor().FullName(), err)
	}
	return a, nil
}

// mustAny is for messages whose strings are known to be valid UTF-8, the only
// thing that marshalling can fail on.
func MustPack(m proto.Message) *anypb.Any {
	a, err := Pack(m)
	if err != nil {
		panic(err)
	}
	return a
}
