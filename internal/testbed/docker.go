package testbed

import (
	"os"
	"testing"
)

// NeedDocker skips a test whose Docker is missing, which is what the error says. The test fails
// where MESHPROOF_REQUIRE_DOCKER promises a Docker.
func NeedDocker(t testing.TB, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if os.Getenv("MESHPROOF_REQUIRE_DOCKER") != "" {
		t.Fatalf("MESHPROOF_REQUIRE_DOCKER is set, but: %v", err)
	}
	t.Skip(err)
}
