package classes_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
)

// cells returns the classes with their witnesses.
func cells(cover *classes.Cover, value func(r policy.Request) string) (out []string) {
	for _, c := range cover.Classes {
		out = append(out, fmt.Sprintf("%s: %s", c, value(c.Witness)))
	}
	return out
}

func portText(r policy.Request) string { return fmt.Sprint(r.Port) }

// TestPortCells cuts ports by ranges that lie apart, inside each other and across each other.
func TestPortCells(t *testing.T) {
	t.Parallel()
	tcp := classes.Surface{Protocol: policy.TCP}
	for _, tt := range []struct {
		on         classes.Surface
		conditions []policy.Condition
		want       []string
	}{
		{tcp, []policy.Condition{by(attribute.DestinationPort, policy.Range, "8000-8999")},
			[]string{"any other destination port: 1", "destination port 8000-8999: 8080"}},
		{tcp, []policy.Condition{by(attribute.DestinationPort, policy.Range, "8000-8999"), attribute.DestinationPort.Exact("9090")},
			[]string{"any other destination port: 1", "destination port 8000-8999: 8080", "destination port 9090: 9090"}},
		{tcp, []policy.Condition{by(attribute.DestinationPort, policy.Range, "1-65535")}, []string{"destination port 1-65535: 8080"}},
		{classes.Surface{Protocol: policy.TCP, Ports: []uint16{9090}}, []policy.Condition{by(attribute.DestinationPort, policy.Range, "8000-8999")},
			[]string{"any other destination port: 9090"}},
		{classes.Surface{Protocol: policy.TCP, Ports: []uint16{9090, 8080, 80}}, []policy.Condition{by(attribute.DestinationPort, policy.Range, "8000-8999")},
			[]string{"any other destination port: 80", "destination port 8000-8999: 8080"}},
	} {
		cover := classes.Of(tt.on, ordered(tt.conditions...))
		if diff := cmp.Diff(tt.want, cells(cover, portText)); diff != "" || !cover.Complete() {
			t.Errorf("%v (-want +got):\n%s%s", tt.conditions, diff, cover)
		}
	}
}
