package routing_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/routing"
)

// Each cause reads its own word back, and an unknown word names the known ones.
func TestCause(t *testing.T) {
	t.Parallel()
	all := []routing.Cause{routing.Answered, routing.Denied, routing.NoRoute, routing.NoBackend, routing.NoEndpoint, routing.Refused, routing.Broken, routing.LeftByCaller, routing.Sentinel}
	for bound := range routing.Bounds {
		c := routing.Bounded(bound)
		if of, ok := c.Bound(); !ok || of != bound || c.String() != bound.String() {
			t.Errorf("%s is the cause %s", bound, c)
		}
		all = append(all, c)
	}
	for _, want := range all {
		var got routing.Cause
		text, _ := want.MarshalText()
		if err := got.UnmarshalText(text); err != nil || got != want {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	if err := new(routing.Cause).UnmarshalText([]byte("boredom")); err == nil || !strings.Contains(err.Error(), "requestTimeout") {
		t.Error(err)
	}
}
