package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	// A filter of a compiler may contain these messages, so they must be linked.
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/environment_variable/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/network/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/ssl/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/input_matchers/ip/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/input_matchers/metadata/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/rbac/audit_loggers/stream/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/rbac/matchers/upstream_ip_port/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/rbac/principals/mtls_authenticated/v3"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// greeting is what a compiler says of itself. The version may be empty.
type greeting struct {
	Name, Version string
	// Protocol is the version of the protocol that the compiler speaks.
	Protocol int
}

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
	case spoken < Oldest || spoken > Newest:
		return greeting{}, fmt.Errorf("protocol: it speaks version %d, want %d or %d", spoken, Oldest, Newest)
	}
	if err := o.checkFields("protocol", "name", "version"); err != nil {
		return greeting{}, err
	}
	g := greeting{Protocol: spoken}
	if g.Name, err = readValue[string](o, "name", "text"); err == nil && g.Name == "" {
		err = errors.New("name is empty: want the name of the compiler")
	}
	if err == nil && o.has("version") {
		g.Version, err = readValue[string](o, "version", "text")
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

func readAnswer(version int, o object, in policy.Inbound) (answer, error) {
	if err := o.checkFields("id", "filters", "error"); err != nil {
		return answer{}, err
	}
	switch refused, accepted := o.has("error"), o.has("filters"); {
	case refused && accepted:
		return answer{}, errors.New("it has filters and an error: want one of them")
	case !refused && !accepted:
		return answer{}, errors.New("it has no filters and no error: want one of them")
	case accepted:
		filters, err := readFilters(version, o["filters"], in)
		return answer{filters: filters}, err
	}
	text, err := readValue[string](o, "error", "text")
	if err == nil && text == "" {
		err = errors.New("error is empty: want the reason of the refusal")
	}
	return answer{refusal: errors.New(text)}, err
}

// ReadAnswer returns the filters of an answer in a version of the protocol, or the refusal in it. An answer that is not
// sound is an error that wraps [ErrAnswer].
func ReadAnswer(version int, text []byte, in policy.Inbound) (xds.Filters, error) {
	o, err := readObject(text)
	if err != nil {
		return xds.Filters{}, badAnswer("%w", err)
	}
	a, err := readAnswer(version, o, in)
	switch {
	case errors.As(err, new(*unreadError)):
		return xds.Filters{}, err
	case err != nil:
		return xds.Filters{}, badAnswer("%w", err)
	}
	return a.filters, a.refusal
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
	for _, key := range slices.Sorted(maps.Keys(o)) {
		if !slices.Contains(known, key) {
			unknown = append(unknown, fmt.Sprintf("%q", key))
		}
	}
	if len(unknown) == 0 {
		return nil
	}
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
	if most := 80; len(data) > most {
		return fmt.Sprintf("%q…", data[:most])
	}
	return fmt.Sprintf("%q", data)
}
