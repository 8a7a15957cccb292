package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
)

// leftBehind lists the run directories in a temporary directory and, where there
// is a /proc, the processes that were given that directory.
func leftBehind(tmp string) []string {
	left, err := filepath.Glob(filepath.Join(tmp, "meshproof-envoy-*"))
	if err != nil {
		panic(err)
	}
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		panic(err)
	}
	for _, file := range environments {
		// A process that has ended meanwhile cannot be read.
		environment, err := os.ReadFile(file)
		if err == nil && slices.ContainsFunc(bytes.Split(environment, []byte{0}), func(v []byte) bool { return string(v) == "TMPDIR="+tmp }) {
			name, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "comm"))
			left = append(left, filepath.Dir(file)+" "+string(bytes.TrimSpace(name)))
		}
	}
	return left
}
