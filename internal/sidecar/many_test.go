package sidecar

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"
)

// listeners returns the listeners of n inbounds, each with a cluster of its own.
func listeners(n int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"configs": [{"@type": "type.googleapis.com/envoy.admin.v3.ListenersConfigDump", "dynamic_listeners": [`)
	for i := range n {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"name": "l%d", "active_state": {"listener": {"@type": "type.googleapis.com/envoy.config.listener.v3.Listener", "name": "l%d", "traffic_direction": "INBOUND", `, i, i)
		fmt.Fprintf(&b, `"address": {"socket_address": {"address": "10.0.0.7", "port_value": %d}}, "filter_chains": [{"filters": [{"name": "tcp", "typed_config": {`, 1024+i)
		fmt.Fprintf(&b, `"@type": "type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", "stat_prefix": "s", "cluster": "c%d"}}]}]}}}`, i)
	}
	b.WriteString("]}]}")
	return b.Bytes()
}

// The memory that reading takes grows as the listeners do. Each inbound is held against the listeners
// of the ports that it leads to, not against all. The test is not parallel: it counts what the process
// allocates.
func TestManyListeners(t *testing.T) {
	allocated := func(n int) uint64 {
		text := listeners(n)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		found, err := Dump(text)
		runtime.ReadMemStats(&after)
		if err != nil || len(found.Inbounds) != n {
			t.Fatalf("%d inbounds, error %v", len(found.Inbounds), err)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	allocated(10)
	few, many := allocated(1000), allocated(4000)
	if many > 5*few {
		t.Errorf("1,000 listeners take %d bytes, 4,000 take %d", few, many)
	}
}
