package messages

import (
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protopath"
)

// Path is a place in a message. Its text is made only where a sentence about the place
// is written. A nil Path is the message itself.
type Path struct {
	up *Path
	// name is a field, a path below, or the key of an entry.
	name string
	kind protopath.StepKind
	i    int
}

// Field returns the path of a field, or of a path below.
func (p *Path) Field(name string) *Path {
	return &Path{up: p, name: name, kind: protopath.FieldAccessStep}
}

// Key returns the path of an entry of a map.
func (p *Path) Key(key string) *Path {
	return &Path{up: p, name: key, kind: protopath.MapIndexStep}
}

// Index returns the path of an item of a list.
func (p *Path) Index(i int) *Path { return &Path{up: p, i: i, kind: protopath.ListIndexStep} }

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
	for ; p != nil; p = p.up {
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
