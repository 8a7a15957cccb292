package controlplane

import (
	"strings"
	"testing"

	"github.com/spiffe/go-spiffe/v2/bundle/x509bundle"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/internal/messages"
)

func testAuthority(t testing.TB, name string) *certs.Authority {
	t.Helper()
	ca, err := certs.NewAuthority(spiffeid.RequireTrustDomainFromString(name))
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

func testSVID(t testing.TB, ca *certs.Authority) *certs.Credential {
	t.Helper()
	svid, err := ca.Mint(spiffeid.RequireFromPath(ca.TrustDomain(), "/workload"))
	if err != nil {
		t.Fatal(err)
	}
	return svid
}

func testBootstrap(t testing.TB) Bootstrap {
	ca := testAuthority(t, "control.mesh")
	return Bootstrap{
		Admin:        "/run/private/admin.sock",
		ControlPlane: "127.0.0.1:18000",
		UpstreamHTTP: "127.0.0.1:18001",
		UpstreamTCP:  "127.0.0.1:18002",
		Proxy:        testSVID(t, ca),

		UpstreamSecret: "the secret of a run",

		Authority: "spiffe://control.mesh/control-plane",
		Bundles:   x509bundle.NewSet(ca.Bundle()),
	}
}

func TestBootstrapGolden(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Bootstrap){
		"process": func(*Bootstrap) {},
		"container": func(b *Bootstrap) {
			b.Admin, b.AdminGate = "127.0.0.1:9901", "0.0.0.0:9902"
			b.ControlPlane, b.UpstreamHTTP, b.UpstreamTCP = "host.docker.internal:18000", "host.docker.internal:18001", "host.docker.internal:18002"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := testBootstrap(t)
			change(&b)
			raw, err := b.JSON()
			if err != nil {
				t.Fatal(err)
			}
			golden.Compare(t, "bootstrap/"+name+".golden", golden.JSON(t, raw, redact))
		})
	}
}

func TestBootstrapRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*Bootstrap)
		want   string
	}{
		"no admin":             {func(b *Bootstrap) { b.Admin = "" }, `xds: bootstrap: admin "" is neither host:port nor the path of a socket`},
		"relative admin":       {func(b *Bootstrap) { b.Admin = "admin.sock" }, `xds: bootstrap: admin "admin.sock" is neither host:port nor the path of a socket`},
		"admin gate":           {func(b *Bootstrap) { b.Admin, b.AdminGate = "127.0.0.1:9901", "9902" }, "xds: bootstrap: admin gate: address 9902: missing port in address"},
		"control plane's port": {func(b *Bootstrap) { b.ControlPlane = "127.0.0.1:0" }, `xds: bootstrap: cluster meshproof_control_plane: address "127.0.0.1:0": port "0" is not a number from 1 to 65535`},
		"HTTP upstream's port": {func(b *Bootstrap) { b.UpstreamHTTP = "127.0.0.1:http" }, `xds: bootstrap: cluster meshproof_upstream_http: address "127.0.0.1:http": port "http" is not a number from 1 to 65535`},
		"TCP upstream":         {func(b *Bootstrap) { b.UpstreamTCP = "127.0.0.1" }, `xds: bootstrap: cluster meshproof_upstream_tcp: address 127.0.0.1: missing port in address`},
		"host":                 {func(b *Bootstrap) { b.UpstreamTCP = ":1" }, "xds: bootstrap: "},
		"no bundle":            {func(b *Bootstrap) { b.Bundles = x509bundle.NewSet() }, "xds: bootstrap: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := testBootstrap(t)
			tt.change(&b)
			if _, err := b.JSON(); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestSecretsGolden(t *testing.T) {
	t.Parallel()
	a, b := testAuthority(t, "a.mesh"), testAuthority(t, "b.mesh")
	validation, err := ValidationSecret("mesh/trust", x509bundle.NewSet(b.Bundle(), a.Bundle()))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, s := range []Secret{IdentitySecret("mesh/identity", testSVID(t, a)), validation} {
		if err := messages.Validate(s.message); err != nil {
			t.Error(err)
		}
		out.WriteString("---\n" + golden.YAML(t, proto.Message(s.message), redact))
	}
	golden.Compare(t, "secrets.golden", out.String())
}
