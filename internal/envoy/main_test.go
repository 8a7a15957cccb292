package envoy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/meshproof/meshproof/internal/testbed"
)

// helperVariable makes the test binary start an Envoy and await its own violent end, instead of running tests.
const helperVariable = "MESHPROOF_TEST_HELPER"

func TestMain(m *testing.M) {
	if mode := os.Getenv(helperVariable); mode != "" {
		if err := helper(mode); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// helper takes a runtime and how to end: exit, panic, or not at all.
func helper(mode string) error {
	name, how, _ := strings.Cut(mode, " ")
	runtime, err := ParseRuntime(name)
	if err != nil {
		return err
	}
	p, err := Prepare(context.Background(), Options{Runtime: runtime})
	if err != nil {
		return err
	}
	e, err := p.Start(context.Background(), adminOnly(p))
	if err != nil {
		return err
	}
	if err := ready(context.Background(), e); err != nil {
		return err
	}
	fmt.Printf("%s %d %s\n", p.dir, e.PID(), e.ContainerID())
	if how == "exit" {
		return e.Close()
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	if how == "panic" {
		go panic("as the test wants it")
	}
	select {}
}

// victim is a running helper and what it owns.
type victim struct {
	cmd       *exec.Cmd
	stdin     io.Closer
	dir       string
	pid       int
	container string
}

func startVictim(t *testing.T, mode string) *victim {
	t.Helper()
	v := &victim{cmd: exec.Command(os.Args[0])}
	v.cmd.Env = append(os.Environ(), helperVariable+"="+mode)
	if !strings.HasSuffix(mode, "panic") {
		v.cmd.Stderr = os.Stderr
	}
	stdin, err := v.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	v.stdin = stdin
	stdout, err := v.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := v.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.cmd.Process.Kill() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("helper %q: %v", mode, err)
	}
	if _, err := fmt.Sscan(line, &v.dir, &v.pid); err != nil {
		t.Fatalf("helper %q said %q: %v", mode, line, err)
	}
	if fields := strings.Fields(line); len(fields) == 3 {
		v.container = fields[2]
	}
	return v
}

// adminOnly is the smallest bootstrap.
func adminOnly(p *Plan) []byte { return bootstrapWith(p, "") }

// bootstrapWith adds members to it.
func bootstrapWith(p *Plan, more string) []byte {
	address := fmt.Sprintf(`{"pipe": {"path": %q}}`, p.Surroundings().Admin)
	if p.Runtime() == Container {
		// Without a gate, the endpoint itself stands in its place.
		address = fmt.Sprintf(`{"socket_address": {"address": "0.0.0.0", "port_value": %d}}`, gatePort)
	}
	return fmt.Appendf(nil, `{"admin": {"address": %s}%s}`, address, more)
}

// ready asks the admin endpoint until Envoy is live.
func ready(ctx context.Context, e *Envoy) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		_, err := e.AdminGet(ctx, "/ready")
		if err == nil {
			return nil
		}
		select {
		case <-e.Done():
			return e.Err()
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}

// eventually waits for a condition that another process brings about.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-deadline:
			t.Errorf("not in 20 s: %s", what)
			return
		case <-tick.C:
		}
	}
}

func needDocker(t *testing.T) {
	t.Helper()
	_, err := findDaemon(t.Context())
	testbed.NeedDocker(t, err)
}

// start prepares and starts an Envoy that is closed with the test.
func start(t *testing.T, o Options, bootstrap func(*Plan) []byte) *Envoy {
	t.Helper()
	if o.Runtime == Container {
		needDocker(t)
	}
	p, err := Prepare(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	e, err := p.Start(t.Context(), bootstrap(p))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}
