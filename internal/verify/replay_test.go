package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/meshproof/meshproof/internal/sidecar"
)

// chains returns a dump of a listener with n filter chains, each on a port of its own. The
// name is the name of the identity that chain i lets in.
func chains(n int, name func(i int) string) []byte {
	var b bytes.Buffer
	b.WriteString(`{"name": "inbound", "traffic_direction": "INBOUND", "use_original_dst": true, "address": {"socket_address": {"address": "10.0.0.7", "port_value": 15006}}, "filter_chains": [`)
	for i := range n {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"name": "c%d", "filter_chain_match": {"destination_port": %d, "prefix_ranges": [{"address_prefix": "10.%d.0.7", "prefix_len": 32}]}, "filters": [`, i, 1024+i%60000, i/60000)
		fmt.Fprintf(&b, `{"name": "rbac", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.network.rbac.v3.RBAC", "stat_prefix": "s%d", "matcher": {"matcher_list": {"matchers": [{"predicate": {"single_predicate": {`, i)
		b.WriteString(`"input": {"name": "i", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.matching.common_inputs.ssl.v3.UriSanInput"}}, `)
		fmt.Fprintf(&b, `"value_match": {"exact": "spiffe://trust-domain.mesh/ns/a/sa/%s"}}}, "on_match": {"action": {"name": "a", "typed_config": {"@type": "type.googleapis.com/envoy.config.rbac.v3.Action", "name": "p"}}}}]}}}},`, name(i))
		fmt.Fprintf(&b, `{"name": "tcp", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", "stat_prefix": "s%d", "cluster": "c%d"}}]}`, i, i)
	}
	b.WriteString("]}")
	return b.Bytes()
}

func sameText(int) string { return "same" }

func distinct(i int) string { return fmt.Sprint("caller", i) }

// Equal chains have one proof, and each of them is told about.
func TestEqualChains(t *testing.T) {
	t.Parallel()
	found, err := sidecar.Dump(chains(300, func(i int) string { return fmt.Sprint("caller", i%3) }))
	if err != nil {
		t.Fatal(err)
	}
	v, err := match(t, somePolicy, false, found)
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Replays) != 3 {
		t.Fatalf("%d replays", len(v.Replays))
	}
	for i, r := range v.Replays {
		want := fmt.Sprintf("backend/%d on listener inbound, chain c%d, and 99 inbounds with equal filters", 1024+i, i)
		if len(r.Inbounds) != 100 || r.Proof.Case.Name != want {
			t.Errorf("replay %d is of %d inbounds: %s, want %s", i, len(r.Inbounds), r.Proof.Case.Name, want)
		}
	}
	if all := v.equal(); len(all) != 3 || len(all[v.Replays[0].Proof.Case.Name]) != 100 {
		t.Errorf("equal are %v", all)
	}
	// No chain demands mTLS.
	if len(v.Unverified) != 300 {
		t.Errorf("%d inbounds are told about", len(v.Unverified))
	}
}

// Policies may say something else of one of several equal chains.
func TestEqualChainsOfOtherPolicies(t *testing.T) {
	t.Parallel()
	found, err := sidecar.Dump(chains(3, sameText))
	if err != nil {
		t.Fatal(err)
	}
	const policies = `type: Dataplane
mesh: default
name: web
networking: {address: 10.0.0.7, inbound: [{port: 1024}, {port: 1025}, {port: 1026, name: special}]}
---
type: MeshTrafficPermission
mesh: default
name: p
spec:
  targetRef: {kind: Dataplane, sectionName: special}
  rules: [{default: {allow: [{spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/ns/a/sa/same}}]}}]
`
	v, err := match(t, policies, false, found)
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Replays) != 2 || len(v.Replays[0].Inbounds) != 2 {
		t.Errorf("%d replays: %+v", len(v.Replays), v.Replays)
	}
}

// Too many chains that differ are refused before any of them is proven, and the end of the
// context ends the work.
func TestTooManyChains(t *testing.T) {
	t.Parallel()
	found, err := sidecar.Dump(chains(mostReplays+1, distinct))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := match(t, somePolicy, false, found); err == nil || !strings.Contains(err.Error(), "the sidecar has more than 500 inbounds that differ: verify a part of its listeners at a time") {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	cancel(stop)
	if _, err := Match(ctx, nil, files(t, somePolicy), false, "", nil, found); !errors.Is(err, stop) {
		t.Errorf("error %v", err)
	}
}

// BenchmarkChains reads and matches a sidecar of 20,000 filter chains.
func BenchmarkChains(b *testing.B) {
	for name, of := range map[string]func(int) string{"equal": sameText, "distinct": distinct} {
		b.Run(name, func(b *testing.B) {
			text := chains(20_000, of)
			for b.Loop() {
				began := time.Now()
				found, err := sidecar.Dump(text)
				if err != nil {
					b.Fatal(err)
				}
				read := time.Since(began)
				_, err = match(b, somePolicy, false, found)
				if (err == nil) != (name == "equal") {
					b.Fatal(err)
				}
				b.ReportMetric(read.Seconds(), "read-s/op")
			}
		})
	}
}
