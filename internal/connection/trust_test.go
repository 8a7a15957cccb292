package connection_test

import (
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spiffe/go-spiffe/v2/bundle/x509bundle"
	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/internal/connection"
	"github.com/meshproof/meshproof/policy"
)

// askedBundles counts how often a certificate is verified by them.
type askedBundles struct {
	x509bundle.Source
	times atomic.Int32
}

func (b *askedBundles) GetX509BundleForTrustDomain(td spiffeid.TrustDomain) (*x509bundle.Bundle, error) {
	b.times.Add(1)
	return b.Source.GetX509BundleForTrustDomain(td)
}

// A certificate is verified once for each identity that is demanded. A refusal is no memory, and no
// certificate counts for another one.
func TestTrustRemembers(t *testing.T) {
	t.Parallel()
	echo := func(c net.Conn) { _, _ = io.Copy(c, c) }
	in, other := serve(t, policy.TCP, echo), serve(t, policy.TCP, echo)
	asked := &askedBundles{Source: in.call.Bundles}
	in.call.Bundles = &connection.Trust{Source: asked}
	forged := in.call
	forged.Dial = other.call.Dial
	wrong := in.call
	wrong.Server = frontend
	for i, tt := range []struct {
		call  caller.Call
		want  caller.Outcome
		times int32
	}{
		{wrong, caller.Fault, 1},
		{in.call, caller.Answered, 2},
		{in.call, caller.Answered, 2},
		{wrong, caller.Fault, 3},
		{wrong, caller.Fault, 4},
		{forged, caller.Fault, 5},
		{forged, caller.Fault, 6},
		{in.call, caller.Answered, 6},
	} {
		conn := connection.Open(t.Context(), tt.call, 10*time.Second)
		if got := conn.Send(tt.call); got.Outcome != tt.want && !(tt.want == caller.Fault && got.Outcome != caller.Answered) || asked.times.Load() != tt.times {
			t.Errorf("call %d: %s after %d verifications, want %d", i, got, asked.times.Load(), tt.times)
		}
		conn.Close()
	}
}
