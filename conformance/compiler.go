package conformance

import (
	"context"
	"errors"

	"github.com/meshproof/meshproof/internal/ads"
	"github.com/meshproof/meshproof/internal/matrix"
	"github.com/meshproof/meshproof/internal/plugin"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

// Compiler turns the policies of one inbound into the filters that enforce them. It gets all policies of the case, and
// selects those that apply. Its methods are called from several goroutines.
//
// The name of an RBAC policy in the filters says which policy decided. The suite compares it with the name that the
// specification gives, unless [Suite].AnyNames is set.
//
// An error says that the policies are refused, in words of the compiler's own; a case may expect that. An error with a method
// Broken() bool that returns true says that the compiler is out of order: then the case fails.
type Compiler interface {
	Compile(ctx context.Context, in policy.Inbound, policies []manifest.Document, opts language.Options) (xds.Filters, error)
}

// compiler returns what is under test, and a function that ends it.
func (s Suite) compiler(ctx context.Context) (c suite.Compiler, end func() error, err error) {
	set := 0
	for _, is := range []bool{s.Compiler != nil, s.Command != nil, s.ControlPlane != nil} {
		if is {
			set++
		}
	}
	nothing := func() error { return nil }
	switch {
	case set > 1:
		return nil, nil, errors.New("conformance: the suite sets more than one of Compiler, Command and ControlPlane: set one of them")
	case s.ControlPlane != nil:
		plane := ads.Compiler{Target: s.ControlPlane.Target, Transport: s.ControlPlane.Transport, Timeout: s.Timeout}
		return suite.CompilerFunc(plane.Compile), nothing, nil
	case s.Command != nil:
		started, err := plugin.Start(ctx, s.Command, plugin.Options{Meshproof: matrix.Version(), Timeout: s.Timeout})
		if err != nil {
			return nil, nil, err
		}
		return suite.CompilerFunc(started.Compile), started.Close, nil
	case s.Compiler != nil:
		return suite.CompilerFunc(s.Compiler.Compile), nothing, nil
	default:
		return nil, nothing, nil
	}
}
