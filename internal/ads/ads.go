package ads

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/grpc/credentials"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/meshproof/meshproof/internal/plugin"
	"github.com/meshproof/meshproof/internal/sidecar"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

// DefaultTimeout bounds the wait for one inbound's listeners where [Compiler] says
// nothing else.
const DefaultTimeout = 10 * time.Second

// Compiler is a control plane. It implements suite.Compiler, and is safe for concurrent
// use.
type Compiler struct {
	// Target is host:port of its ADS server.
	Target string
	// Transport protects the connection; nil is TLS with the roots of the system.
	Transport credentials.TransportCredentials
	// Timeout bounds the wait for one inbound; [DefaultTimeout] where it is not positive.
	Timeout time.Duration
}

// Error says that the control plane gave no filters for an inbound, or none that decide
// in the lab as they do in its listener.
type Error struct {
	Target, Inbound string
	Err             error
}

// Error names the control plane and the inbound.
func (e *Error) Error() string {
	return fmt.Sprintf("ads: control plane %s, asked for %s: %v", e.Target, e.Inbound, e.Err)
}

// Unwrap returns what went wrong.
func (e *Error) Unwrap() error { return e.Err }

// Broken is true: an error with this method is no refusal of policies.
func (e *Error) Broken() bool { return true }

// Compile returns the filters that the control plane has for the inbound. Its error is an
// [*Error].
func (c Compiler) Compile(ctx context.Context, in policy.Inbound, policies []manifest.Document, opts dialect.Options) (xds.Filters, error) {
	timeout := c.Timeout
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	// No deadline, for the control plane would be told of it, and might be the first to
	// end the stream.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(timeout, func() { cancel(fmt.Errorf("it sent no listeners within %s", timeout)) })
	defer late.Stop()
	filters, err := c.compile(ctx, in, policies, opts)
	if err != nil {
		return xds.Filters{}, &Error{Target: c.Target, Inbound: in.String(), Err: err}
	}
	return filters, nil
}

func (c Compiler) compile(ctx context.Context, in policy.Inbound, policies []manifest.Document, opts dialect.Options) (xds.Filters, error) {
	node, err := node(in, policies, opts)
	if err != nil {
		return xds.Filters{}, err
	}
	found, err := sidecar.Fetch(ctx, c.Target, sidecar.FetchOptions{Node: node, Transport: c.Transport})
	if err != nil {
		return xds.Filters{}, err
	}
	return choose(found, in)
}

// node is the proxy of one inbound.
func node(in policy.Inbound, policies []manifest.Document, opts dialect.Options) (*corev3.Node, error) {
	question, err := plugin.Question(in, policies, opts)
	if err != nil {
		return nil, err
	}
	asked := &structpb.Struct{}
	if err := protojson.Unmarshal(question, asked); err != nil {
		return nil, err
	}
	w := in.Workload
	return &corev3.Node{
		Id:       strings.Join([]string{w.Mesh, w.Namespace, w.Name, in.Section()}, "."),
		Cluster:  w.Name,
		Metadata: &structpb.Struct{Fields: map[string]*structpb.Value{"meshproof": structpb.NewStructValue(asked)}},
	}, nil
}

// choose returns the filters of the inbound among those of a proxy: the one on its port.
func choose(found sidecar.Sidecar, in policy.Inbound) (xds.Filters, error) {
	var on []sidecar.Inbound
	var ports []string
	for _, candidate := range found.Inbounds {
		ports = append(ports, fmt.Sprint(candidate.Address))
		if candidate.Address.Port() == in.Port {
			on = append(on, candidate)
		}
	}
	switch {
	case len(on) == 0:
		return xds.Filters{}, fmt.Errorf("none of its inbound listeners is on port %d: there are %q", in.Port, ports)
	case len(on) > 1:
		return xds.Filters{}, fmt.Errorf("%d of its inbound filter chains are on port %d: one was expected", len(on), in.Port)
	}
	if err := faithful(found, on[0]); err != nil {
		return xds.Filters{}, err
	}
	return on[0].Filters, nil
}

// faithful refuses an inbound that decides by more than its RBAC filters: the lab runs
// nothing else of it, on a listener of its own.
func faithful(found sidecar.Sidecar, in sidecar.Inbound) error {
	for _, u := range found.Of(in) {
		if u.Kind == sidecar.Lost || u.Kind == sidecar.Opaque || u.Kind == sidecar.Beside && u.Position == sidecar.InFront {
			return fmt.Errorf("its filters cannot be replayed: %s", u)
		}
	}
	if n := in.Normalization; in.Protocol.Layer() == policy.L7 && n != (policy.PathNormalization{}) {
		return fmt.Errorf("its listener hands on paths that the lab's does not: normalize_path is %t, merge_slashes %t, and it is to %s escaped slashes; want true, true and reject",
			!n.Raw, !n.KeepSlashes, n.EscapedSlashes)
	}
	return nil
}
