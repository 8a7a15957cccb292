package networkpolicy

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy/manifest"
)

// written writes one part of a policy, or a list of several, on one line of YAML, as their author could have written it. Two texts are
// the same where the parts are. What is not there is left out, and an empty list stays: it may mean nothing where no list means all.
func written(parts ...any) string {
	var b strings.Builder
	if len(parts) == 1 {
		write(&b, reflect.ValueOf(parts[0]))
	} else {
		write(&b, reflect.ValueOf(parts))
	}
	return b.String()
}

func write(b *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Invalid:
		b.WriteString("null")
	case reflect.Pointer, reflect.Interface:
		write(b, v.Elem())
	case reflect.Struct:
		separate(b, "{}", func(next func()) {
			for field, value := range v.Fields() {
				// An empty list is none of these.
				if value.IsZero() {
					continue
				}
				next()
				b.WriteString(field.Tag.Get("yaml") + ": ")
				write(b, value)
			}
		})
	case reflect.Map:
		separate(b, "{}", func(next func()) {
			byKey := map[string]reflect.Value{}
			for key, value := range v.Seq2() {
				byKey[key.String()] = value
			}
			for _, key := range slices.Sorted(maps.Keys(byKey)) {
				next()
				b.WriteString(manifest.Quote(key) + ": ")
				write(b, byKey[key])
			}
		})
	case reflect.Slice:
		separate(b, "[]", func(next func()) {
			for _, value := range v.Seq2() {
				next()
				write(b, value)
			}
		})
	case reflect.String:
		b.WriteString(manifest.Quote(v.String()))
	default:
		fmt.Fprint(b, v)
	}
}

// separate writes what the function writes between brackets, with a comma in front of all but the first one.
func separate(b *strings.Builder, brackets string, each func(next func())) {
	b.WriteByte(brackets[0])
	first := true
	each(func() {
		if !first {
			b.WriteString(", ")
		}
		first = false
	})
	b.WriteByte(brackets[1])
}
