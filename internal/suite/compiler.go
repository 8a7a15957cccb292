package suite

import (
	"context"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

// Compiler is what is under test: it turns the policies of one inbound into the
// filters that enforce them. It gets all policies there are and has to select
// those that apply.
//
// The name of each RBAC policy in the filters says which policy decided, and is
// compared with meshproof's own, unless [Runner.AnyNames] is set.
//
// An error says that the policies are refused, in words of the compiler's own; a case
// may expect that. One with a method Broken() bool that returns true says that the
// compiler is out of order, and refuses nothing.
type Compiler interface {
	Compile(ctx context.Context, in policy.Inbound, policies []manifest.Document, opts dialect.Options) (xds.Filters, error)
}

// CompilerFunc is a function that is a [Compiler].
type CompilerFunc func(ctx context.Context, in policy.Inbound, policies []manifest.Document, opts dialect.Options) (xds.Filters, error)

// Compile calls the function.
func (f CompilerFunc) Compile(ctx context.Context, in policy.Inbound, policies []manifest.Document, opts dialect.Options) (xds.Filters, error) {
	return f(ctx, in, policies, opts)
}

// Reference is meshproof's own compiler.
var Reference Compiler = reference{}

// reference is a type, so that a compiler can be compared with it.
type reference struct{}

// Compile implements [Compiler].
func (reference) Compile(_ context.Context, in policy.Inbound, policies []manifest.Document, opts dialect.Options) (xds.Filters, error) {
	set, err := dialect.Parse(policies, opts)
	if err == nil {
		err = set.Check(in)
	}
	if err != nil {
		return xds.Filters{}, err
	}
	return xds.Compile(set.Program(in).Program)
}

// AllowEverything and DenyEverything are negative controls: a suite that passes
// with either of them proves nothing.
var (
	AllowEverything = constant(policy.Allow)
	DenyEverything  = constant(policy.Deny)
)

func constant(effect policy.Effect) Compiler {
	return CompilerFunc(func(_ context.Context, in policy.Inbound, _ []manifest.Document, _ dialect.Options) (xds.Filters, error) {
		return xds.Compile(policy.Program{Gates: []policy.Gate{{
			Layer:   in.Protocol.Layer(),
			Default: policy.Verdict{Effect: effect, Origin: "default"},
		}}})
	})
}
