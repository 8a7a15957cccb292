package sidecar

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	// MaxSize is the largest input, in bytes: some 30 times the dump of an Envoy with
	// a thousand listeners.
	MaxSize = 256 << 20
	// maxDepth bounds how deep JSON or messages may be nested. Each Any inside an Any
	// is copied once more; the deepest filters known have some 60 levels.
	maxDepth = 512
)

type object = map[string]any

// parse reads one JSON value. Numbers stay as they are written.
func parse(data []byte) (any, error) {
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
	case object:
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

// get returns a field by its name in the proto file; Envoy prints that one, most
// control planes print it in lowerCamelCase.
func get(o object, name string) any {
	if v, ok := o[name]; ok {
		return v
	}
	return o[camel(name)]
}

func camel(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words[1:] {
		if word != "" {
			words[i+1] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}

func getObject(o object, name string) object {
	v, _ := get(o, name).(object)
	return v
}

func getList(o object, name string) []any {
	v, _ := get(o, name).([]any)
	return v
}

func getString(o object, name string) string {
	v, _ := get(o, name).(string)
	return v
}

// plain replaces each TypedStruct, by which a control plane may write a message
// that it does not have, by an Any of that message.
func plain(tree any) any {
	switch tree := tree.(type) {
	case object:
		for {
			inner, ok := typedStruct(tree)
			if !ok {
				break
			}
			tree = inner
		}
		for k, v := range tree {
			tree[k] = plain(v)
		}
		return tree
	case []any:
		for i, v := range tree {
			tree[i] = plain(v)
		}
	}
	return tree
}

func typedStruct(o object) (object, bool) {
	url, _ := o["@type"].(string)
	if !isTypedStruct(messageOf(url)) {
		return nil, false
	}
	out := object{}
	for k, v := range getObject(o, "value") {
		out[k] = v
	}
	out["@type"] = getString(o, "type_url")
	return out, true
}

func isTypedStruct(message string) bool {
	return message == "udpa.type.v1.TypedStruct" || message == "xds.type.v3.TypedStruct"
}
