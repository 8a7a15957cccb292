package harness

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// adminTimeout is a thousand times what the admin endpoint needs, because a machine under load
// may be slow.
const adminTimeout = 5 * time.Second

// mostSilences is how many pushes or batches in a row may stay without an answer.
const mostSilences = 2

var errHangs = errors.New("it hung: it answered neither its pushes and requests nor its admin endpoint, and was killed: look at the load of the machine, and for what stopped the process")

// heard notes that Envoy answered a push or a batch.
func (h *Harness) heard() { h.silences.Store(0) }

// noteSilence notes that a push or a batch got no answer in time. An Envoy that stays silent and
// has no answer at its admin endpoint either hangs: it is killed, and everything that waits for
// it ends. The error is nil where Envoy is alive.
func (h *Harness) noteSilence(ctx context.Context) error {
	if h.silences.Add(1) < mostSilences || ctx.Err() != nil || h.envoy.Answers(ctx, h.options.adminTimeout) {
		return nil
	}
	h.envoy.Kill(errHangs)
	<-h.envoy.Done()
	return h.envoy.Err()
}

// whyNotConnected says what keeps Envoy from opening its ADS stream.
func (h *Harness) whyNotConnected(ctx context.Context) error {
	// The time of the start is over.
	ctx = context.WithoutCancel(ctx)
	if err := h.control.HandshakeError(); err != nil {
		return fmt.Errorf("it connects, but TLS fails (%w): do the clocks of Envoy and of this process agree?", err)
	}
	if !h.envoy.Answers(ctx, h.options.adminTimeout) {
		return errors.New("its admin endpoint does not answer either, so it hangs: look at its log, which WithLog gets, and for what stopped the process")
	}
	return errors.New("its admin endpoint answers: is a firewall between Envoy and this process?")
}
