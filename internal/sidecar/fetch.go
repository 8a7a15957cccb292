package sidecar

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
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

// Fetch asks a control plane over ADS, in the state of the world variant, for the listeners
// of one proxy and for the route and extension configurations that its inbounds refer to.
// It acknowledges each answer. It returns once it has every resource that the last
// listeners refer to.
//
// The target is host:port. An error names it, and the missing resources where the context
// ended first. A control plane may take the node for a proxy that started: give the node an
// ID of its own.
func Fetch(ctx context.Context, target string, o FetchOptions) (Sidecar, error) {
	s, err := fetch(ctx, target, o)
	if err != nil {
		return Sidecar{}, fmt.Errorf("sidecar: fetch from control plane %s: %w", target, err)
	}
	return s, nil
}

func fetch(ctx context.Context, target string, o FetchOptions) (Sidecar, error) {
	if o.Node.GetId() == "" {
		return Sidecar{}, errors.New("the node has no ID: say which proxy is asked for")
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
		return Sidecar{}, err
	}
	defer conn.Close()
	streaming, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(conn).StreamAggregatedResources(streaming)
	if err != nil {
		return Sidecar{}, reasonOf(ctx, err)
	}
	c := client{stream: stream, node: o.Node, subscribed: map[string]*subscription{}}
	s, err := c.run(ctx)
	late := time.AfterFunc(endTimeout, cancel)
	defer late.Stop()
	c.endStream()
	return s, err
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
