package plugin

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"testing"
)

func init() {
	// Starts a compiler, does not close it and does not end.
	helpers["owner"] = func(in io.Reader, _ io.Writer, args []string) {
		if _, err := Start(context.Background(), helper("hang", args...), Options{}); err != nil {
			panic(err)
		}
		_, _ = io.Copy(io.Discard, in)
	}
}

// TestKilledOwner shows that a compiler that hangs ends with its killed owner.
func TestKilledOwner(t *testing.T) {
	t.Parallel()
	listener := listen(t)
	command := helper("owner", listener.Addr().String())
	owner := exec.Command(command[0], command[1:]...)
	stdin, err := owner.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	compiler := acceptConn(t, listener)
	child := accept(t, listener)
	defer child()
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := owner.Wait(); err == nil || fmt.Sprint(err) != "signal: killed" {
		t.Errorf("the owner: %v", err)
	}
	waitClosed(compiler)
}
