package lift

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	urltemplatev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/path/match/uri_template/v3"
	mtlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/rbac/principals/mtls_authenticated/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/meshproof/meshproof/internal/automaton"
	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// rulesGates reads an envoy.config.rbac.v3.RBAC, whose policies are asked in the order
// of their names.
func (t *translator) rulesGates(r *rbacv3.RBAC, shadow bool, at *messages.Path) []policy.Gate {
	gate, effect := policy.Gate{Layer: t.layer, Form: policy.Named}, policy.Allow
	switch r.Action {
	case rbacv3.RBAC_DENY:
		gate.Default.Effect, effect = policy.Allow, policy.Deny
	case rbacv3.RBAC_LOG:
		gate.Default.Effect, effect = policy.Log, policy.Log
		if shadow {
			// A shadow cannot log: its engine says that it allows everybody.
			gate.Form, gate.Default.Effect, effect = policy.Ordered, policy.Allow, policy.Allow
		}
	}
	t.lost.harmless = r.Action == rbacv3.RBAC_LOG && !shadow
	defer func() { t.lost.harmless = false }()
	t.check(r, at)
	var out draft
	for _, name := range slices.Sorted(maps.Keys(r.Policies)) {
		when := t.policy(r.Policies[name], at.Field("policies").Key(name))
		out.add(when, outcome{verdict: &policy.Verdict{Effect: effect, Origin: name}})
	}
	gate.Rules = out.rules
	return out.gates(gate)
}

func (t *translator) policy(p *rbacv3.Policy, at *messages.Path) reading {
	of := []reading{
		t.anyTerm(permissions(p.GetPermissions()).terms(t, at.Field("permissions"))),
		t.anyTerm(principals(p.GetPrincipals()).terms(t, at.Field("principals"))),
	}
	if p.GetCondition() != nil || p.GetCheckedCondition() != nil {
		of = append(of, t.unsaid(at, "no policy has a condition in CEL"))
	}
	return allOf(of)
}

type (
	permissions []*rbacv3.Permission
	principals  []*rbacv3.Principal
)

func (list permissions) terms(t *translator, at *messages.Path) []term {
	out := make([]term, len(list))
	for i, p := range list {
		out[i] = t.permission(p, at.Index(i))
	}
	return out
}

func (list principals) terms(t *translator, at *messages.Path) []term {
	out := make([]term, len(list))
	for i, p := range list {
		out[i] = t.principal(p, at.Index(i))
	}
	return out
}

func (t *translator) permission(p *rbacv3.Permission, at *messages.Path) term {
	switch of := p.GetRule().(type) {
	case *rbacv3.Permission_Any:
		return term{reading: exactly(policy.Always)}
	case *rbacv3.Permission_AndRules:
		return term{reading: t.allTerm(permissions(of.AndRules.GetRules()).terms(t, at.Field("and_rules").Field("rules")))}
	case *rbacv3.Permission_OrRules:
		return term{reading: t.anyTerm(permissions(of.OrRules.GetRules()).terms(t, at.Field("or_rules").Field("rules")))}
	case *rbacv3.Permission_NotRule:
		return term{reading: negated(t.anyTerm([]term{t.permission(of.NotRule, at.Field("not_rule"))}))}
	case *rbacv3.Permission_Header:
		return t.headerMatcher(of.Header, headerText(of.Header), at.Field("header"))
	case *rbacv3.Permission_UrlPath:
		return t.urlPath(textOf(of.UrlPath.GetPath()), at.Field("url_path"))
	case *rbacv3.Permission_UriTemplate:
		return t.template(of, at.Field("uri_template"))
	case *rbacv3.Permission_RequestedServerName:
		return term{reading: t.serverName(textOf(of.RequestedServerName), at.Field("requested_server_name"))}
	case *rbacv3.Permission_Metadata:
		//lint:ignore SA1019 the filters of other compilers have it
		return term{reading: t.metadata(of.Metadata, at.Field("metadata"))}
	case *rbacv3.Permission_SourcedMetadata:
		return term{reading: t.sourcedMetadata(of.SourcedMetadata, at.Field("sourced_metadata"))}
	case *rbacv3.Permission_DestinationIp:
		return term{reading: t.block(attribute.DestinationAddress, of.DestinationIp, at.Field("destination_ip"))}
	case *rbacv3.Permission_DestinationPort:
		return term{reading: t.portIn(int(of.DestinationPort), int(of.DestinationPort)+1)}
	case *rbacv3.Permission_DestinationPortRange:
		first, behind := int(of.DestinationPortRange.GetStart()), int(of.DestinationPortRange.GetEnd())
		if first < 0 || behind > allPorts || first >= behind {
			return term{reading: t.unsaid(at, "it asks for no range of ports: Envoy refuses it")}
		}
		return term{reading: t.portIn(first, behind)}
	}
	return term{reading: t.unsaid(at, unknownMember(p, "rule"))}
}

func (t *translator) principal(p *rbacv3.Principal, at *messages.Path) term {
	switch of := p.GetIdentifier().(type) {
	case *rbacv3.Principal_Any:
		return term{reading: exactly(policy.Always)}
	case *rbacv3.Principal_AndIds:
		return term{reading: t.allTerm(principals(of.AndIds.GetIds()).terms(t, at.Field("and_ids").Field("ids")))}
	case *rbacv3.Principal_OrIds:
		return term{reading: t.anyTerm(principals(of.OrIds.GetIds()).terms(t, at.Field("or_ids").Field("ids")))}
	case *rbacv3.Principal_NotId:
		return term{reading: negated(t.anyTerm([]term{t.principal(of.NotId, at.Field("not_id"))}))}
	case *rbacv3.Principal_Header:
		return t.headerMatcher(of.Header, headerText(of.Header), at.Field("header"))
	case *rbacv3.Principal_UrlPath:
		return t.urlPath(textOf(of.UrlPath.GetPath()), at.Field("url_path"))
	case *rbacv3.Principal_Metadata:
		//lint:ignore SA1019 the filters of other compilers have it
		return term{reading: t.metadata(of.Metadata, at.Field("metadata"))}
	case *rbacv3.Principal_SourcedMetadata:
		return term{reading: t.sourcedMetadata(of.SourcedMetadata, at.Field("sourced_metadata"))}
	case *rbacv3.Principal_Authenticated_:
		if of.Authenticated.GetPrincipalName() == nil {
			// It asks for TLS only, and every caller speaks TLS.
			return term{reading: exactly(policy.Always)}
		}
		return term{reading: t.name(textOf(of.Authenticated.PrincipalName), at.Field("authenticated").Field("principal_name"))}
	case *rbacv3.Principal_SourceIp:
		//lint:ignore SA1019 the filters of other compilers have it
		return term{reading: t.block(attribute.SourceAddress, of.SourceIp, at.Field("source_ip"))}
	case *rbacv3.Principal_DirectRemoteIp:
		return term{reading: t.block(attribute.SourceAddress, of.DirectRemoteIp, at.Field("direct_remote_ip"))}
	case *rbacv3.Principal_RemoteIp:
		return term{reading: t.block(attribute.RemoteAddress, of.RemoteIp, at.Field("remote_ip"))}
	case *rbacv3.Principal_Custom:
		m, _, _ := messages.Unpack(of.Custom.GetTypedConfig())
		if config, ok := m.(*mtlsv3.Config); ok {
			return term{reading: t.certificate(config, at.Field("custom"))}
		}
	}
	return term{reading: t.unsaid(at, unknownMember(p, "identifier"))}
}

// serverName compares the SNI. A permission takes a name that was not sent for an empty one,
// unlike a matcher.
func (t *translator) serverName(of text, at *messages.Path) reading {
	return t.each(of, at, func(a alternative) reading {
		switch {
		case a.Match == policy.Match{}:
			return exactly(policy.Not{Condition: attribute.SNI.Prefix("")})
		case a.Match == policy.Match{Kind: policy.Prefix} && !a.longer:
			return exactly(policy.Always)
		case a.Match.Kind == policy.Regex && a.Match.Matches(""):
			return anyOf([]reading{t.attribute(attribute.SNI, text{alternatives: []alternative{a}}, at).reading, exactly(policy.Not{Condition: attribute.SNI.Prefix("")})})
		default:
			return t.attribute(attribute.SNI, text{alternatives: []alternative{a}}, at).reading
		}
	})
}

// unknownMember says that no policy can ask for the member of a oneof that is set.
func unknownMember(m proto.Message, oneof protoreflect.Name) string {
	message := m.ProtoReflect()
	set := message.WhichOneof(message.Descriptor().Oneofs().ByName(oneof))
	if set == nil {
		return "it asks for nothing: Envoy refuses it"
	}
	return fmt.Sprintf("no policy can ask for %s", set.Name())
}

// certificate asks for a verified certificate with a SAN of one type, which a policy
// cannot tell from the others.
func (t *translator) certificate(config *mtlsv3.Config, at *messages.Path) reading {
	t.lost.add(at, "no policy can ask for a verified certificate, or for SANs of one type")
	san := config.GetSanMatcher()
	if san == nil || san.SanType != tlsv3.SubjectAltNameMatcher_URI {
		return partly(attribute.URISAN.Prefix(""))
	}
	return partly(t.name(textOf(san.Matcher), at.Field("typed_config").Field("san_matcher")).when)
}

// urlPath compares the path without its query. A connection has none, so that a
// network filter never matches.
func (t *translator) urlPath(of text, at *messages.Path) term {
	if t.layer == policy.L4 {
		return term{reading: exactly(policy.Never)}
	}
	return term{path: &comparison{text: of, path: at}}
}

// template compares the path with a path that has wildcards. The part in front of the first
// wildcard is close to a template that cannot be read.
func (t *translator) template(of *rbacv3.Permission_UriTemplate, at *messages.Path) term {
	m, _, err := messages.Unpack(of.UriTemplate.GetTypedConfig())
	config, ok := m.(*urltemplatev3.UriTemplateMatchConfig)
	switch {
	case err != nil || !ok:
		return term{reading: t.unsaid(at, "its template cannot be read")}
	case t.layer == policy.L4:
		return term{reading: exactly(policy.Never)}
	}
	is := policy.Is{Attribute: attribute.Path, Match: policy.Match{Kind: policy.Template, Value: config.PathTemplate}}
	if _, err := automaton.Template(config.PathTemplate); err == nil {
		return term{reading: exactly(is)}
	}
	t.lost.add(at, "its template cannot be read")
	literal, _, _ := strings.Cut(strings.ReplaceAll(config.PathTemplate, "{", "*"), "*")
	return term{reading: partly(attribute.Path.Segments(literal[:strings.LastIndexByte(literal, '/')+1]))}
}
