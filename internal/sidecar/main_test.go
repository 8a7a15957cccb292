package sidecar

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "rewrite the golden files, and record the dump of a running Envoy")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("rerun with -update if this is meant (-golden +got):\n%s", diff)
	}
}

func testdata(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// describe prints all of a Sidecar, for golden files.
func describe(t *testing.T, s Sidecar) string {
	t.Helper()
	var b strings.Builder
	for _, in := range s.Inbounds {
		fmt.Fprintf(&b, "inbound %s / %s\n  %s %s %s stat %q", in.Listener, in.Chain, in.Address, in.Protocol, in.Transport, in.StatPrefix)
		for _, flag := range []struct {
			set  bool
			name string
		}{{in.Permissive, "permissive"}, {in.Incomplete, "incomplete"}, {in.Unguarded(), "unguarded"}, {in.UseRemoteAddress, "use_remote_address"}} {
			if flag.set {
				b.WriteString(" " + flag.name)
			}
		}
		b.WriteString("\n")
		if in.Protocol != policy.TCP {
			fmt.Fprintf(&b, "  normalization %+v, XFCC %s\n", in.Normalization, in.ForwardClientCert)
		}
		if in.Match != nil {
			fmt.Fprintf(&b, "  match %s\n", compact(t, in.Match))
		}
		for _, g := range in.Guards {
			fmt.Fprintf(&b, "  guard %+v\n", g)
		}
		for _, m := range in.Filters.Messages() {
			fmt.Fprintf(&b, "  %s %s\n", m.ProtoReflect().Descriptor().FullName(), compact(t, m))
		}
	}
	for _, u := range s.Unknown {
		fmt.Fprintf(&b, "%s %s\n", u.Kind, u)
	}
	for _, skipped := range s.Skipped {
		fmt.Fprintf(&b, "skipped %s/%s: %s\n", skipped.Listener, skipped.Chain, skipped.Reason)
	}
	return b.String()
}

// compact prints a message on one line, without protojson's random white space.
func compact(t *testing.T, m proto.Message) string {
	t.Helper()
	raw, err := protojson.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := json.Compact(&out, raw); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func dump(t *testing.T, data []byte) Sidecar {
	t.Helper()
	s, err := Dump(data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Dumps in the forms that released control planes make, written by hand.
func TestDumpOfOtherMeshes(t *testing.T) {
	t.Parallel()
	for _, mesh := range []string{"kuma", "istio"} {
		t.Run(mesh, func(t *testing.T) {
			t.Parallel()
			golden(t, mesh+".golden", describe(t, dump(t, testdata(t, mesh+".json"))))
		})
	}
}

// packable holds that a filter can be sent.
func packable(t *testing.T, m proto.Message) {
	t.Helper()
	if _, err := proto.Marshal(m); err != nil {
		t.Error(err)
	}
}
