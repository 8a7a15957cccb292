package plugin

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// procAttr gives the compiler a process group of its own, which can be ended as a
// whole, and lets the kernel kill it together with the thread that started it, which
// therefore has to be locked as long as the compiler runs.
func procAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// exits returns a channel that is closed when the process has exited. Its status is
// left to be waited for, so that its process ID stays its own until then.
func exits(pid int) <-chan struct{} {
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
		}
	}()
	return exited
}
