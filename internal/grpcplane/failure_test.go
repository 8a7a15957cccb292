package grpcplane_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/internal/grpcplane"
)

// TestRefusedListener has rules that grpc-go refuses. The error says why.
func TestRefusedListener(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	_, err := grpcplane.Start(ctx, domains, []*rbacv3.RBAC{{Policies: map[string]*rbacv3.Policy{
		"empty": {Principals: []*rbacv3.Principal{{}}, Permissions: []*rbacv3.Permission{{}}},
	}}})
	if err == nil || !strings.Contains(err.Error(), "the server does not serve: ") || !strings.Contains(err.Error(), "rbac: ") {
		t.Errorf("got %v", err)
	}
}

func TestCancelledStart(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	if _, err := grpcplane.Start(ctx, domains, nil); !errors.Is(err, enough) && !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestAskFails(t *testing.T) {
	t.Parallel()
	plane := start(t, domains, []*rbacv3.RBAC{nil})
	stranger := spiffeid.RequireFromString("spiffe://stranger.mesh/a")
	ca, err := plane.Authority(stranger.TrustDomain())
	if err != nil {
		t.Fatal(err)
	}
	credential, err := ca.Mint(stranger)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plane.Ask(t.Context(), 0, credential); !errors.Is(err, grpcplane.ErrNoConnection) {
		t.Errorf("a caller of an untrusted domain: %v", err)
	}
	trusted := credentials{plane, map[string]*certs.Credential{}}.credential(t, []string{firstCaller}, nil)
	if got, err := plane.Ask(t.Context(), 0, trusted); err != nil || got.String() != "allow" {
		t.Errorf("without rules: %s, %v", got, err)
	}
	for _, program := range []int{-1, 1} {
		if _, err := plane.Ask(t.Context(), program, trusted); err == nil || !strings.HasSuffix(err.Error(), "there are 1") {
			t.Errorf("program %d: %v", program, err)
		}
	}
}
