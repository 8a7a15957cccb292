package sidecar

import (
	"fmt"
	"net"
	"strconv"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshproof/meshproof/internal/messages"
)

// decoded is a resource with what it lost when it was decoded.
type decoded[M proto.Message] struct {
	message M
	faults  []messages.Fault
}

// resources are all resources of a dump, a folder or a control plane. The listeners decide
// which of them are read.
type resources struct {
	listeners  []decoded[*listenerv3.Listener]
	routes     map[string]decoded[*routev3.RouteConfiguration]
	extensions map[string]decoded[*anypb.Any]
	// scopes are the scoped route configurations, by the name of their set; over ADS
	// there is one set, without a name.
	scopes map[string][]decoded[*routev3.ScopedRouteConfiguration]
	// unattached are filters that came without a listener.
	unattached []unattached
	unknown    []Unknown
}

// unattached are the filters of one inbound, without a listener.
type unattached struct {
	file, inbound, protocol string
	filters                 []decoded[*anypb.Any]
}

func (r *resources) lost(listener, format string, args ...any) {
	r.unknown = append(r.unknown, Unknown{Kind: Lost, Listener: listener, Reason: fmt.Sprintf(format, args...)})
}

func (r *resources) tellBeside(typeURL, format string, args ...any) {
	r.unknown = append(r.unknown, Unknown{Kind: Beside, Type: typeURL, Reason: fmt.Sprintf(format, args...)})
}

// serveListener adds a listener. A listener without a name gets its address as name.
func (r *resources) serveListener(d decoded[*listenerv3.Listener]) {
	if d.message.Name == "" {
		socket := d.message.GetAddress().GetSocketAddress()
		d.message.Name = net.JoinHostPort(socket.GetAddress(), strconv.Itoa(int(socket.GetPortValue())))
	}
	r.listeners = append(r.listeners, d)
}

func (r *resources) addRoute(d decoded[*routev3.RouteConfiguration]) {
	if r.routes == nil {
		r.routes = map[string]decoded[*routev3.RouteConfiguration]{}
	}
	r.routes[d.message.Name] = d
}

func (r *resources) addExtension(name string, d decoded[*anypb.Any]) {
	if r.extensions == nil {
		r.extensions = map[string]decoded[*anypb.Any]{}
	}
	r.extensions[name] = d
}

func (r *resources) addScope(set string, d decoded[*routev3.ScopedRouteConfiguration]) {
	if r.scopes == nil {
		r.scopes = map[string][]decoded[*routev3.ScopedRouteConfiguration]{}
	}
	r.scopes[set] = append(r.scopes[set], d)
}

// scopesOf returns the scopes of a set.
func (r *resources) scopesOf(set string) []decoded[*routev3.ScopedRouteConfiguration] {
	if found, ok := r.scopes[set]; ok {
		return found
	}
	return r.scopes[""]
}

// fromTree decodes a typed resource. An error names the type of the resource.
func fromTree[M proto.Message](tree any, into M) (decoded[M], error) {
	if o, ok := tree.(object); ok {
		if url, _ := o["@type"].(string); url != "" {
			if got := messages.Name(url); got != messages.Name(typeURL(into)) {
				return decoded[M]{}, fmt.Errorf("it is a %s, not a %s", got, messages.Name(typeURL(into)))
			}
			bare := object{}
			for k, v := range o {
				if k != "@type" {
					bare[k] = v
				}
			}
			tree = bare
		}
	}
	faults, err := messages.Decode(tree, into)
	return decoded[M]{into, faults}, err
}
