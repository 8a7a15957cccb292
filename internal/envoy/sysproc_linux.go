package envoy

import "syscall"

// envoyProcAttr keeps a terminal's signals from Envoy, and lets the kernel kill it together with the thread that
// started it, which therefore has to be locked as long as Envoy runs. This leaves no moment in which Envoy is unattended.
func envoyProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
