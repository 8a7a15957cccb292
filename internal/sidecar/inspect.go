package sidecar

import (
	"fmt"

	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	envoymatcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/meshproof/meshproof/internal/messages"
)

// understood are the types of extensions inside an RBAC filter that ask for something that
// a policy can say: identity, address, port, server name, header, path, method.
var understood = map[string]bool{
	"envoy.config.rbac.v3.Action":                                             true,
	"envoy.type.matcher.v3.HttpRequestHeaderMatchInput":                       true,
	"envoy.extensions.matching.common_inputs.ssl.v3.UriSanInput":              true,
	"envoy.extensions.matching.common_inputs.ssl.v3.DnsSanInput":              true,
	"envoy.extensions.matching.common_inputs.ssl.v3.SubjectInput":             true,
	"envoy.extensions.matching.common_inputs.network.v3.ServerNameInput":      true,
	"envoy.extensions.matching.common_inputs.network.v3.DestinationIPInput":   true,
	"envoy.extensions.matching.common_inputs.network.v3.DestinationPortInput": true,
	"envoy.extensions.matching.common_inputs.network.v3.SourceIPInput":        true,
	"envoy.extensions.matching.common_inputs.network.v3.SourcePortInput":      true,
	"envoy.extensions.matching.common_inputs.network.v3.DirectSourceIPInput":  true,
	"envoy.extensions.matching.input_matchers.ip.v3.Ip":                       true,
	"envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig":      true,
	"envoy.extensions.rbac.principals.mtls_authenticated.v3.Config":           true,
	"xds.type.matcher.v3.IPMatcher":                                           true,
	"xds.type.matcher.v3.ServerNameMatcher":                                   true,
}

// inspect tells what in an RBAC filter cannot be replayed, and what no policy can
// say.
func inspect(m proto.Message, tell func(Unknown)) {
	v := messages.Visitor{
		Closed: func(typeURL, reason string, at *messages.Path) {
			tell(Unknown{Kind: Lost, Type: typeURL, Path: at.String(), Reason: reason})
		},
		Opened: func(typeURL string, faults []messages.Fault, at *messages.Path) {
			for _, f := range faults {
				tell(Unknown{Kind: Lost, Path: f.At.String(), Reason: f.What})
			}
			if !understood[messages.Name(typeURL)] {
				tell(Unknown{Kind: Opaque, Type: typeURL, Path: at.String(), Reason: "no policy can ask for this"})
			}
		},
		Message: func(m protoreflect.Message, at *messages.Path) {
			for _, reason := range append(oddities(m.Interface()), deprecated(m)...) {
				tell(Unknown{Kind: Opaque, Path: at.String(), Reason: reason})
			}
		},
	}
	v.Visit(m.ProtoReflect())
}

func oddities(m proto.Message) (out []string) {
	add := func(odd bool, reason string) {
		if odd {
			out = append(out, reason)
		}
	}
	switch m := m.(type) {
	case *networkrbacv3.RBAC:
		add(m.Rules != nil && m.Matcher != nil, "rules beside a matcher: Envoy judges by the matcher")
		add(m.ShadowRules != nil && m.ShadowMatcher != nil, "shadow rules beside a shadow matcher: Envoy judges by the matcher")
	case *httprbacv3.RBAC:
		add(m.Rules != nil && m.Matcher != nil, "rules beside a matcher: Envoy judges by the matcher")
		add(m.ShadowRules != nil && m.ShadowMatcher != nil, "shadow rules beside a shadow matcher: Envoy judges by the matcher")
	case *rbacv3.RBAC:
		add(m.Action == rbacv3.RBAC_LOG, "action LOG refuses nobody")
	case *rbacv3.Action:
		add(m.Action == rbacv3.RBAC_LOG, "action LOG refuses nobody")
	case *rbacv3.Policy:
		add(m.Condition != nil || m.CheckedCondition != nil, "a condition in CEL")
	case *envoymatcherv3.MetadataMatcher:
		out = append(out, "it asks for metadata, which another filter writes")
	case *envoymatcherv3.FilterStateMatcher:
		out = append(out, "it asks for filter state, which another filter writes")
	case *matcherv3.Matcher_OnMatch:
		add(m.KeepMatching, "keep_matching: Envoy refuses it in an RBAC filter")
	}
	return out
}

func deprecated(m protoreflect.Message) (out []string) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		options, ok := field.Options().(*descriptorpb.FieldOptions)
		if ok && options.GetDeprecated() && m.Has(field) {
			out = append(out, fmt.Sprintf("field %q of %s is deprecated: Envoy may refuse it", field.TextName(), m.Descriptor().Name()))
		}
	}
	return out
}
