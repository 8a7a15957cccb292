package main

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/credentials/insecure"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/conformance"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/ads"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
)

// start serves on a free port until the test ends.
func start(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String()
}

// TestStories runs the nine user stories against the control plane. meshproof knows only its
// address.
func TestStories(t *testing.T) {
	t.Parallel()
	all, err := cases.Stories()
	if err != nil {
		t.Fatal(err)
	}
	stories := slices.DeleteFunc(all, func(c cases.Case) bool {
		return !strings.HasPrefix(c.Story, "mesh-operator-") && !strings.HasPrefix(c.Story, "service-owner-")
	})
	results, err := conformance.Suite{
		Cases: stories, Runtime: harness.Process,
		ControlPlane: &conformance.ControlPlane{Target: start(t), Transport: insecure.NewCredentials()},
	}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if result := results[0]; result.Passed != len(stories) || len(stories) < 20 {
		for _, c := range result.Cases {
			if !c.Passed {
				t.Errorf("%s: %q", c.Name, c.Problems)
			}
		}
		t.Errorf("%d cases, %d passed", len(stories), result.Passed)
	}
}

// TestBrokenControlPlane has a control plane that does not answer, and an address without
// one. Both are broken and have refused nothing.
func TestBrokenControlPlane(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	in := policy.Inbound{Workload: policy.Workload{Name: "backend"}, Port: 80}
	for name, tt := range map[string]struct{ target, want string }{
		"silent": {silent.Addr().String(), "it sent no listeners within"},
		"closed": {closed.Addr().String(), closed.Addr().String()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compiler := ads.Compiler{Target: tt.target, Transport: insecure.NewCredentials(), Timeout: 300 * time.Millisecond}
			_, err := compiler.Compile(t.Context(), in, nil, language.Options{})
			broken := (*ads.Error)(nil)
			if !errors.As(err, &broken) || !broken.Broken() || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "asked for backend/80") {
				t.Errorf("error %v", err)
			}
		})
	}
}
