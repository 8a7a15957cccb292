package plugin

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"testing"
)

func init() {
	// Starts a compiler, and then neither closes it nor ends.
	helpers["owner"] = func(in io.Reader, _ io.Writer, args []string) {
		if _, err := Start(context.Background(), helper("hang", args...), Options{}); err != nil {
			panic(err)
		}
		_, _ = io.Copy(io.Discard, in)
	}
}

// A compiler that hangs does not outlive an owner that is killed.
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
	compiler := take(t, listener)
	child := accept(t, listener)
	defer child()
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := owner.Wait(); err == nil || fmt.Sprint(err) != "signal: killed" {
		t.Errorf("the owner: %v", err)
	}
	gone(compiler)
}
