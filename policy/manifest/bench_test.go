package manifest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/policy/manifest"
)

type benchPolicy struct {
	Type string            `yaml:"type"`
	Name string            `yaml:"name"`
	Spec manifest.Document `yaml:"spec"`
}

func repeat(n int, format string) []byte {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return []byte(b.String())
}

const (
	documentFormat = "---\ntype: T\nname: p-%d\nspec:\n  default:\n    allow:\n      - spiffeId:\n          type: Exact\n          value: spiffe://td/a\n"
	itemFormat     = "- type: T\n  name: p-%d\n  spec:\n    default:\n      allow:\n      - spiffeId:\n          type: Exact\n          value: spiffe://td/a\n"
)

// BenchmarkParse measures a stream of documents and one list at two sizes each: twice the text
// must take twice the time.
func BenchmarkParse(b *testing.B) {
	for name, format := range map[string]string{"documents": documentFormat, "items": itemFormat} {
		for _, n := range []int{5000, 10000} {
			data := append([]byte("policies:\n"), repeat(n, format)...)
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := manifest.Parse("b.yaml", data); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkDecode5000(b *testing.B) {
	docs, err := manifest.Parse("b.yaml", repeat(5000, documentFormat))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, doc := range docs {
			var p benchPolicy
			if err := doc.Decode(&p); err != nil {
				b.Fatal(err)
			}
		}
	}
}
