package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// object is a JSON object whose values are not read yet.
type object map[string]json.RawMessage

// readObject reads one, and nothing behind it. It is strict where encoding/json is
// not: no field stands twice, and text is UTF-8.
func readObject(data []byte) (object, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("it is not UTF-8")
	}
	if !json.Valid(data) {
		return nil, fmt.Errorf("it is not JSON: %s", quote(data))
	}
	if bytes.TrimLeft(data, " \t\r\n")[0] != '{' {
		return nil, fmt.Errorf("want an object, got %s", quote(data))
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	out := object{}
	for {
		token, err := decoder.Token()
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, err
		}
		key, ok := token.(string)
		if !ok {
			continue // a brace
		}
		if _, twice := out[key]; twice {
			return nil, fmt.Errorf("field %q stands twice", key)
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, err
		}
		out[key] = value
	}
}

// only refuses fields that are none of the known ones.
func (o object) only(known ...string) error {
	var unknown []string
	for key := range o {
		if !slices.Contains(known, key) {
			unknown = append(unknown, fmt.Sprintf("%q", key))
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	return fmt.Errorf("unknown field %s: there are %s", strings.Join(unknown, ", "), strings.Join(known, ", "))
}

func (o object) has(key string) bool { _, ok := o[key]; return ok }

// value reads a field that has to be there; want says what its value is.
func value[T any](o object, key, want string) (T, error) {
	var out T
	raw, ok := o[key]
	if !ok {
		return out, fmt.Errorf("%s is missing: want %s", key, want)
	}
	if string(raw) == "null" || json.Unmarshal(raw, &out) != nil {
		return out, fmt.Errorf("%s: want %s, got %s", key, want, quote(raw))
	}
	return out, nil
}

// quote shows what came, or its beginning.
func quote(data []byte) string {
	const most = 80
	if len(data) > most {
		return fmt.Sprintf("%q…", data[:most])
	}
	return fmt.Sprintf("%q", data)
}
