package messages

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

const (
	// MaxSize is the largest input, in bytes: some 30 times the dump of an Envoy with a
	// thousand listeners.
	MaxSize = 256 << 20
	// maxDepth bounds how deep JSON or messages may be nested. Each Any inside an Any is
	// copied once more; the deepest filters known have some 60 levels.
	maxDepth = 512
)

// Object is an object of JSON.
type Object = map[string]any

// Parse reads one JSON value. Numbers stay as they are written. It returns an error for
// input that is no JSON, is larger than [MaxSize] bytes, or is nested deeper than 512
// levels.
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
	if !IsTypedStruct(Name(url)) {
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
