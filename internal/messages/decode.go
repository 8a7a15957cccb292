package messages

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Fault is something that stands in the source of a message and not in the message: a
// field or an enumerator that its definition does not have.
type Fault struct {
	Path *Path
	What string
	// Guards is set where it stands in an RBAC filter.
	Guards bool
}

// Decode reads a message from a JSON value and leaves out what its definition does not
// have. The faults say what that is.
func Decode(tree any, into proto.Message) ([]Fault, error) {
	tree = withoutTypedStructs(tree)
	raw, err := json.Marshal(tree)
	if err != nil {
		return nil, err
	}
	options := protojson.UnmarshalOptions{DiscardUnknown: true, AllowPartial: true, Resolver: tolerant{}}
	if err := options.Unmarshal(raw, into); err != nil {
		return nil, fmt.Errorf("it is no %s: %s", into.ProtoReflect().Descriptor().Name(), OneLine(err))
	}
	var s schema
	s.message(tree, into.ProtoReflect().Descriptor(), nil, false)
	return s.faults, nil
}

// OneLine drops the random white space that the protobuf runtime puts into errors.
func OneLine(err error) string {
	return strings.Join(strings.Fields(err.Error()), " ")
}

// schema holds JSON against the definition of its message.
type schema struct{ faults []Fault }

func (s *schema) message(tree any, d protoreflect.MessageDescriptor, at *Path, guards bool) {
	o, ok := tree.(Object)
	if !ok || d.ParentFile().Package() == "google.protobuf" && d.Name() != "Any" {
		return
	}
	if d.FullName() == "google.protobuf.Any" {
		url, _ := o["@type"].(string)
		found, ok := linked(url)
		if !ok {
			return
		}
		d = found.Descriptor()
	}
	guards = guards || Authorizes(string(d.FullName()))
	for _, key := range slices.Sorted(maps.Keys(o)) {
		if key == "@type" || o[key] == nil {
			continue
		}
		field := d.Fields().ByJSONName(key)
		if field == nil {
			field = d.Fields().ByTextName(key)
		}
		if field == nil {
			s.faults = append(s.faults, Fault{at, fmt.Sprintf("field %q is none that %s has here", key, d.Name()), guards})
			continue
		}
		s.field(o[key], field, at.Field(field.TextName()), guards)
	}
}

func (s *schema) field(value any, d protoreflect.FieldDescriptor, at *Path, guards bool) {
	switch {
	case d.IsMap():
		entries, _ := value.(Object)
		for _, key := range slices.Sorted(maps.Keys(entries)) {
			s.single(entries[key], d.MapValue(), at.Key(key), guards)
		}
	case d.IsList():
		items, _ := value.([]any)
		for i, item := range items {
			s.single(item, d, at.Index(i), guards)
		}
	default:
		s.single(value, d, at, guards)
	}
}

func (s *schema) single(value any, d protoreflect.FieldDescriptor, at *Path, guards bool) {
	switch {
	case d.Message() != nil:
		s.message(value, d.Message(), at, guards)
	case d.Enum() != nil && d.Enum().FullName() != "google.protobuf.NullValue":
		if !hasEnumerator(value, d.Enum()) {
			s.faults = append(s.faults, Fault{at, fmt.Sprintf("%v is none that %s has here", value, d.Enum().Name()), guards})
		}
	}
}

func hasEnumerator(value any, d protoreflect.EnumDescriptor) bool {
	switch value := value.(type) {
	case string:
		return d.Values().ByName(protoreflect.Name(value)) != nil
	case json.Number:
		n, err := value.Int64()
		return err == nil && d.Values().ByNumber(protoreflect.EnumNumber(n)) != nil
	default:
		return true
	}
}

// Printable replaces what a terminal would take for a command. It is for strings.Map.
func Printable(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return unicode.ReplacementChar
}

const (
	// MaxSize is the largest input, in bytes: some 7 times the dump of an Envoy with a
	// thousand listeners.
	MaxSize = 64 << 20
	// maxDepth bounds how deep JSON or messages may be nested. Each Any inside an Any is
	// copied once more; the deepest filters known have some 60 levels.
	maxDepth = 512
)

// Object is an object of JSON.
type Object = map[string]any

// Parse reads one JSON value. Numbers stay as they are written. It returns an error for
// input that is no JSON, is larger than [MaxSize] bytes, is nested deeper than 512 levels,
// or has a key of an object twice: readers of JSON differ in which of the two counts.
func Parse(data []byte) (any, error) {
	if len(data) > MaxSize {
		return nil, fmt.Errorf("it has %d bytes, the limit is %d: ask Envoy for less, as in /config_dump?resource=dynamic_listeners", len(data), MaxSize)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return nil, fmt.Errorf("no JSON: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("no JSON: something follows the value")
	}
	if tooDeep(tree, maxDepth) {
		return nil, fmt.Errorf("it is nested deeper than %d levels", maxDepth)
	}
	if key, twice := repeatedKey(data); twice {
		return nil, fmt.Errorf("an object has the key %q twice", key)
	}
	return tree, nil
}

func tooDeep(tree any, left int) bool {
	if left == 0 {
		return true
	}
	switch tree := tree.(type) {
	case Object:
		for _, v := range tree {
			if tooDeep(v, left-1) {
				return true
			}
		}
	case []any:
		for _, v := range tree {
			if tooDeep(v, left-1) {
				return true
			}
		}
	}
	return false
}

// withoutTypedStructs replaces each TypedStruct by an Any of the message that it holds. A
// control plane may write a TypedStruct for a message that it does not have.
func withoutTypedStructs(tree any) any {
	switch tree := tree.(type) {
	case Object:
		for {
			inner, ok := typedStruct(tree)
			if !ok {
				break
			}
			tree = inner
		}
		for k, v := range tree {
			tree[k] = withoutTypedStructs(v)
		}
		return tree
	case []any:
		for i, v := range tree {
			tree[i] = withoutTypedStructs(v)
		}
	}
	return tree
}

func typedStruct(o Object) (Object, bool) {
	url, _ := o["@type"].(string)
	// With more fields it is none, or has one of them in two spellings.
	if !IsTypedStruct(Name(url)) || len(o) > len([]string{"@type", "type_url", "value"}) {
		return nil, false
	}
	out := Object{}
	value, _ := o["value"].(Object)
	for k, v := range value {
		out[k] = v
	}
	inner, ok := o["type_url"].(string)
	if !ok {
		inner, _ = o["typeUrl"].(string)
	}
	out["@type"] = inner
	return out, true
}

// IsTypedStruct reports whether a message is a TypedStruct, given its name.
func IsTypedStruct(name string) bool {
	return name == "udpa.type.v1.TypedStruct" || name == "xds.type.v3.TypedStruct"
}
