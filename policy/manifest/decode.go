package manifest

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/spelling"
)

// unmarshaler is implemented by types that take more than one shape, such as a
// scalar or a list of scalars.
type unmarshaler interface {
	// UnmarshalManifest decodes the document into the receiver. An error that is no
	// [*Error] gets the place of the document.
	UnmarshalManifest(d Document) error
}

// Decode stores the document where into points. The yaml tag names a field. An embedded
// struct without a tag shares the fields of its parent. A field of type [Document] gets
// its part undecoded. A type that implements [unmarshaler] or
// [encoding.TextUnmarshaler] decodes itself.
//
// Decode is strict. An unknown field is an [*Error] with its place, and so is a value of
// another type, such as a number for a text. A field without a value ("mesh:") counts
// as absent; a pointer tells absent from empty. An into that is no pointer is an error.
//
// Several structs share the fields of one mapping: each gets its own fields. A field
// that no struct has is unknown.
func (d Document) Decode(into ...any) error {
	targets := make([]reflect.Value, len(into))
	for i, target := range into {
		v := reflect.ValueOf(target)
		if v.Kind() != reflect.Pointer || v.IsNil() {
			return d.Errorf("", "decode into %T: a pointer is needed", target)
		}
		targets[i] = v.Elem()
	}
	if d.node == nil {
		d.node = &node{}
	}
	if len(targets) == 1 {
		return d.decode(targets[0])
	}
	if d.node.kind == null {
		return nil
	}
	return d.decodeStructs(targets)
}

// DecodeKnown decodes into one struct as [Document.Decode] does, but it ignores the
// fields that the struct does not have.
func (d Document) DecodeKnown(into any) error {
	known := fieldsOf(reflect.TypeOf(into).Elem()).byName
	return d.withoutKeys(func(key string) bool { _, ok := known[key]; return !ok }).Decode(into)
}

var (
	documentType        = reflect.TypeFor[Document]()
	unmarshalerType     = reflect.TypeFor[unmarshaler]()
	textUnmarshalerType = reflect.TypeFor[encoding.TextUnmarshaler]()
)

func (d Document) decode(v reflect.Value) error {
	switch {
	case v.Type() == documentType:
		v.Set(reflect.ValueOf(d))
		return nil
	case d.node.kind == null && nullable(v.Kind()):
		v.SetZero()
		return nil
	case reflect.PointerTo(v.Type()).Implements(unmarshalerType):
		return d.placed(v.Addr().Interface().(unmarshaler).UnmarshalManifest(d))
	case reflect.PointerTo(v.Type()).Implements(textUnmarshalerType):
		return d.decodeText(v.Addr().Interface().(encoding.TextUnmarshaler))
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return d.decode(v.Elem())
	case reflect.Struct:
		return d.decodeStructs([]reflect.Value{v})
	case reflect.Slice:
		return d.decodeSlice(v)
	case reflect.Map:
		return d.decodeMap(v)
	case reflect.Interface:
		if v.NumMethod() == 0 {
			v.Set(reflect.ValueOf(d.node.value()))
			return nil
		}
	}
	return d.decodeScalar(v)
}

// decodeText decodes text. A number or a boolean is refused for what is wrong with its value, so that nobody puts
// a value in quotes that is wrong in quotes too.
func (d Document) decodeText(into encoding.TextUnmarshaler) error {
	scalar := d.node.kind == integer || d.node.kind == float || d.node.kind == boolean
	if d.node.kind != text && !scalar {
		return d.mismatch("text")
	}
	if err := d.placed(into.UnmarshalText([]byte(d.node.scalar))); err != nil || !scalar {
		return err
	}
	return d.mismatch("text")
}

// nullable reports whether a field of the kind counts as absent where it has no value.
func nullable(k reflect.Kind) bool {
	switch k {
	case reflect.Pointer, reflect.Struct, reflect.Slice, reflect.Map, reflect.Interface:
		return true
	}
	return false
}

func (d Document) placed(err error) error {
	if err == nil || errors.As(err, new(*Error)) {
		return err
	}
	return d.Errorf("", "%v", err)
}

func (d Document) mismatch(want string) error {
	if d.node.kind == null {
		return d.Errorf("", "expected %s, found nothing", want)
	}
	hint := ""
	if want == "text" && (d.node.kind == integer || d.node.kind == float || d.node.kind == boolean) {
		hint = ": put it in quotes"
	}
	return d.Errorf("", "expected %s, found %s%s", want, d.node.describe(), hint)
}

// decodeStructs decodes each entry into the first struct that has its field.
func (d Document) decodeStructs(structs []reflect.Value) error {
	if d.node.kind != mapping {
		return d.mismatch("a mapping")
	}
	for _, e := range d.node.entries {
		entry := Document{file: d.file, field: fieldpath.Child(d.field, e.key), line: e.line, node: e.value, comments: d.comments}
		field, ok := fieldOf(structs, e.key)
		if !ok {
			return entry.Errorf("", "unknown field%s", hint(structs, e.key))
		}
		if err := entry.decode(field); err != nil {
			return err
		}
	}
	return nil
}

func (d Document) decodeSlice(v reflect.Value) error {
	if d.node.kind != list {
		return d.mismatch("a list")
	}
	out := reflect.MakeSlice(v.Type(), len(d.node.items), len(d.node.items))
	for i, item := range d.node.items {
		if item.kind == null && out.Index(i).Kind() == reflect.Struct && out.Index(i).Type() != documentType {
			// An API server takes no such item, whatever it takes an absent field for.
			return d.item(i).Errorf("", "the item has no value: write one, or leave the item out")
		}
		if err := d.item(i).decode(out.Index(i)); err != nil {
			return err
		}
	}
	v.Set(out)
	return nil
}

func (d Document) decodeMap(v reflect.Value) error {
	if d.node.kind != mapping {
		return d.mismatch("a mapping")
	}
	if v.Type().Key().Kind() != reflect.String {
		return d.Errorf("", "cannot be decoded into %s: the keys must be text", v.Type())
	}
	out := reflect.MakeMapWithSize(v.Type(), len(d.node.entries))
	for _, e := range d.node.entries {
		value := reflect.New(v.Type().Elem()).Elem()
		at := Document{file: d.file, field: fieldpath.Child(d.field, e.key), line: e.line, node: e.value, comments: d.comments}
		if err := at.decode(value); err != nil {
			return err
		}
		out.SetMapIndex(reflect.ValueOf(e.key).Convert(v.Type().Key()), value)
	}
	v.Set(out)
	return nil
}

func (d Document) decodeScalar(v reflect.Value) error {
	n := d.node
	switch {
	case v.Kind() == reflect.String:
		if n.kind != text {
			return d.mismatch("text")
		}
		v.SetString(n.scalar)
	case v.Kind() == reflect.Bool:
		if n.kind != boolean {
			return d.mismatch("true or false")
		}
		v.SetBool(n.scalar == "true")
	case v.CanInt():
		i, err := strconv.ParseInt(n.scalar, 10, v.Type().Bits())
		if n.kind != integer || err != nil {
			return d.mismatch(wholeNumber(-1<<(v.Type().Bits()-1), 1<<(v.Type().Bits()-1)-1))
		}
		v.SetInt(i)
	case v.CanUint():
		i, err := strconv.ParseUint(n.scalar, 10, v.Type().Bits())
		if n.kind != integer || err != nil {
			return d.mismatch(wholeNumber(0, 1<<v.Type().Bits()-1))
		}
		v.SetUint(i)
	case v.CanFloat():
		f, err := n.float()
		if err != nil || v.OverflowFloat(f) {
			return d.mismatch("a number")
		}
		v.SetFloat(f)
	default:
		return d.Errorf("", "cannot be decoded into %s", v.Type())
	}
	return nil
}

func wholeNumber(least int64, most uint64) string {
	return fmt.Sprintf("a whole number from %d to %d", least, most)
}

// Fields returns the names of the fields that [Document.Decode] knows in a struct of this type, or in the one that a path of names leads to.
func Fields(of any, path ...string) []string {
	t := reflect.TypeOf(of)
	for _, name := range path {
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		t = t.FieldByIndex(fieldsOf(t).byName[name]).Type
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return slices.Clone(fieldsOf(t).names)
}

// fields has the fields of a struct type that a document can set, by name.
type fields struct {
	byName map[string][]int
	names  []string
}

var fieldCache sync.Map // of reflect.Type to *fields

func fieldsOf(t reflect.Type) *fields {
	if cached, ok := fieldCache.Load(t); ok {
		return cached.(*fields)
	}
	f := &fields{byName: map[string][]int{}}
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if name == "" || name == "-" || !field.IsExported() {
			continue
		}
		f.byName[name] = field.Index
		f.names = append(f.names, name)
	}
	cached, _ := fieldCache.LoadOrStore(t, f)
	return cached.(*fields)
}

// fieldOf returns the field of that name in the first struct that has one.
func fieldOf(structs []reflect.Value, name string) (reflect.Value, bool) {
	for _, v := range structs {
		if path, ok := fieldsOf(v.Type()).byName[name]; ok {
			return v.FieldByIndex(path), true
		}
	}
	return reflect.Value{}, false
}

// hint says which name an unknown field may have meant.
func hint(structs []reflect.Value, unknown string) string {
	var names []string
	for _, v := range structs {
		names = append(names, fieldsOf(v.Type()).names...)
	}
	slices.Sort(names)
	meant := spelling.Guess(unknown, names)
	switch {
	case len(meant) == 1:
		return ": did you mean " + meant[0] + "?"
	case len(meant) > 1:
		names = meant
	case len(names) == 0:
		return ""
	}
	return ": use one of " + strings.Join(names, ", ")
}

// value returns the node as plain Go values: nil, bool, int64, uint64, float64,
// string, []any, map[string]any.
func (n *node) value() any {
	switch n.kind {
	case boolean:
		return n.scalar == "true"
	case integer:
		if i, err := strconv.ParseInt(n.scalar, 10, 64); err == nil {
			return i
		}
		u, _ := strconv.ParseUint(n.scalar, 10, 64)
		return u
	case float:
		f, _ := n.float()
		return f
	case text:
		return n.scalar
	case list:
		out := make([]any, len(n.items))
		for i, item := range n.items {
			out[i] = item.value()
		}
		return out
	case mapping:
		out := make(map[string]any, len(n.entries))
		for _, e := range n.entries {
			out[e.key] = e.value.value()
		}
		return out
	}
	return nil
}

func (n *node) float() (float64, error) {
	if n.kind != integer && n.kind != float {
		return 0, fmt.Errorf("%s is no number", n.describe())
	}
	s := strings.ReplaceAll(n.scalar, "_", "")
	switch strings.ToLower(s) {
	case ".nan":
		return math.NaN(), nil
	case ".inf", "+.inf":
		return math.Inf(1), nil
	case "-.inf":
		return math.Inf(-1), nil
	}
	return strconv.ParseFloat(s, 64)
}
