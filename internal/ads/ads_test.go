package ads_test

import (
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	rbacconfigv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	corsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/cors/v3"
	jwtauthnv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	routerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshproof/meshproof/internal/ads"
	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/xds"
)

var backend = policy.Inbound{Workload: policy.Workload{Mesh: "default", Namespace: "shop", Name: "backend"}, Port: 8080, Protocol: policy.HTTP}

func compile(t *testing.T, ctx context.Context, p *plane) (xds.Filters, error) {
	t.Helper()
	c := ads.Compiler{Target: p.serve(t), Transport: insecure.NewCredentials(), Timeout: 5 * time.Second}
	return c.Compile(ctx, backend, nil, language.Options{})
}

// wantBroken checks that an error is an [*ads.Error] on one line.
func wantBroken(t *testing.T, err error, want string) {
	t.Helper()
	wantError(t, err, false, want)
}

// wantError checks the error of a control plane that is broken, or that sent listeners which
// cannot be read.
func wantError(t *testing.T, err error, unread bool, want string) {
	t.Helper()
	broken := (*ads.Error)(nil)
	switch {
	case !errors.As(err, &broken) || broken.Broken() == unread || broken.Unread() != unread || broken.Inbound != "backend/8080":
		t.Errorf("error %v, want an *ads.Error", err)
	case !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n"):
		t.Errorf("error %q, want %q on one line", err, want)
	}
}

// TestCompile gets the filters of the listener on the inbound's port. The node carries the
// question.
func TestCompile(t *testing.T) {
	t.Parallel()
	p := &plane{asked: make(chan *corev3.Node, 1), listeners: []*listenerv3.Listener{listener(8080, packed(t, routedTo(t, "orders"))), listener(8081, packed(t, routedTo(t, "carts")))}}
	p.listeners[1].Name = "another"
	filters, err := compile(t, t.Context(), p)
	if err != nil || len(filters.HTTP) != 1 || len(filters.Network) != 0 || filters.HTTP[0].Rules.Policies["everybody"] == nil {
		t.Errorf("filters %v, error %v", filters, err)
	}
	node := <-p.asked
	port := node.GetMetadata().GetFields()["meshproof"].GetStructValue().GetFields()["inbound"].GetStructValue().GetFields()["port"]
	if node.GetId() != "default.shop.backend.8080" || node.GetCluster() != "backend" || port.GetNumberValue() != 8080 {
		t.Errorf("node %v", node)
	}
}

// TestListenersThatDecideOtherwiseInTheLab has listeners whose filters would decide differently in the lab.
func TestListenersThatDecideOtherwiseInTheLab(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		// change makes a sound listener unsound.
		change  func(*listenerv3.Listener)
		manager func(*hcmv3.HttpConnectionManager)
		want    string
	}{
		"wrong port": {
			change: func(l *listenerv3.Listener) {
				l.Address.GetSocketAddress().PortSpecifier = &corev3.SocketAddress_PortValue{PortValue: 9999}
			},
			want: `none of its inbound listeners is on port 8080: there are ["10.0.0.1:9999"]`,
		},
		"two chains": {
			change: func(l *listenerv3.Listener) { l.DefaultFilterChain = l.FilterChains[0] },
			want:   "2 of its inbound filter chains are on port 8080: one was expected",
		},
		"a filter without configuration": {
			manager: func(m *hcmv3.HttpConnectionManager) { m.HttpFilters[0].ConfigType = nil },
			want:    `its filters cannot be replayed, because requests may get past them: listener "inbound": filter chain "#0": filter "rbac": it has no configuration`,
		},
		"a filter around others": {
			manager: func(m *hcmv3.HttpConnectionManager) {
				m.HttpFilters = slices.Insert(m.HttpFilters, 1, httpFilter("wrapping", unlinked("envoy.extensions.filters.http.composite.v3.Composite")))
			},
			want: "it runs other filters under conditions of its own",
		},
		"an unknown filter in front": {
			manager: func(m *hcmv3.HttpConnectionManager) {
				m.HttpFilters = slices.Insert(m.HttpFilters, 0, httpFilter("acme", unlinked("acme.Decider")))
			},
			want: `filter "acme": type.googleapis.com/acme.Decider: meshproof does not know what this filter does; it stands in front of RBAC`,
		},
		"an unknown filter behind": {
			manager: func(m *hcmv3.HttpConnectionManager) {
				m.HttpFilters = slices.Insert(m.HttpFilters, 1, httpFilter("acme", unlinked("acme.Decider")))
			},
			want: `filter "acme": type.googleapis.com/acme.Decider: meshproof does not know what this filter does; it stands behind RBAC`,
		},
		"an unknown filter of the listener": {
			change: func(l *listenerv3.Listener) {
				l.ListenerFilters = []*listenerv3.ListenerFilter{{Name: "acme", ConfigType: &listenerv3.ListenerFilter_TypedConfig{TypedConfig: unlinked("acme.Decider")}}}
			},
			want: `filter "acme": type.googleapis.com/acme.Decider: meshproof does not know what this filter does`,
		},
		"another address": {
			change: func(l *listenerv3.Listener) {
				l.AdditionalAddresses = []*listenerv3.AdditionalAddress{{Address: l.Address}}
			},
			want: "2 of its inbound filter chains are on port 8080: one was expected",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hcm := manager(t)
			if tt.manager != nil {
				tt.manager(hcm)
			}
			l := listener(8080, packed(t, hcm))
			if tt.change != nil {
				tt.change(l)
			}
			_, err := compile(t, t.Context(), &plane{listeners: []*listenerv3.Listener{l}})
			wantError(t, err, name != "wrong port", tt.want)
		})
	}
}

// TestWhatAListenerSays reads what version 2 of the protocol has words for: which tokens the listener
// takes, and how it normalizes paths. The suite holds both against the policies.
func TestWhatAListenerSays(t *testing.T) {
	t.Parallel()
	hcm := manager(t)
	hcm.NormalizePath, hcm.MergeSlashes, hcm.PathWithEscapedSlashesAction = nil, false, hcmv3.HttpConnectionManager_KEEP_UNCHANGED
	filter := &jwtauthnv3.JwtAuthentication{
		Providers: map[string]*jwtauthnv3.JwtProvider{"login": {
			Issuer: "https://login.example", PayloadInMetadata: "payload",
			JwksSourceSpecifier: &jwtauthnv3.JwtProvider_LocalJwks{LocalJwks: &corev3.DataSource{Specifier: &corev3.DataSource_InlineString{InlineString: `{"keys":[]}`}}},
		}},
		Rules: []*jwtauthnv3.RequirementRule{{
			Match: &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: "/"}},
			RequirementType: &jwtauthnv3.RequirementRule_Requires{Requires: &jwtauthnv3.JwtRequirement{
				RequiresType: &jwtauthnv3.JwtRequirement_ProviderName{ProviderName: "login"},
			}},
		}},
	}
	hcm.HttpFilters = slices.Insert(hcm.HttpFilters, 0, httpFilter("envoy.filters.http.jwt_authn", packed(t, filter)))
	filters, err := compile(t, t.Context(), &plane{listeners: []*listenerv3.Listener{listener(8080, packed(t, hcm))}})
	want := policy.PathNormalization{Raw: true, KeepSlashes: true, EscapedSlashes: policy.KeepEscapedSlashes}
	if err != nil || filters.Normalization == nil || *filters.Normalization != want || !proto.Equal(filters.Tokens, filter) {
		t.Errorf("error %v, paths %+v, tokens %v", err, filters.Normalization, filters.Tokens)
	}
	filters, err = compile(t, t.Context(), &plane{listeners: []*listenerv3.Listener{listener(8080, packed(t, manager(t)))}})
	if err != nil || *filters.Normalization != (policy.PathNormalization{}) || len(filters.Tokens.GetProviders()) > 0 || filters.Tokens == nil || filters.MTLS != mtls.Unset {
		t.Errorf("error %v, paths %+v, tokens %v, mtls %s", err, filters.Normalization, filters.Tokens, filters.MTLS)
	}
}

// TestQuestions holds that a node carries the question in both versions, and in the newer one alone
// where the older has no words.
func TestQuestions(t *testing.T) {
	t.Parallel()
	routed := backend
	routed.Routes = []policy.InboundRoute{{Name: "admins", When: policy.And{attribute.Header("x-role").Exact("admin")}}}
	for _, tt := range []struct {
		inbound policy.Inbound
		want    []string
	}{{backend, []string{"meshproof", "meshproof2"}}, {routed, []string{"meshproof2"}}} {
		p := &plane{asked: make(chan *corev3.Node, 1), listeners: []*listenerv3.Listener{listener(8080, packed(t, manager(t)))}}
		c := ads.Compiler{Target: p.serve(t), Transport: insecure.NewCredentials(), Timeout: 5 * time.Second}
		if _, err := c.Compile(t.Context(), tt.inbound, nil, language.Options{}); err != nil {
			t.Fatal(err)
		}
		if got := slices.Sorted(maps.Keys((<-p.asked).GetMetadata().GetFields())); !slices.Equal(got, tt.want) {
			t.Errorf("%d routes: %q, want %q", len(tt.inbound.Routes), got, tt.want)
		}
	}
}

// TestWaysPastAnInbound has listeners beside that of the inbound, which lead to its workload or may lead there.
func TestWaysPastAnInbound(t *testing.T) {
	t.Parallel()
	open := routedTo(t, "orders")
	open.HttpFilters = slices.Delete(open.HttpFilters, 0, 1)
	for name, tt := range map[string]struct {
		other  *anypb.Any
		change func(*listenerv3.Listener)
		want   string
	}{
		"another port": {packed(t, open), func(*listenerv3.Listener) {}, "it leads to orders, as the inbound on port 8080 does"},
		"an outbound listener for everybody": {packed(t, open), func(l *listenerv3.Listener) {
			l.TrafficDirection, l.Address.GetSocketAddress().Address = corev3.TrafficDirection_OUTBOUND, "0.0.0.0"
		}, "it listens on every IP address, and not only for connections that are redirected to it"},
		"a filter that may lead anywhere": {unlinked("acme.Manager"), func(*listenerv3.Listener) {}, "type.googleapis.com/acme.Manager: meshproof does not know what this filter does"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			other := listener(8081, tt.other)
			other.Name = "another"
			tt.change(other)
			_, err := compile(t, t.Context(), &plane{listeners: []*listenerv3.Listener{listener(8080, packed(t, routedTo(t, "orders"))), other}})
			wantError(t, err, true, tt.want)
		})
	}
}

// TestHarmless accepts what lets no request past RBAC: a filter behind it that sends no
// requests of its own, and a filter that only logs.
func TestHarmless(t *testing.T) {
	t.Parallel()
	for i, filter := range []*hcmv3.HttpFilter{
		httpFilter("log", packed(t, &httprbacv3.RBAC{Rules: &rbacconfigv3.RBAC{Action: rbacconfigv3.RBAC_LOG}})),
		httpFilter("cors", packed(t, &corsv3.Cors{})),
	} {
		hcm := manager(t)
		hcm.HttpFilters = slices.Insert(hcm.HttpFilters, i, filter)
		if _, err := compile(t, t.Context(), &plane{listeners: []*listenerv3.Listener{listener(8080, packed(t, hcm))}}); err != nil {
			t.Error(err)
		}
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	c := ads.Compiler{Target: (&plane{}).serve(t), Transport: insecure.NewCredentials(), Timeout: time.Second}
	_, err := c.Compile(t.Context(), backend, nil, language.Options{})
	wantBroken(t, err, "waiting for listeners: it sent no listeners within 1s")
}

// TestCancelled ends the context before the control plane answers.
func TestCancelled(t *testing.T) {
	t.Parallel()
	p := &plane{asked: make(chan *corev3.Node, 1)}
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	left := make(chan struct{})
	go func() {
		defer close(left)
		select {
		case <-p.asked:
		case <-t.Context().Done():
		}
		cancel(reason)
	}()
	_, err := compile(t, ctx, p)
	<-left
	wantBroken(t, err, "enough")
	if !errors.Is(err, reason) {
		t.Errorf("error %v does not wrap the reason", err)
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// plane is a control plane that sends the same listeners to each node, or sends nothing.
type plane struct {
	discoveryv3.UnimplementedAggregatedDiscoveryServiceServer
	listeners []*listenerv3.Listener
	// asked gets the nodes of the requests. Nodes that do not fit are dropped.
	asked chan *corev3.Node
}

// serve runs the control plane until the test ends, and returns its address.
func (p *plane) serve(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(server, p)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String()
}

// StreamAggregatedResources answers the first request. Later requests are acknowledgements.
func (p *plane) StreamAggregatedResources(stream discoveryv3.AggregatedDiscoveryService_StreamAggregatedResourcesServer) error {
	for {
		request, err := stream.Recv()
		if err != nil {
			return nil // the client has closed the stream
		}
		if request.ResponseNonce != "" {
			continue
		}
		select {
		case p.asked <- request.Node:
		default:
		}
		if p.listeners == nil {
			continue
		}
		answer := &discoveryv3.DiscoveryResponse{VersionInfo: "1", Nonce: "1", TypeUrl: request.TypeUrl}
		for _, l := range p.listeners {
			packed, err := anypb.New(l)
			if err != nil {
				return err
			}
			answer.Resources = append(answer.Resources, packed)
		}
		if err := stream.Send(answer); err != nil {
			return err
		}
	}
}

// unlinked returns a message without a known definition.
func unlinked(name string) *anypb.Any { return &anypb.Any{TypeUrl: "type.googleapis.com/" + name} }

func packed(t *testing.T, m proto.Message) *anypb.Any {
	t.Helper()
	out, err := anypb.New(m)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// manager returns an HTTP connection manager with one RBAC filter that allows everything.
func manager(t *testing.T) *hcmv3.HttpConnectionManager {
	t.Helper()
	rbac := &httprbacv3.RBAC{Rules: &rbacconfigv3.RBAC{Policies: map[string]*rbacconfigv3.Policy{"everybody": {
		Permissions: []*rbacconfigv3.Permission{{Rule: &rbacconfigv3.Permission_Any{Any: true}}},
		Principals:  []*rbacconfigv3.Principal{{Identifier: &rbacconfigv3.Principal_Any{Any: true}}},
	}}}}
	return &hcmv3.HttpConnectionManager{
		StatPrefix: "app", NormalizePath: wrapperspb.Bool(true), MergeSlashes: true,
		PathWithEscapedSlashesAction: hcmv3.HttpConnectionManager_REJECT_REQUEST,
		HttpFilters:                  []*hcmv3.HttpFilter{httpFilter("rbac", packed(t, rbac)), httpFilter("router", packed(t, &routerv3.Router{}))},
	}
}

// routedTo returns such a manager whose routes lead to a cluster.
func routedTo(t *testing.T, cluster string) *hcmv3.HttpConnectionManager {
	out := manager(t)
	out.RouteSpecifier = &hcmv3.HttpConnectionManager_RouteConfig{RouteConfig: &routev3.RouteConfiguration{VirtualHosts: []*routev3.VirtualHost{{
		Name: "app", Domains: []string{"*"}, Routes: []*routev3.Route{{
			Match:  &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: "/"}},
			Action: &routev3.Route_Route{Route: &routev3.RouteAction{ClusterSpecifier: &routev3.RouteAction_Cluster{Cluster: cluster}}},
		}},
	}}}}
	return out
}

func httpFilter(name string, config *anypb.Any) *hcmv3.HttpFilter {
	return &hcmv3.HttpFilter{Name: name, ConfigType: &hcmv3.HttpFilter_TypedConfig{TypedConfig: config}}
}

// listener returns an inbound listener with one chain.
func listener(port uint32, manager *anypb.Any) *listenerv3.Listener {
	return &listenerv3.Listener{
		Name: "inbound", TrafficDirection: corev3.TrafficDirection_INBOUND,
		Address: &corev3.Address{Address: &corev3.Address_SocketAddress{SocketAddress: &corev3.SocketAddress{
			Address: "10.0.0.1", PortSpecifier: &corev3.SocketAddress_PortValue{PortValue: port},
		}}},
		FilterChains: []*listenerv3.FilterChain{{Filters: []*listenerv3.Filter{{Name: "manager", ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: manager}}}}},
	}
}
