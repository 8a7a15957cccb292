package messages

import (
	"testing"

	_ "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
)

func TestClosedChecksNames(t *testing.T) {
	t.Parallel()
	const address = "envoy.config.core.v3.SocketAddress"
	for name, tt := range map[string]struct {
		list Closed
		want string
	}{
		"sound":              {Closed{address: {Read: "address", "the port is told": "port_value protocol"}}, ""},
		"no such message":    {Closed{"envoy.Address": {}}, "there is no message envoy.Address"},
		"no such field":      {Closed{address: {Read: "adress"}}, address + ` has no field "adress", or the list has it twice`},
		"twice":              {Closed{address: {Read: "address address"}}, address + ` has no field "address", or the list has it twice`},
		"for two reasons":    {Closed{address: {Read: "address", "harmless": "address"}}, address + ` has no field "address", or the list has it twice`},
		"the name in camels": {Closed{address: {Read: "portValue"}}, address + ` has no field "portValue", or the list has it twice`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if err := tt.list.Check(); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
