package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"

	"github.com/meshproof/meshproof/internal/children"
)

// stuck is a program like main with work and a child that never end. It says what a signal
// does next.
func stuck() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	child := exec.Command("cat")
	_, err := child.StdinPipe() // cat ends with this process
	if err == nil {
		err = children.Start(child)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	context.AfterFunc(ctx, func() {
		endAfterSignal(ctx, func() {
			stop()
			fmt.Println("kills")
		})
	})
	fmt.Println("interrupts")
	select {}
}

// TestTheSecondSignalKills interrupts again before the first interrupt has ended anything.
func TestTheSecondSignalKills(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0])
	cmd.Args[0], cmd.Env = "stuck", append(os.Environ(), surroundings(t)...)
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	for _, want := range []string{"interrupts", "kills"} {
		if lines.Scan(); lines.Text() != want {
			t.Errorf("it says %q, want %q: %v", lines.Text(), want, lines.Err())
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	}
	exit := (*exec.ExitError)(nil)
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
		t.Errorf("%v, want the end by the signal", err)
	}
}
