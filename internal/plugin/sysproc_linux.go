package plugin

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// procAttr gives the compiler its own process group, so that the whole group can be
// ended. The kernel kills the compiler together with the thread that started it, so that
// thread must stay locked while the compiler runs.
func procAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// exits returns a channel that is closed when the process has exited. It does not take
// the exit status, so no other process gets the process ID before Wait.
func exits(pid int) <-chan struct{} {
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
		}
	}()
	return exited
}
