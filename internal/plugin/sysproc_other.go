//go:build !linux

package plugin

import "syscall"

// procAttr gives the compiler a process group of its own, which can be ended as a
// whole.
func procAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// exits returns a channel that is never closed: there is no telling whether a
// process has exited before its status is waited for.
func exits(int) <-chan struct{} { return nil }
