package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	jwtauthnv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshproof/meshproof/internal/authorizer"
	"github.com/meshproof/meshproof/internal/authorizerfilter"
	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/internal/normalization"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

func readFilters(version int, data []byte, in policy.Inbound) (xds.Filters, error) {
	var out xds.Filters
	o, err := readObject(data)
	if err == nil {
		err = o.checkFields(fieldsOf(version)...)
	}
	if err != nil {
		return out, fmt.Errorf("filters: %w", err)
	}
	if out.Network, out.NetworkAsks, err = readAskingList(version, o, "network", authorizerfilter.FromNetwork, shadowOfNetwork); err != nil {
		return out, fmt.Errorf("filters.%w", err)
	}
	if out.HTTP, out.HTTPAsks, err = readAskingList(version, o, "http", authorizerfilter.FromHTTP, shadowOfHTTP); err != nil {
		return out, fmt.Errorf("filters.%w", err)
	}
	if out.Routes, out.RoutesOnly, err = readRoutes(version, o, in, out.HTTP); err != nil {
		return out, err
	}
	if (len(out.HTTP)+len(out.Routes) > 0 || out.RoutesOnly) && in.Protocol == policy.TCP {
		return out, fmt.Errorf("filters: a %s inbound takes network filters only", in.Protocol)
	}
	if len(out.Routes) > 0 && len(out.HTTPAsks) > 0 {
		return out, errors.New("filters.routes: no route has filters of its own where an authorizer is asked")
	}
	if version < 2 {
		return out, nil
	}
	return out, readListener(o, in, &out)
}

// readListener reads what version 2 says of a listener beside its RBAC filters.
func readListener(o object, in policy.Inbound, out *xds.Filters) error {
	if o.has("mtls") {
		name, err := readValue[string](o, "mtls", "strict, permissive or disable")
		if err == nil && name == "" {
			err = errors.New("mtls is empty: want strict, permissive or disable")
		}
		if err == nil {
			err = out.MTLS.UnmarshalText([]byte(name))
		}
		if err != nil {
			return fmt.Errorf("filters.%w", err)
		}
	}
	if in.Protocol == policy.TCP {
		for _, field := range []string{"tokens", "paths"} {
			if o.has(field) {
				return fmt.Errorf("filters.%s: a %s inbound reads no %s", field, in.Protocol, field)
			}
		}
		return nil
	}
	// Without the filter, no token is read.
	out.Tokens = &jwtauthnv3.JwtAuthentication{}
	if o.has("tokens") {
		if err := readFilter(o["tokens"], out.Tokens); err != nil {
			return fmt.Errorf("filters.tokens: %w", err)
		}
	}
	if o.has("paths") {
		n, err := readPaths(o["paths"])
		if err != nil {
			return fmt.Errorf("filters.paths: %w", err)
		}
		out.Normalization = &n
	}
	return nil
}

// readPaths reads the settings of a connection manager about paths.
func readPaths(raw []byte) (policy.PathNormalization, error) {
	m := &hcmv3.HttpConnectionManager{}
	if err := unmarshal(raw, m); err != nil {
		return policy.PathNormalization{}, err
	}
	if err := messages.KnowsOnly(m, "normalize_path", "merge_slashes", "path_with_escaped_slashes_action"); err != nil {
		return policy.PathNormalization{}, err
	}
	n, redirected := normalization.FromManager(m)
	if redirected {
		return n, &unreadError{errors.New("the lab plays no redirect of paths with escaped slashes")}
	}
	return n, nil
}

// fieldsOf returns the fields of filters in a version of the protocol.
func fieldsOf(version int) []string {
	fields := []string{"network", "http", "routes"}
	if version >= 2 {
		fields = append(fields, "routesOnly", "tokens", "mtls", "paths")
	}
	return fields
}

// shadowOfNetwork and shadowOfHTTP return the prefix of the shadow that ext_authz looks at.
func shadowOfNetwork(f *networkrbacv3.RBAC) string { return f.ShadowRulesStatPrefix }
func shadowOfHTTP(f *httprbacv3.RBAC) string       { return f.ShadowRulesStatPrefix }

// readAskingList reads the RBAC filters in an optional field. From version 2 on, a filter that asks
// an authorizer may stand behind one of them, which its @type tells.
func readAskingList[M any, F interface {
	*M
	proto.Message
}, A proto.Message](version int, o object, key string, from func(A, string) (authorizer.Authorizer, error), shadow func(F) string) (out []F, asks map[int]authorizer.Authorizer, err error) {
	raws, err := readList(o, key)
	for i, raw := range raws {
		item, err := readObject(raw)
		if version < 2 || err != nil || !item.has("@type") {
			filter := F(new(M))
			if err := readFilter(raw, filter); err != nil {
				return nil, nil, fmt.Errorf("%s[%d]: %w", key, i, err)
			}
			out = append(out, filter)
			continue
		}
		a, err := readAsk(raw, len(out), asks, func(m A) (authorizer.Authorizer, error) { return from(m, shadow(out[len(out)-1])) })
		if err != nil {
			return nil, nil, fmt.Errorf("%s[%d]: %w", key, i, err)
		}
		if asks == nil {
			asks = map[int]authorizer.Authorizer{}
		}
		asks[len(out)-1] = a
	}
	return out, asks, err
}

// readAsk reads a filter that asks an authorizer. Behind is the number of filters in front of it.
func readAsk[A proto.Message](raw []byte, behind int, asks map[int]authorizer.Authorizer, from func(A) (authorizer.Authorizer, error)) (authorizer.Authorizer, error) {
	packed := &anypb.Any{}
	if err := unmarshal(raw, packed); err != nil {
		return authorizer.Authorizer{}, err
	}
	m, err := packed.UnmarshalNew()
	if err != nil {
		return authorizer.Authorizer{}, err
	}
	filter, ok := m.(A)
	if _, twice := asks[behind-1]; !ok || behind == 0 || twice {
		return authorizer.Authorizer{}, fmt.Errorf("%s: want one %s behind an RBAC filter; an RBAC filter itself has no @type", m.ProtoReflect().Descriptor().FullName(), filter.ProtoReflect().Descriptor().FullName())
	}
	if err := messages.Validate(filter); err != nil {
		return authorizer.Authorizer{}, err
	}
	a, err := from(filter)
	if err != nil {
		return a, &unreadError{fmt.Errorf("it asks an authorizer that the lab cannot stand for: %w", err)}
	}
	return a, nil
}

// unreadError says that the filters of an answer cannot be read: nothing is then verified, and
// nothing is refused.
type unreadError struct{ error }

// Unwrap returns the reason.
func (e *unreadError) Unwrap() error { return e.error }

// Unread returns true, see [UnaskedError.Unread].
func (e *unreadError) Unread() bool { return true }

// unmarshal reads a message from JSON, without unknown fields.
func unmarshal(raw json.RawMessage, into proto.Message) error {
	if err := protojson.Unmarshal(raw, into); err != nil {
		// Protojson changes the space after "proto:" on purpose.
		return fmt.Errorf("not %s as JSON: %s", into.ProtoReflect().Descriptor().FullName(), strings.ReplaceAll(err.Error(), "\u00a0", " "))
	}
	return nil
}

// readFilterList reads the filters in an optional field.
func readFilterList[M any, F interface {
	*M
	proto.Message
}](o object, key string) ([]F, error) {
	raws, err := readList(o, key)
	var out []F
	for i, raw := range raws {
		filter := F(new(M))
		if err := readFilter(raw, filter); err != nil {
			return nil, fmt.Errorf("%s[%d]: %w", key, i, err)
		}
		out = append(out, filter)
	}
	return out, err
}

// readFilter reads a message of Envoy. It refuses unknown fields, and checks the message
// with the rules of Envoy.
func readFilter(raw json.RawMessage, into proto.Message) error {
	if err := unmarshal(raw, into); err != nil {
		return err
	}
	valid := into
	if network, ok := into.(*networkrbacv3.RBAC); ok {
		// The listener sets the prefix, so it may be missing here.
		network = proto.CloneOf(network)
		network.StatPrefix = "stat"
		valid = network
	}
	return messages.Validate(valid)
}
