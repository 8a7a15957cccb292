package sidecar

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	"github.com/google/go-cmp/cmp"
	"github.com/spiffe/go-spiffe/v2/bundle/x509bundle"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"github.com/spiffe/go-spiffe/v2/spiffetls/tlsconfig"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/internal/controlplane"
	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds"
)

const ours = "envoy.json"

var (
	controlDomain = spiffeid.RequireTrustDomainFromString("control.meshproof")
	control       = spiffeid.RequireFromPath(controlDomain, "/control-plane")
	proxy         = spiffeid.RequireFromPath(controlDomain, "/proxy")
	mesh          = spiffeid.RequireTrustDomainFromString("trust-domain.mesh")
	backend       = spiffeid.RequireFromPath(mesh, "/ns/default/sa/backend")
)

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// pushed is inbounds with each form of filter that package xds makes.
func pushed(t testing.TB) []controlplane.Inbound {
	t.Helper()
	verdict := func(effect policy.Effect, origin string) policy.Verdict {
		return policy.Verdict{Effect: effect, Origin: origin}
	}
	identity := func(path string) policy.Condition {
		return attribute.Identity.Exact("spiffe://trust-domain.mesh" + path)
	}
	gate := func(layer policy.Layer, rules ...policy.Rule) policy.Gate {
		return policy.Gate{Layer: layer, Rules: rules, Default: verdict(policy.Deny, "default")}
	}
	prometheus := policy.Rule{
		Verdict: verdict(policy.Allow, "kri_mtp_default___scrape_"),
		When:    policy.And{identity("/ns/observability/sa/prometheus"), attribute.Path.Segments("/metrics"), attribute.Method.Exact("GET")},
	}
	malicious := policy.Rule{
		Verdict: verdict(policy.Deny, "kri_mtp_default___by-mesh-operator_"),
		When:    attribute.Identity.Prefix("spiffe://trust-domain.mesh/ns/malicious/"),
	}
	named := gate(policy.L7, policy.Rule{
		Verdict: verdict(policy.Allow, "MeshTrafficPermission"),
		When:    attribute.URISAN.Exact("spiffe://trust-domain.mesh/web"),
	})
	named.Form, named.Default = policy.Named, policy.Verdict{}
	compile := func(p policy.Program) xds.Filters { return must[xds.Filters](t)(xds.Compile(p)) }
	at := func(port uint16) netip.AddrPort {
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, 7}), port)
	}
	return []controlplane.Inbound{
		{
			Stat: "http", Destination: at(8080), Protocol: policy.HTTP, Identity: "backend",
			Filters: compile(policy.Program{
				Gates:   []policy.Gate{gate(policy.L7, malicious, prometheus)},
				Shadows: []policy.Gate{gate(policy.L7, malicious)},
			}),
		},
		{
			Stat: "routes", Destination: at(8081), Protocol: policy.HTTP2, Identity: "backend",
			Normalization: policy.PathNormalization{Raw: true, KeepSlashes: true, EscapedSlashes: policy.KeepEscapedSlashes},
			Filters: compile(policy.Program{
				Gates: []policy.Gate{named},
				Routes: []policy.Route{{
					Name: "admin", When: attribute.Path.Segments("/admin"),
					Gates: []policy.Gate{gate(policy.L7, malicious)},
				}},
			}),
		},
		{
			Stat: "tcp", Destination: at(5432), Protocol: policy.TCP, Identity: "backend", MTLS: xds.Permissive,
			Filters: compile(policy.Program{
				Gates:   []policy.Gate{gate(policy.L4, malicious)},
				Shadows: []policy.Gate{gate(policy.L4)},
			}),
		},
		{Stat: "open", Destination: at(9090), Protocol: policy.HTTP, Identity: "backend"},
	}
}

// dumpOfEnvoy starts an Envoy, pushes the inbounds and returns its dump.
func dumpOfEnvoy(t *testing.T, inbounds []controlplane.Inbound) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	plan := must[*envoy.Plan](t)(envoy.Prepare(ctx, envoy.Options{Runtime: envoy.Process, Ports: 1}))
	ca := must[*certs.Authority](t)(certs.NewAuthority(controlDomain))
	bundles := x509bundle.NewSet(ca.Bundle())
	listener := must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	plane := controlplane.Serve(listener, &tls.Config{
		MinVersion:            tls.VersionTLS13,
		Certificates:          []tls.Certificate{must[*certs.Credential](t)(ca.Mint(control)).TLSCertificate()},
		ClientAuth:            tls.RequireAnyClientCert,
		VerifyPeerCertificate: tlsconfig.VerifyPeerCertificate(bundles, tlsconfig.AuthorizeID(proxy)),
		NextProtos:            []string{"h2"},
	}, controlplane.Records{})
	defer plane.Close()
	around := plan.Surroundings()
	bootstrap := must[[]byte](t)(controlplane.Bootstrap{
		Admin:        around.Admin,
		ControlPlane: net.JoinHostPort(around.HostName, strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)),
		UpstreamHTTP: "127.0.0.1:1", UpstreamTCP: "127.0.0.1:1", UpstreamSecret: "secret",
		Proxy:     must[*certs.Credential](t)(ca.Mint(proxy)),
		Authority: control.String(),
		Bundles:   bundles,
	}.JSON())
	e := must[*envoy.Envoy](t)(plan.Start(ctx, bootstrap))
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	select {
	case <-plane.Connected():
	case <-e.Done():
		t.Fatal(e.Err())
	case <-ctx.Done():
		t.Fatal(ctx.Err())
	}
	meshCA := must[*certs.Authority](t)(certs.NewAuthority(mesh))
	trust := must[controlplane.Secret](t)(controlplane.ValidationSecret("trust", x509bundle.NewSet(meshCA.Bundle())))
	slot := e.Slot(0)
	if err := plane.Push(ctx, controlplane.Update{
		Listeners: []controlplane.Listener{{Name: "mesh", Bind: slot.Listen, Dial: slot.Dial, Inbounds: inbounds, Validation: "trust"}},
		Secrets:   []controlplane.Secret{trust, controlplane.IdentitySecret("backend", must[*certs.Credential](t)(meshCA.Mint(backend)))},
	}); err != nil {
		t.Fatal(err)
	}
	return must[[]byte](t)(e.AdminGet(ctx, "/config_dump?include_eds"))
}

// A dump of an Envoy is read to what was pushed to it.
func TestRoundTripThroughEnvoy(t *testing.T) {
	t.Parallel()
	inbounds := pushed(t)
	data := dumpOfEnvoy(t, inbounds)
	checkOurs(t, inbounds, data)
	if golden.Update() {
		record(t, data)
	}
}

// The same holds for the recorded dump, which needs no Envoy.
func TestRoundTripOfRecord(t *testing.T) {
	t.Parallel()
	checkOurs(t, pushed(t), testdata(t, ours))
}

func checkOurs(t *testing.T, want []controlplane.Inbound, data []byte) {
	t.Helper()
	s := readDump(t, data)
	// The control plane has routes counted too, which decides nothing.
	same := cmp.Options{protocmp.Transform(), protocmp.IgnoreFields(&httprbacv3.RBAC{}, "track_per_rule_stats")}
	byStat := map[string]Inbound{}
	for _, in := range s.Inbounds {
		byStat[in.Chain] = in
	}
	for _, w := range want {
		in, ok := byStat[w.Stat]
		if !ok {
			t.Errorf("inbound %s is missing", w.Stat)
			continue
		}
		if diff := cmp.Diff(w.Filters, in.Filters, same); diff != "" {
			t.Errorf("filters of %s (-pushed +read):\n%s", w.Stat, diff)
		}
		got := controlplane.Inbound{
			Stat: in.StatPrefix, Destination: in.Address, Protocol: in.Protocol, MTLS: w.MTLS,
			Identity: w.Identity, Filters: in.Filters, Normalization: in.Normalization,
		}
		if diff := cmp.Diff(w, got, same, cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })); diff != "" {
			t.Errorf("inbound %s (-pushed +read):\n%s", w.Stat, diff)
		}
		if in.Transport != MutualTLS || in.Permissive != (w.MTLS == xds.Permissive) || in.Incomplete || in.Listener != "mesh" {
			t.Errorf("inbound %s: %s, permissive %t, incomplete %t, listener %s", w.Stat, in.Transport, in.Permissive, in.Incomplete, in.Listener)
		}
		if unguarded := len(w.Filters.Messages()) == 0; in.Unguarded() != unguarded {
			t.Errorf("inbound %s: unguarded is %t", w.Stat, !unguarded)
		}
	}
	if plain := byStat["tcp_plaintext"]; plain.Transport != Plaintext || !plain.Unguarded() || plain.Address != byStat["tcp"].Address {
		t.Errorf("the plaintext chain is %+v", plain)
	}
	if len(s.Inbounds) != len(want)+1 {
		t.Errorf("%d inbounds", len(s.Inbounds))
	}
	if diff := cmp.Diff([]Skipped{{"mesh", "canary", "the canary of meshproof: no workload has its address"}}, s.Skipped); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
	// The lab gives its CAs, its upstreams and its bootstrap in a way of its own, and its routes
	// take every target.
	besides := slices.DeleteFunc(slices.Clone(s.Unknown), func(u dump.Unknown) bool {
		return u.Kind == dump.Exposed || u.Type == "envoy.config.bootstrap.v3.Bootstrap" || strings.Contains(u.Reason, "OPTIONS *")
	})
	if diff := cmp.Diff([]string{
		`listener "mesh": neither traffic_direction nor its name tells its direction: taken for inbound`,
		`listener "mesh": filter "envoy.filters.listener.proxy_protocol": type.googleapis.com/envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol: it lets callers say source and destination in a PROXY header`,
	}, lines(besides)); diff != "" {
		t.Errorf("unknown (-want +got):\n%s", diff)
	}
}

func lines(unknown []dump.Unknown) []string {
	var out []string
	for _, u := range unknown {
		out = append(out, u.String())
	}
	return out
}

// record writes the dump without the parts of this machine: the bootstrap, clusters and
// secrets.
func record(t *testing.T, data []byte) {
	t.Helper()
	var whole struct {
		Configs []json.RawMessage `json:"configs"`
	}
	if err := json.Unmarshal(data, &whole); err != nil {
		t.Fatal(err)
	}
	whole.Configs = slices.DeleteFunc(whole.Configs, func(config json.RawMessage) bool {
		return !bytes.Contains(config[:min(len(config), 120)], []byte("envoy.admin.v3.ListenersConfigDump"))
	})
	if len(whole.Configs) != 1 {
		t.Fatalf("%d dumps of listeners", len(whole.Configs))
	}
	out := must[[]byte](t)(json.MarshalIndent(whole, "", " "))
	if err := os.WriteFile(filepath.Join("testdata", ours), append(out, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}
