package harness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/envoy"
)

// A result never has the version of another Envoy.
func TestStartRefusesAnEnvoyOfAnotherVersion(t *testing.T) {
	bin, err := envoy.Fetch(t.Context(), DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	liar, pid := filepath.Join(dir, "envoy"), filepath.Join(dir, "pid")
	script := fmt.Sprintf("#!/bin/sh\n[ \"$1\" = --version ] || { echo $$ >%q; exec %q \"$@\"; }\necho 'envoy  version: 0/1.36.4/Clean/RELEASE/BoringSSL'\n", pid, bin)
	if err := os.WriteFile(liar, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ENVOY_BIN", liar)
	h, err := Start(t.Context(), WithRuntime(Process), WithEnvoy("1.36.4"))
	if !errors.Is(err, ErrUnknownVersion) || h != nil || !strings.Contains(err.Error(), "it is Envoy "+DefaultVersion+", not 1.36.4") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, %v; want one line that wraps %q", h, err, ErrUnknownVersion)
	}
	id, err := os.ReadFile(pid)
	if err != nil {
		t.Fatalf("it never ran: %v", err)
	}
	if _, err := os.Stat(filepath.Join("/proc", strings.TrimSpace(string(id)))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Envoy is left: process %s, %v", id, err)
	}
}
