package suite

import (
	"context"
	"slices"

	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

// Compiler is what is under test: it turns the policies of a case into the filters that
// enforce them, an entry for each inbound in order. It gets all policies and has to select
// the policies that apply to an inbound.
//
// The name of each RBAC policy in the filters says which policy decided, and is
// compared with meshproof's own, unless [Runner.AnyNames] is set.
//
// An error says that the policies are refused, in words of the compiler's own; a case
// may expect that. An error with a method Broken() bool that returns true says that the
// compiler is out of order, and refuses nothing. An error with a method Unread() bool that
// returns true says that its filters cannot be read, and refuses nothing either.
type Compiler interface {
	Compile(ctx context.Context, in Input) ([]xds.Filters, error)
}

// Input is what a compiler is asked: the filters of all inbounds of one case.
type Input struct {
	Inbounds []policy.Inbound
	Policies []manifest.Document
	Options  language.Options
	// Parsed has the policies as the oracle has read them; nil where the oracle refuses
	// them. It is for [Reference] alone: another compiler reads the policies by itself,
	// or it repeats a mistake of the oracle.
	Parsed language.Policies
}

// CompilerFunc is a [Compiler] that is asked about one inbound at a time. The first error
// ends the questions.
type CompilerFunc func(ctx context.Context, in policy.Inbound, policies []manifest.Document, opts language.Options) (xds.Filters, error)

// Compile calls the function for each inbound.
func (f CompilerFunc) Compile(ctx context.Context, in Input) ([]xds.Filters, error) {
	return in.compileEach(func(inbound policy.Inbound) (xds.Filters, error) { return f(ctx, inbound, in.Policies, in.Options) })
}

func (in Input) compileEach(compile func(policy.Inbound) (xds.Filters, error)) ([]xds.Filters, error) {
	out := make([]xds.Filters, len(in.Inbounds))
	for i, inbound := range in.Inbounds {
		var err error
		if out[i], err = compile(inbound); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// CompileOne asks a compiler about one inbound.
func CompileOne(ctx context.Context, c Compiler, in policy.Inbound, policies []manifest.Document, opts language.Options) (xds.Filters, error) {
	filters, err := c.Compile(ctx, Input{Inbounds: []policy.Inbound{in}, Policies: policies, Options: opts})
	if err != nil {
		return xds.Filters{}, err
	}
	return filters[0], nil
}

// Reference is meshproof's own compiler.
var Reference Compiler = reference{}

// reference is a type, so that a compiler can be compared with it.
type reference struct{}

// Compile implements [Compiler]. It parses the policies only where the oracle has not.
func (reference) Compile(_ context.Context, in Input) ([]xds.Filters, error) {
	set := in.Parsed
	if set == nil {
		var err error
		if set, err = dialect.Parse(in.Policies, in.Options); err != nil {
			return nil, err
		}
	}
	return in.compileEach(func(inbound policy.Inbound) (xds.Filters, error) {
		if err := set.Check(inbound); err != nil {
			return xds.Filters{}, err
		}
		return xds.Compile(set.Program(inbound).Program)
	})
}

// AllowEverything and DenyEverything are negative controls: a suite that passes
// with either of them proves nothing.
var (
	AllowEverything = constant(policy.Allow)
	DenyEverything  = constant(policy.Deny)
)

func constant(effect policy.Effect) Compiler {
	return CompilerFunc(func(_ context.Context, in policy.Inbound, _ []manifest.Document, _ language.Options) (xds.Filters, error) {
		return xds.Compile(policy.Program{Gates: []policy.Gate{{
			Layer:   in.Protocol.Layer(),
			Default: policy.Verdict{Effect: effect, Origin: "default"},
		}}})
	})
}

// Fixed returns a compiler that gives the same filters to every inbound, for all policies.
func Fixed(filters xds.Filters) Compiler {
	return CompilerFunc(func(context.Context, policy.Inbound, []manifest.Document, language.Options) (xds.Filters, error) {
		return filters, nil
	})
}

// Fault is a mistake in what brings policies to Envoy, beside the filters. A suite that
// passes with one proves nothing about it.
type Fault struct {
	// StaleTrust signs every caller's certificate with a CA that came after the bundles
	// that Envoy has: Envoy missed a rotation.
	StaleTrust bool
	// RawPaths leaves out the normalization of paths.
	RawPaths bool
	// Paths is the normalization of paths in place of the right one; nil for the right one.
	Paths *policy.PathNormalization
	// MTLS is the mode of every inbound in place of the right one; the zero value for the right one.
	MTLS mtls.Mode
	// AnyAudience leaves the audiences of tokens out of the filter that reads them.
	AnyAudience bool
}

// Tokens returns what the filter demands of tokens.
func (f Fault) Tokens(d token.Demand) token.Demand {
	if !f.AnyAudience {
		return d
	}
	d.Issuers = slices.Clone(d.Issuers)
	for i := range d.Issuers {
		d.Issuers[i].Audiences = nil
	}
	return d
}

func (f Fault) normalization(n policy.PathNormalization) policy.PathNormalization {
	switch {
	case f.RawPaths:
		return policy.PathNormalization{Raw: true, KeepSlashes: true, EscapedSlashes: policy.KeepEscapedSlashes}
	case f.Paths != nil:
		return *f.Paths
	default:
		return n
	}
}
