package sidecar

import (
	"errors"
	"fmt"

	udpav1 "github.com/cncf/xds/go/udpa/type/v1"
	xdstypev3 "github.com/cncf/xds/go/xds/type/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"
)

var (
	errNoType   = errors.New("it has no type")
	errUnlinked = errors.New("meshproof does not know this type")
)

// unpack returns the message inside an Any, and what was lost of it where it had
// the form of a TypedStruct.
func unpack(a *anypb.Any) (proto.Message, []fault, error) {
	if a.GetTypeUrl() == "" {
		return nil, nil, errNoType
	}
	found, ok := linked(a.TypeUrl)
	if !ok {
		return nil, nil, errUnlinked
	}
	m := found.New().Interface()
	if err := proto.Unmarshal(a.Value, m); err != nil {
		return nil, nil, fmt.Errorf("it is no %s: %s", messageOf(a.TypeUrl), oneLine(err))
	}
	switch m := m.(type) {
	case *udpav1.TypedStruct:
		return fromStruct(m.TypeUrl, m.Value)
	case *xdstypev3.TypedStruct:
		return fromStruct(m.TypeUrl, m.Value)
	}
	return m, nil, nil
}

func fromStruct(typeURL string, value *structpb.Struct) (proto.Message, []fault, error) {
	found, ok := linked(typeURL)
	if !ok || isTypedStruct(messageOf(typeURL)) {
		return nil, nil, errUnlinked
	}
	raw, err := value.MarshalJSON()
	if err != nil {
		return nil, nil, fmt.Errorf("it wraps what is no JSON: %s", oneLine(err))
	}
	tree, err := parse(raw)
	if err != nil {
		return nil, nil, err
	}
	m := found.New().Interface()
	faults, err := decode(tree, m)
	if err != nil {
		return nil, nil, err
	}
	return m, faults, nil
}

// holds returns the type URL of what an Any holds, behind a TypedStruct.
func holds(a *anypb.Any) string {
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

// under moves faults below the place of the message that has them.
func under(at *path, faults []fault) []fault {
	out := make([]fault, len(faults))
	for i, f := range faults {
		if below := f.at.String(); below != "" {
			f.at = at.field(below)
		} else {
			f.at = at
		}
		out[i] = f
	}
	return out
}
