package envoy

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/meshproof/meshproof/internal/pin"
)

// checkVersions runs what claims to be 1.36.4, but is the default version.
func checkVersions(t *testing.T, r Runtime, asked map[string]bool) {
	t.Helper()
	for version, fits := range asked {
		e := start(t, Options{Runtime: r, Version: version}, adminOnly)
		if err := ready(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		got, err := e.Version(t.Context())
		switch {
		case fits && (err != nil || got != pin.DefaultVersion):
			t.Errorf("where %q is asked for: %q, %v; want %s", version, got, err, pin.DefaultVersion)
		case !fits && !errors.Is(err, pin.ErrUnknownVersion):
			t.Errorf("where %q is asked for: %q, %v; want %q", version, got, err, pin.ErrUnknownVersion)
		case !fits:
			checkOneLine(t, err, "check the version of "+e.plan.runner.source(), "it is Envoy "+pin.DefaultVersion+", not 1.36.4", e.plan.runner.variable())
		}
	}
}

func TestATagIsNoVersion(t *testing.T) {
	image, c := anImage(t)
	t.Setenv("ENVOY_BIN", "")
	for _, name := range []string{"meshproof/test-envoy:1.36.4", "meshproof/test-envoy:latest"} {
		tag(t, c, image, name)
		t.Setenv("ENVOY_IMAGE", name)
		checkVersions(t, Auto, map[string]bool{"": true, "v" + pin.DefaultVersion: true, "1.36.4": false})
	}
}

func TestABinaryMayLie(t *testing.T) {
	bin, err := Fetch(t.Context(), pin.DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	liar := filepath.Join(t.TempDir(), "envoy")
	script := fmt.Sprintf("#!/bin/sh\n[ \"$1\" = --version ] || exec %q \"$@\"\necho 'envoy  version: 0/1.36.4/Clean/RELEASE/BoringSSL'\n", bin)
	if err := os.WriteFile(liar, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ENVOY_BIN", liar)
	checkVersions(t, Process, map[string]bool{"": false, "1.36.4": false})
}
