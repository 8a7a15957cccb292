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

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	"google.golang.org/protobuf/proto"

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

// readRoutes returns the routes of the inbound in its order. Envoy asks the first route
// that matches a request. So a route without filters of its own gets copies of the
// inbound's filters when a route after it has filters of its own.
func readRoutes(routes []json.RawMessage, in policy.Inbound, own []*httprbacv3.RBAC) ([]xds.Route, error) {
	given := map[string][]*httprbacv3.RBAC{}
	for i, raw := range routes {
		name, filters, err := readRoute(raw)
		known := slices.ContainsFunc(in.Routes, func(r policy.InboundRoute) bool { return r.Name == name })
		switch {
		case err != nil:
			return nil, fmt.Errorf("filters.routes[%d]: %w", i, err)
		case !known:
			return nil, fmt.Errorf("filters.routes[%d].name: the inbound has no route %q", i, name)
		case given[name] != nil:
			return nil, fmt.Errorf("filters.routes[%d].name: route %q appears twice", i, name)
		case len(own) == 0:
			return nil, fmt.Errorf("filters.routes[%d]: filters.http has no filter that a route could replace", i)
		case len(filters) != len(own):
			return nil, fmt.Errorf("filters.routes[%d].rbac: filters.http has %d filters, want a list of as many, not %d", i, len(own), len(filters))
		}
		given[name] = filters
	}
	var out []xds.Route
	for _, r := range in.Routes {
		if len(given) == 0 {
			break
		}
		match, err := routeMatch(r)
		if err != nil {
			return nil, err
		}
		filters, ok := given[r.Name]
		if !ok {
			for _, filter := range own {
				filter = proto.CloneOf(filter)
				filter.TrackPerRuleStats = false // rule counters belong to the filter
				filters = append(filters, filter)
			}
		}
		delete(given, r.Name)
		out = append(out, xds.Route{Name: r.Name, Match: match, HTTP: filters})
	}
	return out, nil
}

// readRoute reads the name of a route and its filters: one, or a list.
func readRoute(raw json.RawMessage) (string, []*httprbacv3.RBAC, error) {
	o, err := readObject(raw)
	if err == nil {
		err = o.checkFields("name", "rbac")
	}
	if err != nil {
		return "", nil, err
	}
	name, err := readValue[string](o, "name", "the name of a route")
	if err != nil {
		return "", nil, err
	}
	if !o.has("rbac") {
		return "", nil, fmt.Errorf("rbac is missing: want a filter")
	}
	if bytes.HasPrefix(bytes.TrimSpace(o["rbac"]), []byte("[")) {
		filters, err := readFilterList[httprbacv3.RBAC](o, "rbac")
		return name, filters, err
	}
	filter := &httprbacv3.RBAC{}
	if err := readFilter(o["rbac"], filter); err != nil {
		return "", nil, fmt.Errorf("rbac: %w", err)
	}
	return name, []*httprbacv3.RBAC{filter}, nil
}

// routeMatch returns the match of a route in the listener. A tested compiler does not
// choose it, so it comes from a program that contains only the route.
func routeMatch(r policy.InboundRoute) (*routev3.RouteMatch, error) {
	gates := []policy.Gate{{Layer: policy.L7, Default: policy.Verdict{Origin: "default"}}}
	filters, err := xds.Compile(policy.Program{Gates: gates, Routes: []policy.Route{{Name: r.Name, When: r.When, Gates: gates}}})
	if err != nil {
		return nil, err
	}
	return filters.Routes[0].Match, nil
}
