// Package peer plays the address of a caller where Envoy sees the lab's own.
//
// Callers of the lab say in a PROXY protocol header which address they have. Envoy takes that
// address for the remote address, and the lab's own address for the peer's
// (Network::ConnectionInfoProvider::directRemoteAddress). So a filter of the lab asks for the
// remote address where it asked for the peer's. Where the listener trusts a header, the remote
// address on HTTP is the address in the header: there a named rule asks for the remote address of
// the connection, which is that of the PROXY header. Ordered rules have no such question.
//
// The package guarantees that a filter which does not ask for the peer stays as it is. It
// knows no listener and judges no request.
package peer

import (
	"bytes"
	"errors"
	"fmt"

	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	networkinputsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/network/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/xds"
)

// Play returns filters that ask for the remote address wherever the given ones ask for the
// peer's, and the number of these questions. It returns the given filters where there are none.
// Without trust no listener takes the remote address from a header. The error says that the lab
// cannot play the peer.
func Play(f xds.Filters, trust bool) (played xds.Filters, questions int, err error) {
	network, http := player{}, player{trust: trust}
	played = xds.Filters{Network: change(f.Network, &network), HTTP: change(f.HTTP, &http), NetworkAsks: f.NetworkAsks, HTTPAsks: f.HTTPAsks, Routes: make([]xds.Route, len(f.Routes)), RoutesOnly: f.RoutesOnly}
	for i, route := range f.Routes {
		route.HTTP = change(route.HTTP, &http)
		played.Routes[i] = route
	}
	questions = network.questions + http.questions
	switch {
	case http.unplayable > 0:
		return f, questions, errors.New("a matcher asks for the peer's address (DirectSourceIPInput), and the inbound trusts x-forwarded-for: the lab cannot play both addresses there, use a named rule with direct_remote_ip")
	case questions == 0:
		return f, 0, nil
	}
	return played, questions, nil
}

// Note says what [Play] changed in the filters of an inbound, and "" for nothing.
func Note(inbound string, f xds.Filters, trust bool) string {
	_, questions, _ := Play(f, trust)
	if questions == 0 {
		return ""
	}
	asked := "the remote address (remote_ip, SourceIPInput)"
	if trust {
		asked = "the remote address of the connection (source_ip)"
	}
	return fmt.Sprintf("%s: the lab asks for %s wherever a filter asks for the peer's (direct_remote_ip, DirectSourceIPInput), which is %d times: callers play their address by the PROXY protocol, and Envoy's peer is the lab", inbound, asked, questions)
}

// player changes filters of one layer, and counts the changes.
type player struct {
	// trust is true where a header gives the remote address.
	trust                 bool
	questions, unplayable int
}

// filter is an RBAC filter of either layer.
type filter interface {
	proto.Message
	GetMatcher() *matcherv3.Matcher
	GetShadowMatcher() *matcherv3.Matcher
	GetRules() *rbacv3.RBAC
	GetShadowRules() *rbacv3.RBAC
}

var (
	_ filter = (*networkrbacv3.RBAC)(nil)
	_ filter = (*httprbacv3.RBAC)(nil)
)

func change[F filter](filters []F, by *player) []F {
	out := make([]F, len(filters))
	for i, f := range filters {
		if out[i] = f; asks(f) {
			out[i] = proto.CloneOf(f)
			by.questions += by.rewrite(out[i].ProtoReflect(), 0)
		}
	}
	return out
}

// asks reports whether a filter may ask for the peer. It spares large filters a copy.
func asks(f filter) bool {
	for _, m := range []*matcherv3.Matcher{f.GetMatcher(), f.GetShadowMatcher()} {
		if packed, err := proto.Marshal(m); err != nil || bytes.Contains(packed, []byte("DirectSourceIPInput")) {
			return true
		}
	}
	for _, rules := range []*rbacv3.RBAC{f.GetRules(), f.GetShadowRules()} {
		for _, p := range rules.GetPolicies() {
			if anyAsks(p.GetPrincipals()) {
				return true
			}
			if packed, err := proto.Marshal(&rbacv3.Policy{Permissions: p.GetPermissions()}); err != nil || bytes.Contains(packed, []byte("DirectSourceIPInput")) {
				return true
			}
		}
	}
	return false
}

func anyAsks(principals []*rbacv3.Principal) bool {
	for _, p := range principals {
		switch of := p.GetIdentifier().(type) {
		case *rbacv3.Principal_DirectRemoteIp, *rbacv3.Principal_Custom:
			return true
		case *rbacv3.Principal_AndIds:
			if anyAsks(of.AndIds.GetIds()) {
				return true
			}
		case *rbacv3.Principal_OrIds:
			if anyAsks(of.OrIds.GetIds()) {
				return true
			}
		case *rbacv3.Principal_NotId:
			if anyAsks([]*rbacv3.Principal{of.NotId}) {
				return true
			}
		}
	}
	return false
}

// maxDepth bounds the messages inside each other. Envoy refuses as many.
const maxDepth = 100

// rewrite changes a message, and the messages inside it, and counts the changes.
func (p *player) rewrite(m protoreflect.Message, depth int) (changes int) {
	if depth > maxDepth {
		return 0
	}
	switch of := m.Interface().(type) {
	case *rbacv3.Principal:
		if block := of.GetDirectRemoteIp(); block != nil {
			of.Identifier = &rbacv3.Principal_RemoteIp{RemoteIp: block}
			if p.trust {
				//lint:ignore SA1019 there is no other question for the connection's address
				of.Identifier = &rbacv3.Principal_SourceIp{SourceIp: block}
			}
			return 1
		}
	case *anypb.Any:
		inner, _, err := messages.Unpack(of)
		if err != nil {
			return 0
		}
		if _, ok := inner.(*networkinputsv3.DirectSourceIPInput); ok {
			inner, changes = &networkinputsv3.SourceIPInput{}, 1
			if p.trust {
				p.unplayable++
			}
		} else {
			changes = p.rewrite(inner.ProtoReflect(), depth+1)
		}
		if changes == 0 {
			return 0
		}
		packed, err := messages.Pack(inner)
		if err != nil {
			return 0
		}
		of.TypeUrl, of.Value = packed.TypeUrl, packed.Value
		return changes
	}
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.IsMap() && field.MapValue().Message() != nil:
			value.Map().Range(func(_ protoreflect.MapKey, of protoreflect.Value) bool {
				changes += p.rewrite(of.Message(), depth+1)
				return true
			})
		case field.IsList() && field.Message() != nil:
			for i := range value.List().Len() {
				changes += p.rewrite(value.List().Get(i).Message(), depth+1)
			}
		case !field.IsMap() && !field.IsList() && field.Message() != nil:
			changes += p.rewrite(value.Message(), depth+1)
		}
		return true
	})
	return changes
}
