package envoy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/client"

	"github.com/meshproof/meshproof/internal/pin"
	"github.com/meshproof/meshproof/internal/testbed"
)

var bothRuntimes = []Runtime{Process, Container}

func TestStartAndClose(t *testing.T) {
	t.Parallel()
	for _, r := range bothRuntimes {
		t.Run(r.String(), func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			e := start(t, Options{Runtime: r, Log: &log}, adminOnly)
			if err := ready(t.Context(), e); err != nil {
				t.Fatal(err)
			}
			if v, err := e.Version(t.Context()); err != nil || v != pin.DefaultVersion {
				t.Errorf("version %q, %v; want %s", v, err, pin.DefaultVersion)
			}
			if want, ok := pin.BinaryDigest(pin.DefaultVersion, runtime.GOOS+"-"+runtime.GOARCH); ok {
				if digest, err := e.Digest(t.Context()); err != nil || digest != want {
					t.Errorf("digest %q, %v; want %s", digest, err, want)
				}
			}
			info, err := e.AdminGet(t.Context(), "/server_info")
			if err != nil {
				t.Error(err)
			}
			commit, _ := pin.Commit(pin.DefaultVersion)
			for _, want := range []string{`"version": "` + commit + `/`, `"concurrency": 1`, `"drain_time": "1s"`, `"drain_strategy": "Immediate"`, `"file_flush_interval": "0.050s"`} {
				if !strings.Contains(string(info), want) {
					t.Errorf("server_info has no %s: %s", want, info)
				}
			}
			if _, err := e.AdminGet(t.Context(), "/nothing"); err == nil || !strings.Contains(err.Error(), "404") {
				t.Errorf("AdminGet of a wrong path: %v, want status 404", err)
			}
			select {
			case <-e.Done():
				t.Errorf("Done before Close: %v", e.Err())
			default:
			}
			if err := errors.Join(e.Close(), e.Close()); err != nil {
				t.Error(err)
			}
			<-e.Done()
			if err := e.Err(); err != nil {
				t.Errorf("Err after Close: %v", err)
			}
			checkGone(t, e.plan.dir, e.pid, e.container)
			if !strings.Contains(log.String(), "caught ENVOY_SIGTERM") {
				t.Errorf("Envoy's log does not tell of a graceful end: %s", log.String())
			}
		})
	}
}

// Every pinned release takes the command line and reads its bootstrap from a FIFO, once.
func TestEveryPinnedVersion(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("downloads every release")
	}
	for _, v := range pin.Versions() {
		t.Run(v, func(t *testing.T) {
			t.Parallel()
			e := start(t, Options{Runtime: Process, Version: v}, adminOnly)
			if err := ready(t.Context(), e); err != nil {
				t.Fatal(err)
			}
			if got, err := e.Version(t.Context()); err != nil || got != v {
				t.Errorf("version %q, %v; want %s", got, err, v)
			}
		})
	}
}

func TestEachSlotHasItsOwnPorts(t *testing.T) {
	t.Parallel()
	for _, r := range bothRuntimes {
		t.Run(r.String(), func(t *testing.T) {
			t.Parallel()
			e := start(t, Options{Runtime: r, Ports: 3}, adminOnly)
			seen := map[Slot]bool{}
			for i := range 3 {
				s := e.Slot(i)
				if !s.Listen.IsValid() || s.Dial == "" || seen[s] || s != e.Slot(i) {
					t.Errorf("slot %d is %v", i, s)
				}
				seen[s] = true
			}
			if e.Slots() != 3 || e.Slot(-1) != (Slot{}) {
				t.Errorf("%d slots, slot -1 is %v", e.Slots(), e.Slot(-1))
			}
			if got := e.Slot(40); (got != Slot{}) != (r == Process) {
				t.Errorf("slot 40 is %v", got)
			}
		})
	}
}

// An Envoy gets the connections of a port that this process holds, and no other process can bind the port.
func TestEnvoyListensOnAHeldPort(t *testing.T) {
	t.Parallel()
	port, release, err := holdPort()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	e := start(t, Options{Runtime: Process}, func(p *Plan) []byte { return bootstrapWith(p, greeter(port)) })
	if err := ready(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	checkGreeting(t, port.String())
	if l, err := net.Listen("tcp4", port.String()); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("another listener on %s: %v, %v", port, l, err)
	}
}

func TestContainerListeners(t *testing.T) {
	t.Parallel()
	needDocker(t)
	for name, publish := range map[string]bool{"direct": false, "published": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := Prepare(t.Context(), Options{Runtime: Container, Ports: 2})
			if err != nil {
				t.Fatal(err)
			}
			d := p.runner.(docker)
			if publish {
				d.daemon.gateway = netip.Addr{}
				p.runner = d
				p.surroundings.HostName, p.surroundings.HostIsName = hostInside, true
			}
			listen := netip.AddrPortFrom(anyAddr, firstListenerPort+1)
			e, err := p.Start(t.Context(), bootstrapWith(p, greeter(listen)))
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			if err := ready(t.Context(), e); err != nil {
				t.Fatal(err)
			}
			if s := e.Slot(1); s.Listen != listen || publish != strings.HasPrefix(s.Dial, "127.0.0.1:") {
				t.Errorf("slot 1 is %v", s)
			}
			checkGreeting(t, e.Slot(1).Dial)
			checkPublished(t, e.ContainerID(), map[bool]int{false: 1, true: 3}[publish])
		})
	}
}

// checkPublished counts published ports, and checks that only this machine can reach them.
func checkPublished(t *testing.T, id string, want int) {
	t.Helper()
	c, err := dialDocker(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	inspected, err := c.ContainerInspect(t.Context(), id, client.ContainerInspectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for port, bound := range inspected.Container.NetworkSettings.Ports {
		for _, b := range bound {
			n++
			if b.HostIP != loopback {
				t.Errorf("port %s is published on %s", port, b.HostIP)
			}
		}
	}
	if n != want {
		t.Errorf("%d ports are published, want %d", n, want)
	}
	checkConfined(t, inspected.Container)
}

// checkConfined checks what a container may do.
func checkConfined(t *testing.T, c container.InspectResponse) {
	t.Helper()
	host := c.HostConfig
	if user, _, _ := strings.Cut(c.Config.User, ":"); user == "" || user == "0" || user == "root" {
		t.Errorf("Envoy runs as the user %q", c.Config.User)
	}
	if !host.ReadonlyRootfs || host.Privileged || !slices.Equal(host.CapDrop, []string{"ALL"}) || !slices.Equal(host.SecurityOpt, []string{"no-new-privileges"}) {
		t.Errorf("the root is read-only: %t, privileged: %t, dropped: %q, security: %q", host.ReadonlyRootfs, host.Privileged, host.CapDrop, host.SecurityOpt)
	}
	if host.Memory == 0 || host.MemorySwap != host.Memory || host.PidsLimit == nil || *host.PidsLimit <= 0 {
		t.Errorf("memory %d, with swap %d, processes %v", host.Memory, host.MemorySwap, host.PidsLimit)
	}
	for _, m := range c.Mounts {
		if m.Type != mount.TypeVolume {
			t.Errorf("%s of this machine is mounted at %s", m.Source, m.Destination)
		}
	}
	if all := strings.Join(append(c.Config.Env, c.Args...), " "); strings.Contains(all, "PRIVATE KEY") {
		t.Error("a private key stands in the description of the container")
	}
}

// greeter is a static listener that writes a line and closes.
func greeter(at netip.AddrPort) string {
	return fmt.Sprintf(`, "static_resources": {"listeners": [{"name": "greeter",
		"address": {"socket_address": {"address": %q, "port_value": %d}},
		"filter_chains": [{"filters": [{"name": "envoy.filters.network.direct_response", "typed_config": {
			"@type": "type.googleapis.com/envoy.extensions.filters.network.direct_response.v3.Config",
			"response": {"inline_string": "hello"}}}]}]}]}`, at.Addr(), at.Port())
}

func checkGreeting(t *testing.T, address string) {
	t.Helper()
	for range 5 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(conn)
		conn.Close()
		if string(got) != "hello" || err != nil {
			t.Errorf("%s answers %q, %v", address, got, err)
		}
	}
}

func TestBootstrapRejected(t *testing.T) {
	t.Parallel()
	for _, r := range bothRuntimes {
		t.Run(r.String(), func(t *testing.T) {
			t.Parallel()
			e := start(t, Options{Runtime: r}, func(*Plan) []byte { return []byte(`{"admin": {"adress": 1}}`) })
			<-e.Done()
			if err := e.Err(); !errors.Is(err, ErrExited) {
				t.Errorf("Err is %v, want reason %q", err, ErrExited)
			}
			testbed.CheckOneLine(t, "envoy: ", e.Err(), "run Envoy "+pin.DefaultVersion+" as a "+r.String(), "exit status 1", "no such field: 'adress'")
			if _, err := e.AdminGet(t.Context(), "/ready"); !errors.Is(err, ErrExited) {
				t.Errorf("AdminGet: %v, want reason %q", err, ErrExited)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			checkGone(t, e.plan.dir, e.pid, e.container)
		})
	}
}

// The bootstrap has private keys, so it is not on a disk and not on the command line.
func TestBootstrapOfAProcessLeavesNoTrace(t *testing.T) {
	t.Parallel()
	big := fmt.Sprintf(`, "node": {"id": "secret", "cluster": %q}`, strings.Repeat("x", 1<<20))
	e := start(t, Options{Runtime: Process}, func(p *Plan) []byte { return bootstrapWith(p, big) })
	if err := ready(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(e.plan.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if name := entry.Name(); name != lockName && name != socketName {
			t.Errorf("%s in the run directory", name)
		}
	}
	if info, err := os.Stat(e.plan.dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("run directory: %v, %v", info, err)
	}
}

func TestPlanRunsOneEnvoyAtATime(t *testing.T) {
	t.Parallel()
	p, err := Prepare(t.Context(), Options{Runtime: Process})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		e, err := p.Start(t.Context(), adminOnly(p))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Start(t.Context(), adminOnly(p)); !errors.Is(err, os.ErrExist) || !errors.Is(err, ErrStart) {
			t.Errorf("second start: %v, want %v", err, os.ErrExist)
		}
		if err := ready(t.Context(), e); err != nil {
			t.Error(err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// checkGone waits until nothing of an Envoy is left: the watchdog ends after its owner.
func checkGone(t *testing.T, dir string, pid int, id string) {
	t.Helper()
	eventually(t, dir+" is removed", func() bool {
		_, err := os.Stat(dir)
		return errors.Is(err, os.ErrNotExist)
	})
	if pid != 0 {
		eventually(t, fmt.Sprintf("process %d ends", pid), func() bool {
			return syscall.Kill(pid, 0) == syscall.ESRCH || isZombie(pid)
		})
	}
	if id != "" {
		c, err := dialDocker(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		eventually(t, "container "+id+" is removed", func() bool {
			_, err := c.ContainerInspect(t.Context(), id, client.ContainerInspectOptions{})
			return errdefs.IsNotFound(err)
		})
	}
}

// isZombie reports whether a process has ended and was not waited for, as in a container without an init.
func isZombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

func TestLineOfTheLogThatSaysWhy(t *testing.T) {
	t.Parallel()
	const pre = "[2026-01-02 03:04:05.678][12]"
	for _, tc := range []struct{ log, want string }{
		{"", ""},
		{"\n\n", ""},
		{"one\ntwo\n", "two"},
		{"one\nno newline", "no newline"},
		{"one\n" + pre + "[warning][main] [a.cc:1] w\n", "one"},
		{pre + "[warning][main] [a.cc:1] w\n" + pre + "[error][config] [a.cc:2] e\nmore\n" + pre + "[info][main] [a.cc:3] bye\n", "e more"},
		{pre + "[critical][main] [a.cc:1] first\n" + pre + "[error][main] [a.cc:2] later\nlast", "first"},
	} {
		l := newTail(nil)
		for i := range len(tc.log) { // in the smallest of pieces
			_, _ = l.Write([]byte{tc.log[i]})
		}
		if got := telling(l.Lines()); got != tc.want {
			t.Errorf("of %q the most telling is %q, want %q", tc.log, got, tc.want)
		}
	}
}

func TestTheLimitOfOpenFilesIsNamed(t *testing.T) {
	t.Parallel()
	err := explainLimit(fmt.Errorf("socket: %w", syscall.EMFILE))
	if !errors.Is(err, syscall.EMFILE) || !strings.Contains(err.Error(), "are allowed, and 1024 are enough: use ulimit -n 1024") {
		t.Errorf("too many open files: %v", err)
	}
	if other := errors.New("other"); explainLimit(other) != other {
		t.Error("another error is changed")
	}
}
