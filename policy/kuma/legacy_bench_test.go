package kuma_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/policy/kuma/internal/fixture"
	"github.com/meshproof/meshproof/policy/kuma/internal/lowering"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
)

// manyFrom is the text of one policy with n items over two tags.
func manyFrom(n int) string {
	var b strings.Builder
	b.WriteString("type: MeshTrafficPermission\nname: a\nspec:\n  from:\n")
	actions := []string{"Deny", "Allow", "AllowWithShadowDeny", "DenyWithShadowAllow"}
	for i := range n {
		fmt.Fprintf(&b, "    - {targetRef: {kind: MeshSubset, tags: {app: app-%d, env: env-%d}}, default: {action: %s}}\n", i, i%7, actions[i%4])
	}
	return b.String()
}

// BenchmarkFrom500x6 selects and lowers 500 items for six inbounds.
func BenchmarkFrom500x6(b *testing.B) {
	ps, in := fixture.Parse(b, manyFrom(500)), fixture.Inbounds()[0]
	b.ReportAllocs()
	for b.Loop() {
		for range 6 {
			program := lowering.Lower(selection.Select(ps, in, permission.Options{}), in, permission.Options{})
			if len(program.Gates[0].Rules) != 1 {
				b.Fatal(program)
			}
		}
	}
}
