package sidecar

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkDump reads a dump of a thousand inbounds with a matcher of a hundred
// identities each.
func BenchmarkDump(b *testing.B) {
	var matchers []string
	for i := range 100 {
		matchers = append(matchers, fmt.Sprintf(`{"predicate": {"single_predicate": %s}, %s}`, strings.Replace(identity, "spiffe://a/b", fmt.Sprintf("spiffe://a/%d", i), 1), onMatch))
	}
	listener := serving(l4(`"matcher": {"matcher_list": {"matchers": [` + strings.Join(matchers, ",") + `]}}`))
	var listeners []string
	for i := range 1000 {
		listeners = append(listeners, fmt.Sprintf(`{"name": "in%d", "active_state": {"listener": %s}}`, i, strings.Replace(listener, `"in"`, fmt.Sprintf(`"in%d"`, i), 1)))
	}
	data := []byte(`{"configs": [{"@type": "type.googleapis.com/envoy.admin.v3.ListenersConfigDump", "dynamic_listeners": [` + strings.Join(listeners, ",") + `]}]}`)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		s, err := Dump(data)
		if err != nil || len(s.Inbounds) != 1000 {
			b.Fatalf("%d inbounds, %v", len(s.Inbounds), err)
		}
	}
}
