package dump

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshproof/meshproof/internal/messages"
)

const (
	// maxMessage bounds one answer of a control plane, in bytes.
	maxMessage = 64 << 20
	// endTimeout bounds the wait for the control plane to take the last answer and to end
	// the stream.
	endTimeout = time.Second
)

// FetchOptions say which proxy asks a control plane, and how it is reached.
type FetchOptions struct {
	// Node is the proxy that is asked for: control planes select by its ID, cluster
	// and metadata.
	Node *corev3.Node
	// Transport protects the connection; nil is TLS with the roots of the system.
	Transport credentials.TransportCredentials
	// PerRPC, if set, proves who asks, for example by a token.
	PerRPC credentials.PerRPCCredentials
}

// References are the names of resources that listeners refer to, and whether they refer to
// scoped route configurations at all.
type References struct {
	Routes, Extensions map[string]bool
	Scopes             bool
}

// Fetch asks a control plane over ADS, in the state of the world variant, for the listeners
// of one proxy and for the resources that they refer to, which read tells. It acknowledges
// each answer. It returns once it has every resource that the last listeners refer to; read
// has seen all resources then.
//
// The target is host:port. An error names it, and the missing resources where the context
// ended first. A control plane may take the node for a proxy that started: give the node an
// ID of its own.
func Fetch(ctx context.Context, target string, o FetchOptions, read func(*Resources) References) error {
	if err := fetch(ctx, target, o, read); err != nil {
		return fmt.Errorf("fetch from control plane %s: %w", target, err)
	}
	return nil
}

func fetch(ctx context.Context, target string, o FetchOptions, read func(*Resources) References) error {
	if o.Node.GetId() == "" {
		return errors.New("the node has no ID: say which proxy is asked for")
	}
	if o.Transport == nil {
		o.Transport = credentials.NewTLS(nil)
	}
	dial := []grpc.DialOption{
		grpc.WithTransportCredentials(o.Transport),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)),
	}
	if o.PerRPC != nil {
		dial = append(dial, grpc.WithPerRPCCredentials(o.PerRPC))
	}
	conn, err := grpc.NewClient(target, dial...)
	if err != nil {
		return err
	}
	defer conn.Close()
	// The control plane must not learn the deadline: it could end the stream a moment
	// before the context does, and the reason would be lost.
	streaming, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(conn).StreamAggregatedResources(streaming)
	if err != nil {
		return fmt.Errorf("%w: start it, or correct its address; --ads-plaintext is for one without TLS", reasonOf(ctx, err))
	}
	c := client{stream: stream, node: o.Node, subscribed: map[string]*subscription{}}
	err = c.run(ctx, read)
	late := time.AfterFunc(endTimeout, cancel)
	defer late.Stop()
	c.endStream()
	return err
}

// endStream ends the stream in order, so that the last ACK or the NACK arrives.
func (c *client) endStream() {
	if c.stream.CloseSend() != nil {
		return
	}
	for {
		if _, err := c.stream.Recv(); err != nil {
			return
		}
	}
}

// reasonOf returns why a call failed: the end of the context, if it ended.
func reasonOf(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, io.EOF):
		return errors.New("it ended the stream")
	case status.Code(err) == codes.Unknown || status.Code(err) == codes.Unavailable:
		return errors.New(words(status.Convert(err).Message()))
	default:
		return fmt.Errorf("%s: %s", status.Code(err), words(status.Convert(err).Message()))
	}
}

// client is one ADS stream, in the state of the world variant.
type client struct {
	stream     discoveryv3.AggregatedDiscoveryService_StreamAggregatedResourcesClient
	node       *corev3.Node
	subscribed map[string]*subscription
	has        Resources
	// wanted are the resources that the last listeners refer to.
	wanted References
}

// subscription has the names that were asked for of one type, and the last answer.
type subscription struct {
	names          []string
	version, nonce string
	answered       bool
}

func (c *client) run(ctx context.Context, read func(*Resources) References) error {
	if err := c.subscribe(resource.ListenerType, nil); err != nil {
		return c.failed(ctx, err)
	}
	for {
		answer, err := c.stream.Recv()
		if err != nil {
			return fmt.Errorf("waiting for %s: %w", c.missing(), reasonOf(ctx, err))
		}
		if err := c.takeAnswer(answer); err != nil {
			return err
		}
		if !c.answered(resource.ListenerType) {
			continue
		}
		c.wanted = read(&c.has)
		if err := c.subscribeToReferences(); err != nil {
			return c.failed(ctx, err)
		}
		if c.missing() == "" {
			return nil
		}
	}
}

// failed returns the reason that sending failed. Recv tells it.
func (c *client) failed(ctx context.Context, err error) error {
	if errors.Is(err, io.EOF) {
		_, err = c.stream.Recv()
	}
	return reasonOf(ctx, err)
}

// subscribeToReferences subscribes to the resources that the listeners refer to.
func (c *client) subscribeToReferences() error {
	if c.wanted.Scopes {
		if err := c.subscribe(resource.ScopedRouteType, nil); err != nil {
			return err
		}
	}
	for _, of := range []struct {
		typeURL string
		names   map[string]bool
	}{{resource.RouteType, c.wanted.Routes}, {resource.ExtensionConfigType, c.wanted.Extensions}} {
		if len(of.names) == 0 {
			continue
		}
		if err := c.subscribe(of.typeURL, slices.Sorted(maps.Keys(of.names))); err != nil {
			return err
		}
	}
	return nil
}

// subscribe asks for resources of a type; without names, for all of them. It does nothing
// where it asked for the same before.
func (c *client) subscribe(typeURL string, names []string) error {
	s, ok := c.subscribed[typeURL]
	if ok && slices.Equal(s.names, names) {
		return nil
	}
	if !ok {
		s = &subscription{}
		c.subscribed[typeURL] = s
	}
	s.names = names
	return c.send(typeURL, nil)
}

// send asks for the subscribed resources. With the nonce of an answer it is the ACK of that
// answer, or its NACK where there is a refusal.
func (c *client) send(typeURL string, refusal *status.Status) error {
	s := c.subscribed[typeURL]
	return c.stream.Send(&discoveryv3.DiscoveryRequest{
		Node: c.node, TypeUrl: typeURL, ResourceNames: s.names,
		VersionInfo: s.version, ResponseNonce: s.nonce, ErrorDetail: refusal.Proto(),
	})
}

func (c *client) answered(typeURL string) bool {
	s, ok := c.subscribed[typeURL]
	return ok && s.answered
}

// takeAnswer keeps the resources of an answer and acknowledges it. It refuses an answer that
// cannot be read.
func (c *client) takeAnswer(answer *discoveryv3.DiscoveryResponse) error {
	s, ok := c.subscribed[answer.TypeUrl]
	if !ok {
		return fmt.Errorf("it sent %s, which was not asked for", messages.Name(answer.TypeUrl))
	}
	s.nonce = answer.Nonce
	if err := c.storeResources(answer); err != nil {
		err = fmt.Errorf("version %q of %s: %w", answer.VersionInfo, messages.Name(answer.TypeUrl), err)
		// If this fails too, the first failure is told.
		_ = c.send(answer.TypeUrl, status.New(codes.InvalidArgument, err.Error()))
		return err
	}
	s.version, s.answered = answer.VersionInfo, true
	if err := c.send(answer.TypeUrl, nil); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

func (c *client) storeResources(answer *discoveryv3.DiscoveryResponse) error {
	switch answer.TypeUrl {
	case resource.ListenerType:
		listeners, err := fromAnys(answer, func() *listenerv3.Listener { return &listenerv3.Listener{} })
		c.has.Listeners = nil
		for _, d := range listeners {
			c.has.serveListener(d)
		}
		return err
	case resource.ScopedRouteType:
		scopes, err := fromAnys(answer, func() *routev3.ScopedRouteConfiguration { return &routev3.ScopedRouteConfiguration{} })
		delete(c.has.scopes, "")
		for _, d := range scopes {
			c.has.addScope("", d)
		}
		return err
	case resource.RouteType:
		routes, err := fromAnys(answer, func() *routev3.RouteConfiguration { return &routev3.RouteConfiguration{} })
		for _, d := range routes {
			c.has.addRoute(d)
		}
		return err
	default:
		extensions, err := fromAnys(answer, func() *corev3.TypedExtensionConfig { return &corev3.TypedExtensionConfig{} })
		for _, d := range extensions {
			c.has.addExtension(d.Message.Name, Decoded[*anypb.Any]{d.Message.TypedConfig, d.Faults})
		}
		return err
	}
}

// fromAnys unmarshals the resources of an answer. A resource with a time to live comes in a
// discovery Resource.
func fromAnys[M proto.Message](answer *discoveryv3.DiscoveryResponse, empty func() M) ([]Decoded[M], error) {
	out := make([]Decoded[M], 0, len(answer.Resources))
	for i, packed := range answer.Resources {
		var wrapper discoveryv3.Resource
		if packed.MessageIs(&wrapper) {
			if err := packed.UnmarshalTo(&wrapper); err != nil {
				return nil, fmt.Errorf("resource %d: %s", i, messages.OneLine(err))
			}
			packed = wrapper.Resource
		}
		m := empty()
		if err := packed.UnmarshalTo(m); err != nil {
			return nil, fmt.Errorf("resource %d: %s", i, messages.OneLine(err))
		}
		out = append(out, Decoded[M]{m, messages.Unread(m.ProtoReflect())})
	}
	return out, nil
}

// missing names the resources that did not come.
func (c *client) missing() string {
	var out []string
	if !c.answered(resource.ListenerType) {
		out = append(out, "listeners")
	}
	if c.wanted.Scopes && !c.answered(resource.ScopedRouteType) {
		out = append(out, "scoped route configurations")
	}
	for _, name := range slices.Sorted(maps.Keys(c.wanted.Routes)) {
		if _, ok := c.has.Routes[name]; !ok {
			out = append(out, fmt.Sprintf("route configuration %q", name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.wanted.Extensions)) {
		if _, ok := c.has.Extensions[name]; !ok {
			out = append(out, fmt.Sprintf("extension configuration %q", name))
		}
	}
	return strings.Join(out, ", ")
}
