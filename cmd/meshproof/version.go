package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/meshproof/meshproof/harness"
)

// version is what --version prints. The Go command records it with the build.
func version(info *debug.BuildInfo, ok bool) string {
	built := "(unknown build)"
	if ok && info.Main.Version != "" {
		built = info.Main.Version
	}
	return fmt.Sprintf("%s, %s %s/%s, Envoy %s unless told otherwise", built, runtime.Version(), runtime.GOOS, runtime.GOARCH, harness.DefaultVersion)
}
