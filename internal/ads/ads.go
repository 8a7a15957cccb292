// Package ads puts a whole control plane under test, as a [suite.Compiler]. It asks the
// control plane over ADS for the listeners of each inbound's proxy and takes the
// authorization filters out of them. The suite then runs the filters in the lab.
//
// Each inbound is a node of its own. Under "meshproof2", the metadata of the node has the
// question that package plugin asks a compiler in the words of version 2: inbound, policies,
// options. Under "meshproof" it has the question of version 1, where that has words for it. A
// control plane that reads one of them needs no other way to get the policies of a case. Other
// control planes serve the policies of their own store.
//
// A listener says what an answer of version 2 says: which tokens it takes, how it normalizes
// paths, and, where it demands a client certificate, that its mTLS is strict. The suite holds all
// of it against the policies.
//
// The package guarantees that a control plane without a usable answer is an [*Error]. It
// is never taken for a control plane that refuses policies, or that decides as specified.
// Two kinds of answers are not usable: filters that the package does not understand, and
// unknown filters in front of RBAC. Such a case fails. A listener that demands no client certificate
// says nothing about mTLS, because the lab has its own.
//
// ADS has no answer that refuses policies. Cases with expectError therefore fail for a
// control plane, unless they are exempt.
package ads

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	jwtauthnv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"
	"google.golang.org/grpc/credentials"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/internal/plugin"
	"github.com/meshproof/meshproof/internal/sidecar"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

// DefaultTimeout is the default time limit for the listeners of one inbound.
const DefaultTimeout = 10 * time.Second

// Compiler is a control plane. It implements [suite.Compiler] and is safe for concurrent
// use.
type Compiler struct {
	// Target is the host:port of its ADS server.
	Target string
	// Transport protects the connection. Nil means TLS with the roots of the system.
	Transport credentials.TransportCredentials
	// Timeout is the time limit for the listeners of one inbound. Without
	// a positive value it is [DefaultTimeout].
	Timeout time.Duration
}

// Error says that the control plane sent no filters for an inbound, or filters that decide
// differently in the lab than in its listener.
type Error struct {
	Target, Inbound string
	Err             error
}

// Error names the control plane and the inbound.
func (e *Error) Error() string {
	return fmt.Sprintf("ads: control plane %s, asked for %s: %v", e.Target, e.Inbound, e.Err)
}

// Unwrap returns the failure without the names.
func (e *Error) Unwrap() error { return e.Err }

// Broken returns true, unless there are listeners. An error with this method is no refusal
// of policies.
func (e *Error) Broken() bool { return !e.Unread() }

// Unread reports whether the control plane sent listeners that decide by more than can be
// read, or could not be asked. Such a control plane is not verified, and it refuses nothing.
func (e *Error) Unread() bool {
	return errors.As(e.Err, new(*unreadError)) || errors.As(e.Err, new(*plugin.UnaskedError))
}

// unreadError names what cannot be read of a listener.
type unreadError struct{ text string }

func (e *unreadError) Error() string { return e.text }

// Compile returns the filters of the control plane for the inbound. Its error is an
// [*Error].
func (c Compiler) Compile(ctx context.Context, in policy.Inbound, policies []manifest.Document, opts language.Options) (xds.Filters, error) {
	timeout := c.Timeout
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	// gRPC would tell the control plane a deadline, and the control plane might end the
	// stream first. So the context gets no deadline.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(timeout, func() { cancel(fmt.Errorf("it sent no listeners within %s", timeout)) })
	defer timer.Stop()
	filters, err := c.compile(ctx, in, policies, opts)
	if err != nil {
		return xds.Filters{}, &Error{Target: c.Target, Inbound: in.String(), Err: err}
	}
	return filters, nil
}

func (c Compiler) compile(ctx context.Context, in policy.Inbound, policies []manifest.Document, opts language.Options) (xds.Filters, error) {
	node, err := newNode(in, policies, opts)
	if err != nil {
		return xds.Filters{}, err
	}
	found, err := sidecar.Fetch(ctx, c.Target, dump.FetchOptions{Node: node, Transport: c.Transport})
	if err != nil {
		return xds.Filters{}, err
	}
	return chooseFilters(found, in)
}

// newNode returns the node of one inbound's proxy.
func newNode(in policy.Inbound, policies []manifest.Document, opts language.Options) (*corev3.Node, error) {
	metadata := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	// A control plane chooses no version.
	for key, version := range map[string]int{"meshproof": plugin.Oldest, "meshproof2": plugin.Newest} {
		question, err := plugin.Question(version, in, policies, opts)
		if version < plugin.Newest && errors.As(err, new(*plugin.UnaskedError)) {
			continue
		}
		if err != nil {
			return nil, err
		}
		asked := &structpb.Struct{}
		if err := protojson.Unmarshal(question, asked); err != nil {
			return nil, err
		}
		metadata.Fields[key] = structpb.NewStructValue(asked)
	}
	w := in.Workload
	return &corev3.Node{
		Id:       strings.Join([]string{w.Mesh, w.Namespace, w.Name, in.Section()}, "."),
		Cluster:  w.Name,
		Metadata: metadata,
	}, nil
}

// chooseFilters returns the filters of the inbound on the wanted port.
func chooseFilters(found sidecar.Sidecar, in policy.Inbound) (xds.Filters, error) {
	var matches []sidecar.Inbound
	var ports []string
	for _, candidate := range found.Inbounds {
		ports = append(ports, fmt.Sprint(candidate.Address))
		if candidate.Address.Port() == in.Port {
			matches = append(matches, candidate)
		}
	}
	switch {
	case len(matches) == 0:
		return xds.Filters{}, fmt.Errorf("none of its inbound listeners is on port %d: there are %q", in.Port, ports)
	case len(matches) > 1:
		return xds.Filters{}, &unreadError{fmt.Sprintf("%d of its inbound filter chains are on port %d: one was expected", len(matches), in.Port)}
	}
	if err := checkReplay(found, matches[0]); err != nil {
		return xds.Filters{}, err
	}
	return filtersOf(matches[0]), nil
}

// filtersOf returns the filters with what the listener says beside them.
func filtersOf(in sidecar.Inbound) xds.Filters {
	out := in.Filters
	if in.Transport == sidecar.MutualTLS && !in.Permissive {
		out.MTLS = mtls.Strict
	}
	if in.Protocol.Layer() == policy.L7 {
		out.Normalization = &in.Normalization
		// Without the filter, no token is read.
		if out.Tokens = in.TokenFilter; out.Tokens == nil {
			out.Tokens = &jwtauthnv3.JwtAuthentication{}
		}
	}
	return out
}

// checkReplay refuses an inbound that needs more than its RBAC filters for a decision, and one past which another
// inbound may lead to the same workload. The lab runs only these filters, on its own listener.
func checkReplay(found sidecar.Sidecar, in sidecar.Inbound) error {
	for _, u := range found.Unknown {
		if !u.Idle && u.Kind != dump.Note {
			return &unreadError{fmt.Sprintf("its filters cannot be replayed, because requests may get past them: %s", u)}
		}
	}
	for _, u := range found.UnknownOf(in) {
		// The lab has its own mTLS.
		if u.Kind != dump.Note && u.Kind != dump.Exposed {
			return &unreadError{fmt.Sprintf("its filters cannot be replayed: %s", u)}
		}
	}
	return nil
}
