//go:build !linux

package plugin

import "syscall"

// procAttr gives the compiler its own process group, so that the whole group can be
// ended.
func procAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// exits returns a channel that is never closed. Here only Wait can tell whether a process
// has exited.
func exits(int) <-chan struct{} { return nil }
