package harness

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/controlplane"
	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/policy"
)

// speak connects to an address, and returns what it answers to a request: nothing useful may
// come to who has no certificate of the lab.
func speak(ctx context.Context, address string, secured *tls.Config) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return ""
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	if secured != nil {
		conn = tls.Client(conn, secured)
	}
	_, _ = io.WriteString(conn, "GET /server_info HTTP/1.1\r\nhost: envoy\r\nconnection: close\r\n\r\n")
	answer, _ := io.ReadAll(io.LimitReader(conn, 1<<16))
	return string(answer)
}

// addressesOf are where other programs of the machine, and other containers, could reach the
// admin endpoint of a container.
func addressesOf(t *testing.T, h *Harness) (open []string) {
	t.Helper()
	c, err := client.New(client.FromEnv)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got, err := c.ContainerInspect(t.Context(), h.envoy.ContainerID(), client.ContainerInspectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, bindings := range got.Container.NetworkSettings.Ports {
		for _, b := range bindings {
			open = append(open, net.JoinHostPort(b.HostIP.String(), b.HostPort))
		}
	}
	for _, n := range got.Container.NetworkSettings.Networks {
		for _, port := range []string{"9901", "9902"} {
			open = append(open, net.JoinHostPort(n.IPAddress.String(), port))
		}
	}
	return open
}

// Nothing of a lab in a container answers a program without its certificate, from this machine
// or over the network of the containers.
func TestAStrangerReachesNothingInAContainer(t *testing.T) {
	t.Parallel()
	h := inContainer(t)
	m := h.Mesh(t, small(t, compile(t, onlyFrontend(policy.L4))))
	// A certificate of the right name, which another CA has signed.
	forger, err := certs.NewAuthority(controlDomain)
	if err != nil {
		t.Fatal(err)
	}
	forged, err := forger.Mint(controlPlaneID)
	if err != nil {
		t.Fatal(err)
	}
	with := func(c *certs.Credential) *tls.Config {
		cert := c.TLSCertificate()
		return &tls.Config{InsecureSkipVerify: true, GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &cert, nil }}
	}
	for _, address := range addressesOf(t, h) {
		for name, secured := range map[string]*tls.Config{
			"plain": nil, "no certificate": {InsecureSkipVerify: true}, "forged": with(forged), "a caller of a mesh": with(mint(t, m, frontend)),
		} {
			if answer := speak(t.Context(), address, secured); strings.Contains(answer, "HTTP/") {
				t.Errorf("%s at %s: %.200q", name, address, answer)
			}
		}
	}
	if _, err := h.envoy.AdminGet(t.Context(), "/server_info"); err != nil {
		t.Errorf("the lab itself: %v", err)
	}
}

// Only Envoy enters the books of the upstream. A forged request that names a caller under test does not.
func TestAForgedRequestAtTheUpstream(t *testing.T) {
	t.Parallel()
	h := ownHarness(t)
	m := h.Mesh(t, small(t, compile(t, onlyFrontend(policy.L4))))
	// The sources are taken in turn.
	for port := uint16(firstSource); port < firstSource+8; port++ {
		request, err := http.NewRequestWithContext(t.Context(), "GET", fmt.Sprintf("http://127.0.0.1:%d/", h.upstream.HTTPPort()), nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set(controlplane.CallerHeader, netip.AddrPortFrom(endpoint.Unnamed, port).String())
		response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusForbidden {
			t.Errorf("the upstream answers %s", response.Status)
		}
	}
	findings, _ := send(t, m, Request{To: "tcp", Credential: mint(t, m, intruder)}, Request{To: "tcp", Credential: mint(t, m, frontend)})
	checkForms(t, findings, evidence.Refused, evidence.Served)
}

// Another user of the machine cannot open the admin socket of a process, and cannot read its folder.
func TestAnotherUserReachesNoAdminSocket(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	h := ownHarness(t)
	socket := h.plan.Surroundings().Admin
	if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the socket is %v, %v", info, err)
	}
	for _, command := range [][]string{{"ls", filepath.Dir(socket)}, {"test", "-w", socket}, {"test", "-r", fmt.Sprintf("/proc/%d/environ", h.envoy.PID())}} {
		cmd := exec.Command(command[0], command[1:]...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		if out, err := cmd.CombinedOutput(); err == nil {
			t.Errorf("nobody can do %q: %s", command, out)
		}
	}
}
