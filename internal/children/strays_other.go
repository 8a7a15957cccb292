//go:build !linux

package children

// Adopt does nothing: this system gives orphans to its first process.
func Adopt() error { return nil }

// EndStrays does nothing.
func EndStrays() {}
