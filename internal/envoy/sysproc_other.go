//go:build !linux

package envoy

import "syscall"

// envoyProcAttr keeps a terminal's signals from Envoy.
func envoyProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
