package progress_test

import (
	"context"
	"testing"

	"github.com/meshproof/meshproof/internal/progress"
)

func TestCounter(t *testing.T) {
	t.Parallel()
	var c progress.Counter
	ctx := progress.WithCounter(t.Context(), &c)
	check := func(asked, due int64) {
		t.Helper()
		if a, d := c.Asked(); a != asked || d != due {
			t.Errorf("%d of %d, want %d of %d", a, d, asked, due)
		}
	}
	check(0, 0)
	progress.Expect(ctx, 2)
	progress.Ask(ctx)
	check(1, 2)
	progress.Ask(context.WithoutCancel(ctx))
	check(2, 2)
	// More were asked than were known to be due.
	progress.Ask(ctx)
	check(3, 0)
	if c.Doing() != "" {
		t.Errorf("it does %q", c.Doing())
	}
	progress.Do(ctx, "fetching")
	if c.Doing() != "fetching" {
		t.Errorf("it does %q", c.Doing())
	}
	// Without a counter nothing happens.
	progress.Do(t.Context(), "nothing")
	progress.Expect(t.Context(), 1)
	progress.Ask(t.Context())
	check(3, 0)
}
