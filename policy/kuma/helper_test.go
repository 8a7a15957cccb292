package kuma_test

import (
	"testing"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/manifest"
)

func parseAll(t testing.TB, yaml string) []permission.Policy {
	t.Helper()
	docs, err := manifest.Parse("policies.yaml", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	ps, err := permission.ParseAll(docs)
	if err != nil {
		t.Fatal(err)
	}
	return ps
}

func backend() policy.Workload {
	return policy.Workload{Name: "backend", Namespace: "default", Labels: map[string]string{"app": "backend"}}
}

func inbounds() []policy.Inbound {
	frontend := policy.Workload{Name: "frontend", Namespace: "default", Labels: map[string]string{"app": "frontend"}}
	return []policy.Inbound{
		{Workload: backend(), Name: "http-port", Port: 8080, Protocol: policy.HTTP},
		{Workload: backend(), Name: "admin-port", Port: 9090, Protocol: policy.GRPC},
		{Workload: backend(), Port: 5432, Protocol: policy.TCP},
		{Workload: frontend, Port: 80, Protocol: policy.HTTP2},
	}
}
