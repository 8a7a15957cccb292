package controlplane

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// TestAwaitCanary has canaries that answer with an earlier version, or not at all, before they
// answer with the version: nothing before counts as live.
func TestAwaitCanary(t *testing.T) {
	t.Parallel()
	reads := 0
	answers := []string{"", "version 1", "version 1", "version 12", "version 2"}
	err := awaitCanary(t.Context(), "10.0.0.1:80", "version 2", func(_ context.Context, dial string) (string, error) {
		if reads++; dial != "10.0.0.1:80" {
			t.Errorf("it reads %s", dial)
		}
		if answers[reads-1] == "" {
			return "", errors.New("refused")
		}
		return answers[reads-1], nil
	})
	if err != nil || reads != len(answers) {
		t.Errorf("%d of %d answers were read: %v", reads, len(answers), err)
	}
}

// TestCanaryThatStaysBehind has canaries that never answer with the version: the push fails, and
// says what answers.
func TestCanaryThatStaysBehind(t *testing.T) {
	t.Parallel()
	ended := errors.New("the run ends")
	refused := errors.New("connection refused")
	for name, tt := range map[string]struct {
		answer string
		err    error
		want   string
	}{
		"an earlier version":     {"version 1", nil, `the canary still answers "version 1"`},
		"no listener":            {"", refused, refused.Error()},
		"no answer":              {"", nil, `the canary still answers ""`},
		"a version and an error": {"version 2", refused, refused.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, end := context.WithCancelCause(t.Context())
			reads := 0
			err := awaitCanary(ctx, "10.0.0.1:80", "version 2", func(context.Context, string) (string, error) {
				if reads++; reads == 3 {
					end(ended)
				}
				return tt.answer, tt.err
			})
			if !errors.Is(err, ended) || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), `10.0.0.1:80 does not serve version "version 2"`) || reads < 3 {
				t.Errorf("%d reads: %v, want %s", reads, err, tt.want)
			}
		})
	}
}
