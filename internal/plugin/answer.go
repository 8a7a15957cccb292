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

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// greeting is the name and the version of a compiler.
type greeting struct{ name, version string }

func readGreeting(data []byte) (greeting, error) {
	o, err := readObject(data)
	if err != nil {
		return greeting{}, err
	}
	// The version is first, because another version may have other fields.
	spoken, err := readValue[int](o, "protocol", "a whole number")
	switch {
	case err != nil:
		return greeting{}, err
	case spoken != protocol:
		return greeting{}, fmt.Errorf("protocol: it speaks version %d, want %d", spoken, protocol)
	}
	if err := o.checkFields("protocol", "name", "version"); err != nil {
		return greeting{}, err
	}
	var g greeting
	if g.name, err = readValue[string](o, "name", "text"); err == nil && g.name == "" {
		err = errors.New("name is empty: want the name of the compiler")
	}
	if err == nil && o.has("version") {
		g.version, err = readValue[string](o, "version", "text")
	}
	return g, err
}

// readID reads the id of an answer. It names the request.
func readID(data []byte) (int64, object, error) {
	o, err := readObject(data)
	if err != nil {
		return 0, nil, err
	}
	id, err := readValue[int64](o, "id", "the whole number of a request")
	return id, o, err
}

// answer is an answer without its id: a refusal of the policies, or filters.
type answer struct {
	refusal error
	filters xds.Filters
}

func readAnswer(o object, in policy.Inbound) (answer, error) {
	if err := o.checkFields("id", "filters", "error"); err != nil {
		return answer{}, err
	}
	switch refused, accepted := o.has("error"), o.has("filters"); {
	case refused && accepted:
		return answer{}, errors.New("it has filters and an error: want one of them")
	case !refused && !accepted:
		return answer{}, errors.New("it has no filters and no error: want one of them")
	case accepted:
		filters, err := readFilters(o["filters"], in)
		return answer{filters: filters}, err
	}
	text, err := readValue[string](o, "error", "text")
	if err == nil && text == "" {
		err = errors.New("error is empty: want the reason of the refusal")
	}
	return answer{refusal: errors.New(text)}, err
}

// readList reads an optional field.
func readList(o object, key string) ([]json.RawMessage, error) {
	if !o.has(key) {
		return nil, nil
	}
	return readValue[[]json.RawMessage](o, key, "a list")
}

// object is a JSON object with unread values.
type object map[string]json.RawMessage

// readObject reads one object and refuses more text after it. It is stricter than
// encoding/json: a field appears once only, and text is UTF-8.
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
			return nil, fmt.Errorf("field %q appears twice", key)
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, err
		}
		out[key] = value
	}
}

// checkFields refuses unknown fields.
func (o object) checkFields(known ...string) error {
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

// readValue reads a required field. The text want describes its value.
func readValue[T any](o object, key, want string) (T, error) {
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

// quote returns the data in quotes, or its beginning.
func quote(data []byte) string {
	const most = 80
	if len(data) > most {
		return fmt.Sprintf("%q…", data[:most])
	}
	return fmt.Sprintf("%q", data)
}
