package grpcplane

import (
	"errors"
	"fmt"

	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// ErrUnsupported is wrapped by the error of [Rules] for a program that grpc-go cannot
// run.
var ErrUnsupported = errors.New("grpc-go cannot run it")

// Rules returns the rules that package xds compiles the program to; nil for one without
// a gate, which lets everybody pass. Its error wraps [ErrUnsupported], or is that of
// [xds.Compile].
func Rules(p policy.Program) (*rbacv3.RBAC, error) {
	switch {
	case len(p.Routes) > 0:
		return nil, fmt.Errorf("grpcplane: the program has routes: %w", ErrUnsupported)
	case len(p.Gates) > 1:
		return nil, fmt.Errorf("grpcplane: the program has %d gates: %w", len(p.Gates), ErrUnsupported)
	case len(p.Gates) == 0:
		return nil, nil
	case p.Gates[0].Form != policy.Named:
		return nil, fmt.Errorf("grpcplane: the rules of the program are ordered: %w", ErrUnsupported)
	}
	f, err := xds.Compile(policy.Program{Gates: p.Gates})
	if err != nil {
		return nil, err
	}
	if len(f.Network) > 0 {
		return f.Network[0].GetRules(), nil
	}
	return f.HTTP[0].GetRules(), nil
}
