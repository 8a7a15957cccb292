package messages

import (
	"errors"
	"fmt"

	udpav1 "github.com/cncf/xds/go/udpa/type/v1"
	xdstypev3 "github.com/cncf/xds/go/xds/type/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"
)

// Pack returns a message as an Any. It marshals deterministically: a map in another order
// would be another version of the resource, and Envoy would drain a listener that did not
// change. It returns an error for a string that is no UTF-8.
func Pack(m proto.Message) (*anypb.Any, error) {
	a := new(anypb.Any)
	if err := anypb.MarshalFrom(a, m, proto.MarshalOptions{Deterministic: true}); err != nil {
		return nil, fmt.Errorf("xds: marshal %s: %w", m.ProtoReflect().Descriptor().FullName(), err)
	}
	return a, nil
}

// MustPack is [Pack] for messages whose strings are known to be UTF-8. It panics on others.
func MustPack(m proto.Message) *anypb.Any {
	a, err := Pack(m)
	if err != nil {
		panic(err)
	}
	return a
}

var (
	errNoType   = errors.New("it has no type")
	errUnlinked = errors.New("meshproof does not know this type")
)

// Unpack returns the message inside an Any, and what it lost where it had the form of a
// TypedStruct. It returns an error for a type that is not linked into the program, and
// for bytes that are no such message.
func Unpack(a *anypb.Any) (proto.Message, []Fault, error) {
	if a.GetTypeUrl() == "" {
		return nil, nil, errNoType
	}
	found, ok := linked(a.TypeUrl)
	if !ok {
		return nil, nil, errUnlinked
	}
	m := found.New().Interface()
	if err := proto.Unmarshal(a.Value, m); err != nil {
		return nil, nil, fmt.Errorf("it is no %s: %s", Name(a.TypeUrl), OneLine(err))
	}
	switch m := m.(type) {
	case *udpav1.TypedStruct:
		return fromStruct(m.TypeUrl, m.Value)
	case *xdstypev3.TypedStruct:
		return fromStruct(m.TypeUrl, m.Value)
	}
	return m, nil, nil
}

func fromStruct(typeURL string, value *structpb.Struct) (proto.Message, []Fault, error) {
	found, ok := linked(typeURL)
	if !ok || IsTypedStruct(Name(typeURL)) {
		return nil, nil, errUnlinked
	}
	raw, err := value.MarshalJSON()
	if err != nil {
		return nil, nil, fmt.Errorf("it wraps what is no JSON: %s", OneLine(err))
	}
	tree, err := Parse(raw)
	if err != nil {
		return nil, nil, err
	}
	m := found.New().Interface()
	faults, err := Decode(tree, m)
	if err != nil {
		return nil, nil, err
	}
	return m, faults, nil
}

// TypeURL returns the type URL of the message that an Any holds, also behind a
// TypedStruct.
func TypeURL(a *anypb.Any) string {
	var udpa udpav1.TypedStruct
	var xds xdstypev3.TypedStruct
	switch {
	case a.MessageIs(&udpa) && a.UnmarshalTo(&udpa) == nil:
		return udpa.TypeUrl
	case a.MessageIs(&xds) && a.UnmarshalTo(&xds) == nil:
		return xds.TypeUrl
	default:
		return a.GetTypeUrl()
	}
}

// faultsBelow moves faults below the place of the message that has them.
func faultsBelow(at *Path, faults []Fault) []Fault {
	out := make([]Fault, len(faults))
	for i, f := range faults {
		if below := f.Path.String(); below != "" {
			f.Path = at.Field(below)
		} else {
			f.Path = at
		}
		out[i] = f
	}
	return out
}
