package verdict_test

import (
	"testing"

	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// TestOnItsPort answers every question for the port, and no other.
func TestOnItsPort(t *testing.T) {
	t.Parallel()
	ports := policy.Is{Attribute: attribute.DestinationPort, Match: policy.Match{Kind: policy.Range, Value: "8000-8999"}}
	path := attribute.Path.Exact("/a")
	rules := []policy.Rule{{When: policy.And{ports, path}, Then: []policy.Rule{{When: policy.Not{Condition: attribute.DestinationPort.Exact("8080")}}}}, {When: nil}}
	gates := []policy.Gate{{Layer: policy.L7, Rules: rules}}
	p := policy.Program{Gates: gates, Shadows: gates, Routes: []policy.Route{{Name: "r", When: path, Gates: gates, Shadows: gates}}}
	before := p.String()
	for port, want := range map[uint16]policy.Constant{8080: policy.Always, 9090: policy.Never} {
		var in verdict.Inbound
		in.Port, in.Program.Program = port, p
		settled := in.OnItsPort()
		for c := range settled.Conditions() {
			if is, ok := c.(policy.Is); ok && is.Attribute == attribute.DestinationPort {
				t.Errorf("port %d: it still asks for the port:\n%s", port, settled)
			}
		}
		if got := settled.Routes[0].Shadows[0].Rules[0].When.(policy.And); got[0] != want || got[1] != policy.Condition(path) {
			t.Errorf("port %d: %s", port, settled)
		}
	}
	if p.String() != before {
		t.Error("the given program was changed")
	}
}
