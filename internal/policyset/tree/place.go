package tree

// Place is where a value stands: under a key of an object, or in a list.
type Place struct {
	Value any
	// Set puts another value there.
	Set func(any)
	// Delete takes the key away. It is nil for an item of a list.
	Delete func()
}

// Places are the places of all values in a value.
func Places(v any) []Place {
	var out []Place
	add := func(p Place) {
		out = append(out, p)
		out = append(out, Places(p.Value)...)
	}
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			add(Place{Value: item, Set: func(other any) { v[i] = other }})
		}
	case map[string]any:
		for _, key := range Keys(v) {
			add(Place{Value: v[key], Set: func(other any) { v[key] = other }, Delete: func() { delete(v, key) }})
		}
	}
	return out
}
