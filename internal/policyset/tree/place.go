package tree

// Place is where a value stands: under a key of an object, or in a list.
type Place struct {
	// Field is the path of the value without its place in lists, as in spec.rules[].from. The keys of labels are left
	// out too.
	Field string
	Value any
	// Set puts another value there.
	Set func(any)
	// Delete takes the key away. It is nil for an item of a list.
	Delete func()
}

// Places are the places of all values in a value.
func Places(v any) []Place { return places(nil, "", "", v) }

// places adds the places in a value, which stands at a field under a key.
func places(out []Place, field, key string, v any) []Place {
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			at := field + "[]"
			out = append(out, Place{Field: at, Value: item, Set: func(other any) { v[i] = other }})
			out = places(out, at, key, item)
		}
	case map[string]any:
		for _, inner := range Keys(v) {
			at := field + "." + inner
			switch {
			case HoldsLabels(key), key == "annotations":
				at = field + "[]"
			case field == "":
				at = inner
			}
			out = append(out, Place{Field: at, Value: v[inner], Set: func(other any) { v[inner] = other }, Delete: func() { delete(v, inner) }})
			out = places(out, at, inner, v[inner])
		}
	}
	return out
}
