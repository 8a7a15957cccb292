package suite

import (
	"context"
	"errors"

	"github.com/meshproof/meshproof/policy"
)

// anyInbound is the inbound that a compiler is asked about where a case has none.
var anyInbound = policy.Inbound{Port: 8080, Workload: policy.Workload{Name: "backend", Namespace: "default", Mesh: "default"}}

var errAccepted = errors.New("the compiler accepts policies that must be refused")

// mustRefuse asks the compiler under test about policies that meshproof itself refuses, with
// an error whose text the case may expect. The compiler has to refuse them too, in its own
// words.
func (r *run) mustRefuse(ctx context.Context, own error) error {
	c := r.result.Case
	if c.ExpectError == "" {
		return own
	}
	if err := contains(own.Error(), c.ExpectError); err != nil {
		return err
	}
	inbounds := policyInbounds(c)
	if len(inbounds) == 0 {
		inbounds = []policy.Inbound{anyInbound}
	}
	_, err := r.compiler.Compile(ctx, Input{Inbounds: inbounds, Policies: c.Policies, Options: c.Options})
	switch {
	case err == nil:
		return errAccepted
	case r.isFault(ctx, err):
		return err
	default:
		return nil
	}
}

// refused compares an error of the compiler under test, or of Envoy, with the error that the
// case expects.
func (r *run) refused(ctx context.Context, err error) error {
	if fault := r.isFault(ctx, err); fault || r.result.Case.ExpectError == "" {
		return err
	}
	return contains(err.Error(), r.result.Case.ExpectError)
}

// isFault reports whether an error says that the compiler is out of order, or was cut off.
// Such a compiler has refused nothing.
func (r *run) isFault(ctx context.Context, err error) bool {
	broken := interface{ Broken() bool }(nil)
	r.result.Fault = r.result.Fault || errors.As(err, &broken) && broken.Broken() || ctx.Err() != nil && errors.Is(err, context.Cause(ctx))
	return r.result.Fault
}
