package ads_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	rbacconfigv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/meshproof/meshproof/internal/ads"
	"github.com/meshproof/meshproof/policy"
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
	broken := (*ads.Error)(nil)
	switch {
	case !errors.As(err, &broken) || !broken.Broken() || broken.Inbound != "backend/8080":
		t.Errorf("error %v, want an *ads.Error", err)
	case !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n"):
		t.Errorf("error %q, want %q on one line", err, want)
	}
}

// TestCompile gets the filters of the listener on the inbound's port. The node carries the
// question.
func TestCompile(t *testing.T) {
	t.Parallel()
	p := &plane{asked: make(chan *corev3.Node, 1), listeners: []*listenerv3.Listener{listener(8080, packed(t, manager(t))), listener(8081, unlinked("acme.Manager"))}}
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

// TestUnfaithful has listeners whose filters would decide differently in the lab.
func TestUnfaithful(t *testing.T) {
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
			want:    `its filters cannot be replayed: listener "inbound": filter chain "#0": filter "rbac": it has no configuration`,
		},
		"a filter around others": {
			manager: func(m *hcmv3.HttpConnectionManager) {
				m.HttpFilters = slices.Insert(m.HttpFilters, 1, httpFilter("wrapping", unlinked("envoy.extensions.filters.http.composite.v3.Composite")))
			},
			want: "it runs other filters under conditions of its own",
		},
		"rules that only log": {
			manager: func(m *hcmv3.HttpConnectionManager) {
				m.HttpFilters[0] = httpFilter("rbac", packed(t, &httprbacv3.RBAC{Rules: &rbacconfigv3.RBAC{Action: rbacconfigv3.RBAC_LOG}}))
			},
			want: `filter "rbac": rules: action LOG refuses nobody`,
		},
		"an unknown filter in front": {
			manager: func(m *hcmv3.HttpConnectionManager) {
				m.HttpFilters = slices.Insert(m.HttpFilters, 0, httpFilter("acme", unlinked("acme.Decider")))
			},
			want: `filter "acme": type.googleapis.com/acme.Decider: meshproof does not know what this filter does; it stands in front of RBAC`,
		},
		"an unknown filter of the listener": {
			change: func(l *listenerv3.Listener) {
				l.ListenerFilters = []*listenerv3.ListenerFilter{{Name: "acme", ConfigType: &listenerv3.ListenerFilter_TypedConfig{TypedConfig: unlinked("acme.Decider")}}}
			},
			want: `filter "acme": type.googleapis.com/acme.Decider: meshproof does not know what this filter does`,
		},
		"raw paths": {
			manager: func(m *hcmv3.HttpConnectionManager) { m.NormalizePath = nil },
			want:    "normalize_path is false, merge_slashes is true, and it must reject escaped slashes; want true, true and reject",
		},
		"repeated slashes": {
			manager: func(m *hcmv3.HttpConnectionManager) { m.MergeSlashes = false },
			want:    "normalize_path is true, merge_slashes is false",
		},
		"escaped slashes": {
			manager: func(m *hcmv3.HttpConnectionManager) {
				m.PathWithEscapedSlashesAction = hcmv3.HttpConnectionManager_KEEP_UNCHANGED
			},
			want: "it must keep escaped slashes",
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
			wantBroken(t, err, tt.want)
		})
	}
}

// TestUnknownAfterRBAC accepts an unknown filter after RBAC: it sees only allowed requests.
func TestUnknownAfterRBAC(t *testing.T) {
	t.Parallel()
	hcm := manager(t)
	hcm.HttpFilters = slices.Insert(hcm.HttpFilters, 1, httpFilter("acme", unlinked("acme.Decider")))
	if _, err := compile(t, t.Context(), &plane{listeners: []*listenerv3.Listener{listener(8080, packed(t, hcm))}}); err != nil {
		t.Error(err)
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	c := ads.Compiler{Target: (&plane{}).serve(t), Transport: insecure.NewCredentials(), Timeout: 50 * time.Millisecond}
	_, err := c.Compile(t.Context(), backend, nil, language.Options{})
	wantBroken(t, err, "waiting for listeners: it sent no listeners within 50ms")
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
