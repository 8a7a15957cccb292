package plugin

import (
	"context"
	"testing"

	"github.com/meshproof/meshproof/policy/dialect"
)

// BenchmarkCompile measures what the protocol adds to a compiler: a request with a
// small policy, and an answer without filters.
func BenchmarkCompile(b *testing.B) {
	c, err := Start(context.Background(), helper("parrot"), Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	policies := parse(b, `answer: '{"id": ID, "filters": {}}'`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Compile(context.Background(), backend, policies, dialect.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
