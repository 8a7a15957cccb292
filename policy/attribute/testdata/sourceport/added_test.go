package xds_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
	"github.com/meshproof/meshproof/xds"
	"github.com/meshproof/meshproof/xds/lift"
)

// TestAddedAttribute asks every user of the tables for the added attribute.
func TestAddedAttribute(t *testing.T) {
	verdict := func(effect policy.Effect, origin string) policy.Verdict {
		return policy.Verdict{Effect: effect, Origin: origin}
	}
	p := policy.Program{Gates: []policy.Gate{{
		Default: verdict(policy.Deny, "default"),
		Rules:   []policy.Rule{{Verdict: verdict(policy.Allow, "p"), When: attribute.SourcePort.Exact("8080")}},
	}}}
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	for port, want := range map[string]policy.Effect{"8080": policy.Allow, "80": policy.Deny} {
		if got := policy.Decide(p, policy.Request{Others: map[string][]string{"source-port": {port}}}); got.Effect != want {
			t.Errorf("port %s: %s, want %s", port, got.Effect, want)
		}
	}
	filters, err := xds.Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	if back, lost := lift.Program(filters, 0); len(lost) > 0 || back.String() != p.String() {
		t.Errorf("the filters say\n%slost %q, want\n%s", back, lost, p)
	}
	cover := classes.Cut(classes.Surface{Protocol: policy.TCP}, p)
	var got []string
	for _, class := range cover.Classes {
		got = append(got, fmt.Sprint(class, ": ", class.Witness.Others["source-port"], " ", policy.Decide(p, class.Witness).Effect))
	}
	if want := []string{"any other source-port: [80] deny", "source-port 8080: [8080] allow"}; !slices.Equal(got, want) || !cover.Complete() {
		t.Errorf("classes %q, want %q, of %s", got, want, cover)
	}
	if cover.Neighbours(1) == nil {
		t.Error("the class of source port 8080 has no neighbour")
	}
}
