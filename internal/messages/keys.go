package messages

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// fewKeys is how many keys of an object are compared one by one. Most objects of a dump
// have fewer.
const fewKeys = 16

// keys are the keys of an object, as they are written between the quotation marks.
type keys struct {
	few  [][]byte
	many map[string]bool
}

// add takes a key, and reports whether the object has it already.
func (k *keys) add(key []byte) bool {
	if bytes.ContainsFunc(key, func(r rune) bool { return r == '\\' || r == utf8.RuneError }) {
		var text string
		// It was read before: there is no error.
		_ = json.Unmarshal(append(append([]byte{'"'}, key...), '"'), &text)
		key = []byte(text)
	}
	if k.many == nil && len(k.few) < fewKeys {
		for _, other := range k.few {
			if bytes.Equal(other, key) {
				return true
			}
		}
		k.few = append(k.few, key)
		return false
	}
	if k.many == nil {
		k.many = map[string]bool{}
		for _, other := range k.few {
			k.many[string(other)] = true
		}
	}
	twice := k.many[string(key)]
	k.many[string(key)] = true
	return twice
}

// repeatedKey returns a key that an object has twice. The data is sound JSON.
func repeatedKey(data []byte) (key []byte, twice bool) {
	// open has the keys of the objects around the place, and nothing for an array.
	var open []*keys
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{':
			open = append(open, &keys{})
		case '[':
			open = append(open, nil)
		case '}', ']':
			open = open[:len(open)-1]
		case '"':
			end := i + 1
			for ; data[end] != '"'; end++ {
				if data[end] == '\\' {
					end++
				}
			}
			text := data[i+1 : end]
			i = end
			for i+1 < len(data) && bytes.IndexByte([]byte(" \t\r\n"), data[i+1]) >= 0 {
				i++
			}
			if i+1 < len(data) && data[i+1] == ':' && open[len(open)-1].add(text) {
				return text, true
			}
		}
	}
	return nil, false
}
