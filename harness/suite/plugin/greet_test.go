package plugin_test

import (
	"testing"

	"github.com/meshproof/meshproof/harness/suite/plugin"
)

// A compiler that greets before it is greeted is as good as any, however quick it is.
func TestStartTakesAHastyGreeting(t *testing.T) {
	t.Parallel()
	for range 30 {
		c, err := plugin.Start(t.Context(), plugin.Shell(`echo '{"protocol": 1, "name": "hasty"}'; while read -r line; do :; done`), plugin.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if c.Name() != "hasty" {
			t.Errorf("it calls itself %q", c.Name())
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
