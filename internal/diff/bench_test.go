package diff

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/policy"
)

// BenchmarkDiff5000 compares 5,000 policies with a version of which a tenth changed: all on one
// inbound, and each on an inbound that is made for it.
func BenchmarkDiff5000(b *testing.B) {
	for name, target := range map[string]func(i int) string{
		"one_inbound":   func(int) string { return "{kind: Mesh}" },
		"made_inbounds": func(i int) string { return fmt.Sprintf("{kind: Dataplane, labels: {app: a%d}}", i) },
	} {
		b.Run(name, func(b *testing.B) {
			side := func(change string) Side {
				var text strings.Builder
				for i := range 5000 {
					more := change
					if i%10 > 0 {
						more = ""
					}
					fmt.Fprintf(&text, "---\n{type: MeshTrafficPermission, mesh: default, name: p%d, spec: {targetRef: %s, default: {allow: [{spiffeId: {type: Exact, value: spiffe://td/ns/n%d/sa/a%s}}]}}}\n", i, target(i), i, more)
				}
				path := filepath.Join(b.TempDir(), "p.yaml")
				if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
					b.Fatal(err)
				}
				files, err := Open(lab.Choice{}, path)
				if err != nil {
					b.Fatal(err)
				}
				return Side{files, lab.Surroundings{Inbound: policy.Inbound{Port: 8080, Workload: policy.Workload{Name: "backend", Namespace: "default", Mesh: "default"}}}}
			}
			old, recent := side(""), side("x")
			b.ReportAllocs()
			for b.Loop() {
				d, err := Diff(old, recent, "")
				if err != nil || d.counts()[Widened] != 500 {
					b.Fatal(err, d.counts())
				}
			}
		})
	}
}
