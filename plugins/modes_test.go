package plugins

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// peerPolicy draws a PeerAuthentication.
func peerPolicy(r *rand.Rand, name string) map[string]any {
	pick := func(of ...any) any { return of[r.IntN(len(of))] }
	mode := func() any {
		return pick(map[string]any{}, map[string]any{"mode": "UNSET"}, map[string]any{"mode": "STRICT"}, map[string]any{"mode": "PERMISSIVE"}, map[string]any{"mode": "DISABLE"})
	}
	spec := map[string]any{}
	labels, _ := pick(nil, map[string]any{}, map[string]any{"app": "a"}, map[string]any{"app": "a", "tier": "b"}, map[string]any{"app": "x"}).(map[string]any)
	if labels != nil {
		spec["selector"] = map[string]any{"matchLabels": labels}
	}
	if r.IntN(4) > 0 {
		spec["mtls"] = mode()
	}
	if len(labels) > 0 && r.IntN(3) > 0 {
		spec["portLevelMtls"] = map[string]any{fmt.Sprint(pick(8080, 9090)): mode()}
	}
	return map[string]any{
		"apiVersion": pick("security.istio.io/v1", "security.istio.io/v1beta1"), "kind": "PeerAuthentication", "spec": spec,
		"metadata": map[string]any{"name": name, "namespace": pick("istio-system", "shop", "shop", "shop", "bank"), "creationTimestamp": fmt.Sprintf("2026-01-0%dT00:00:00Z", 1+r.IntN(3))},
	}
}

// names go on behind each other, so that their order is told where several are of one time.
var names = []string{"p-a", "p", "p0", "p.a", "pa"}

// TestModes writes down which callers an inbound takes under drawn PeerAuthentications. A test
// of plugins/istio holds the file against Istio's code.
func TestModes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var lines strings.Builder
	for range 100 {
		var line struct {
			Policies []json.RawMessage `json:"policies"`
			Modes    map[string]string `json:"modes"`
		}
		var docs []manifest.Document
		for i := range 1 + r.IntN(5) {
			text, err := json.Marshal(peerPolicy(r, names[i]))
			if err != nil {
				t.Fatal(err)
			}
			line.Policies, docs = append(line.Policies, text), append(docs, read(t, string(text))...)
		}
		set, err := dialect.Parse(docs, language.Options{})
		if err != nil {
			t.Fatal(err)
		}
		line.Modes = map[string]string{}
		for _, port := range []uint16{7070, 8080, 9090} {
			in := policy.Inbound{Port: port, Protocol: policy.HTTP, Workload: policy.Workload{Name: "w", Namespace: "shop", Labels: map[string]string{"app": "a", "tier": "b"}}}
			if err := set.Check(in); err != nil {
				t.Fatal(err)
			}
			program := set.Program(in)
			line.Modes[fmt.Sprint(port)] = cmp.Or(program.MTLS, program.DefaultMTLS).String()
		}
		text, err := json.Marshal(line)
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(text, '\n'))
	}
	golden.Compare(t, "../istio/testdata/modes.jsonl", lines.String())
}
