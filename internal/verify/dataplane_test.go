package verify

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/lab"
)

// matchedStating holds the example's dump, after some edits, against the example's policies, whose Dataplane states something else in one place.
func matchedStating(t *testing.T, old, stated string, edits ...edit) *Verification {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"dataplane.yaml", "mtp.yaml"} {
		text, err := os.ReadFile(filepath.Join("../../examples/sidecar/policies", name))
		if err != nil {
			t.Fatal(err)
		}
		if name == "dataplane.yaml" && !strings.Contains(string(text), old) {
			t.Fatalf("no %q in the Dataplane", old)
		}
		if name == "dataplane.yaml" {
			text = []byte(strings.Replace(string(text), old, stated, 1))
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, err := lab.Open(lab.Choice{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	all, err := files.CasesFor(lab.Surroundings{}, files.Inbounds())
	if err != nil {
		t.Fatal(err)
	}
	return matchedDump(t, all, files, "", exampleDump(t), append(slices.Clip(edits), completed)...)
}

// TestPassedOnToFurtherAddresses has a transparent proxy, which passes connections on, beside Dataplanes that state further addresses of the
// machine: those of an inbound alone, its own one, and the advertised one. A name may be any address.
func TestPassedOnToFurtherAddresses(t *testing.T) {
	t.Parallel()
	const at = "address: 10.0.0.7"
	const whole = at + "\n  inbound:\n    - {name: http-port, port: 8080, protocol: http}\n    - {port: 6379, protocol: tcp}\n"
	const http, tcp = "{name: http-port,", "{port: 6379,"
	const second = "configs.0.dynamic_listeners.1.active_state.listener"
	// beside gives both inbounds a further address.
	beside := func(ip string) edit {
		return func(dump any) any {
			for at, port := range map[string]int{listener: 8080, second: 6379} {
				dump = add(at+".additional_addresses", fmt.Sprintf(`{"address": {"socket_address": {"address": %q, "port_value": %d}}}`, ip, port))(dump)
			}
			return dump
		}
	}
	both := []edit{put(listener+".address.socket_address.address", `"10.0.0.8"`), put(second+".address.socket_address.address", `"10.0.0.8"`)}
	elsewhere := func(rest string) string {
		return rest + "\n  inbound:\n    - {name: http-port, address: 10.0.0.8, port: 8080, protocol: http}\n    - {address: 10.0.0.8, port: 6379, protocol: tcp}\n"
	}
	tcpAt := func(ip string) edit { return put(second+".address.socket_address.address", `"`+ip+`"`) }
	for name, tt := range map[string]struct {
		old, stated string
		want        outcome
		edits       []edit
	}{
		"no further one":         {at, at, verified, nil},
		"the advertised address": {at, at + "\n  advertisedAddress: 203.0.113.5", unverified, nil},
		"the advertised address, with listeners of its own":     {at, at + "\n  advertisedAddress: 203.0.113.5", verified, []edit{beside("203.0.113.5")}},
		"the advertised address, which is the same one":         {at, at + "\n  advertisedAddress: 10.0.0.7", verified, nil},
		"an advertised address of IPv6":                         {at, at + "\n  advertisedAddress: 2001:db8::7", verified, nil},
		"an advertised address of IPv6, which is redirected":    {at, at + "\n  advertisedAddress: 2001:db8::7", unverified, []edit{ipv6}},
		"an advertised name":                                    {at, at + "\n  advertisedAddress: payments.example", unverified, nil},
		"an advertised address with a zone":                     {at, at + "\n  advertisedAddress: fe80::7%eth0", unverified, nil},
		"its own address, which no inbound has":                 {whole, elsewhere(at), unverified, both},
		"its own name, beside the addresses of inbounds":        {whole, elsewhere("address: payments.example"), unverified, both},
		"the address that its inbounds have":                    {whole, elsewhere("address: 10.0.0.8"), verified, both},
		"the addresses of its inbounds alone":                   {whole, elsewhere("admin: {port: 9901}"), verified, both},
		"its own address beside that of one inbound":            {tcp, "{port: 6379, address: 10.0.0.8,", unverified, []edit{tcpAt("10.0.0.8")}},
		"the address of one inbound beside those of all others": {http, "{name: http-port, address: 10.0.0.8,", unverified, []edit{put(listener+".address.socket_address.address", `"10.0.0.8"`)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := matchedStating(t, tt.old, tt.stated, append([]edit{kumaBootstrap, transparent}, tt.edits...)...)
			if got := outcomeOf(v); got != tt.want {
				t.Errorf("%s, want %s: %q, unknown %q", got, tt.want, lines(v.Unverified), lines(v.sidecar.Unknown))
			}
		})
	}
}

// TestRedirectedInPart has Dataplanes whose transparent proxy leaves out connections of others.
func TestRedirectedInPart(t *testing.T) {
	t.Parallel()
	const at = "address: 10.0.0.7"
	hasIPv6 := put(kumaNode+".metadata.ipv6Enabled", `true`)
	for stated, tt := range map[string]struct {
		want  outcome
		edits []edit
	}{
		"{redirectPortInbound: 15006, redirectPortOutbound: 15001}":                      {verified, nil},
		"{redirectPortOutbound: 15001}":                                                  {unverified, nil},
		"{redirectPortInbound: 0, redirectPortOutbound: 15001}":                          {unverified, nil},
		"{reachableServices: [a]}":                                                       {verified, nil},
		"{redirectPortInbound: 15006, redirectPortOutbound: 15001, ipFamilyMode: IPv4}":  {verified, nil},
		"{redirectPortInbound: 15006, redirectPortOutbound: 15002, ipFamilyMode: IPv4}":  {unverified, []edit{hasIPv6}},
		"{redirectPortInbound: 15006, redirectPortOutbound: 1, ipFamilyMode: DualStack}": {verified, []edit{hasIPv6}},
	} {
		t.Run(stated, func(t *testing.T) {
			t.Parallel()
			v := matchedStating(t, at, at+"\n  transparentProxying: "+stated, append([]edit{kumaBootstrap, transparent}, tt.edits...)...)
			if got := outcomeOf(v); got != tt.want {
				t.Errorf("%s, want %s: %q, unknown %q", got, tt.want, lines(v.Unverified), lines(v.sidecar.Unknown))
			}
		})
	}
}
