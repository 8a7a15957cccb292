package examination

import (
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/xds"
)

// askingForNames returns filters that decide alike, for callers in plaintext too. A principal that
// asks for TLS alone, authenticated: {}, asks for the name that every caller over TLS has here, so
// that plaintext is in a class of its own.
func askingForNames(f xds.Filters) xds.Filters {
	f.Network, f.HTTP = named(f.Network), named(f.HTTP)
	routes := make([]xds.Route, len(f.Routes))
	for i, route := range f.Routes {
		route.HTTP = named(route.HTTP)
		routes[i] = route
	}
	f.Routes = routes
	return f
}

func named[F proto.Message](filters []F) []F {
	out := make([]F, len(filters))
	for i, filter := range filters {
		out[i] = proto.CloneOf(filter)
		messages.Visitor{
			Closed: func(string, string, *messages.Path) {},
			Opened: func(string, []messages.Fault, *messages.Path) {},
			Message: func(m protoreflect.Message, _ *messages.Path) {
				if of, ok := m.Interface().(*rbacv3.Principal_Authenticated); ok && of.PrincipalName == nil {
					of.PrincipalName = &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Prefix{Prefix: "spiffe://"}}
				}
			},
		}.Visit(out[i].ProtoReflect())
	}
	return out
}
