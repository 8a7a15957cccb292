package legacy_test

import (
	"fmt"
	"testing"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
	"github.com/meshproof/meshproof/policy/kuma/internal/legacy"
)

// manyItems returns n items with two tags and alternating actions, so that no items can be
// merged.
func manyItems(n int) []legacy.Item {
	items := []legacy.Item{{Action: legacy.Deny}}
	for i := range n - 1 {
		items = append(items, legacy.Item{
			Tags:   []legacy.Tag{legacy.Label("app", fmt.Sprintf("app-%d", i)), legacy.Label("env", fmt.Sprintf("env-%d", i%7))},
			Action: legacy.Action(i % 4),
		})
	}
	return items
}

// BenchmarkCompact500x6 compiles gate and shadow of six inbounds.
func BenchmarkCompact500x6(b *testing.B) {
	items := manyItems(500)
	b.ReportAllocs()
	for b.Loop() {
		for range 6 {
			legacy.Gates(items, legacy.Options{})
		}
	}
}

func independent(n int) []legacy.Item {
	var items []legacy.Item
	for i := range n {
		items = append(items, legacy.Item{Tags: []legacy.Tag{label(i)}, Action: legacy.Action(i % 2)})
	}
	return items
}

func BenchmarkCompact14Tags(b *testing.B) {
	items := independent(14)
	b.ReportAllocs()
	for b.Loop() {
		legacy.Gates(items, legacy.Options{})
	}
}

// BenchmarkFull12Tags is the largest view that is not refused.
func BenchmarkFull12Tags(b *testing.B) {
	items := independent(12)
	b.ReportAllocs()
	for b.Loop() {
		legacy.Gates(items, legacy.Options{Compiler: legacy.Full})
	}
}

// tagItems returns items with one tag each, which allow and deny in turn.
func tagItems(n int) (out []legacy.Item) {
	for i := range n {
		out = append(out, legacy.Item{Tags: []legacy.Tag{legacy.Label(fmt.Sprint("key-", i), "on")}, Action: []legacy.Action{legacy.Allow, legacy.Deny}[i%2]})
	}
	return out
}

// BenchmarkClassesOfTags has independent tags. The full view has a class for each
// combination, the compact form one for each item.
func BenchmarkClassesOfTags(b *testing.B) {
	for _, tt := range []struct {
		tags     int
		compiler legacy.Compiler
	}{{14, legacy.Compact}, {100, legacy.Compact}, {12, legacy.Full}} {
		gate, _ := legacy.Gates(tagItems(tt.tags), legacy.Options{Compiler: tt.compiler})
		b.Run(fmt.Sprint(tt.tags, "/", tt.compiler), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				cover := classes.Cut(classes.Surface{Protocol: policy.TCP}, policy.Program{Gates: []policy.Gate{gate}})
				b.ReportMetric(float64(len(cover.Classes)), "classes")
			}
		})
	}
}
