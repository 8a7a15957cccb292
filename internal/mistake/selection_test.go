package mistake_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/mistake"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// A mistake in the selection of policies takes the inbound for another one, or lacks a policy.
func TestInSelection(t *testing.T) {
	t.Parallel()
	program := func(name string) policy.Program {
		return policy.Program{Gates: []policy.Gate{{Rules: []policy.Rule{{Verdict: policy.Verdict{Effect: policy.Allow, Origin: name}, When: attribute.Identity.Exact(name)}}}}}
	}
	own := policy.Inbound{Workload: policy.Workload{Name: "a", Namespace: "n", Labels: map[string]string{"app": "backend"}}, Name: "http", Port: 8080, Tags: map[string]string{"tag": "bad"}}
	other := own
	other.Name, other.Port = "admin", 9090
	elsewhere := policy.Inbound{Workload: policy.Workload{Name: "b", Namespace: "n"}, Port: 8080}
	selection := mistake.Selection{
		Inbound: own, OtherInbounds: []policy.Inbound{other, elsewhere}, Namespaces: []string{"n", "root"}, Policies: []string{"p", "q"}, Texts: []string{"", "a", "back", "backend", "backend-2", "ba", "frontend"},
		Program: func(in policy.Inbound) policy.Program {
			return program(in.Workload.Namespace + "/" + in.String() + " " + in.Workload.Labels["app"] + " " + in.Tags["tag"])
		},
		ProgramWithout: func(i int) (policy.Program, bool) { return program("none"), i == 0 },
	}
	var got []string
	for _, m := range mistake.InSelection(selection) {
		got = append(got, m.Kind.String()+", "+m.Where+": "+m.Program.Gates[0].Rules[0].Origin)
	}
	want := []string{
		"policy not applied, p: none",
		"policies of another port applied, those of a/admin: n/a/admin backend bad",
		"policies of another workload applied, those of b: n/b/http  ",
		"policies of another port applied, those of port 8081: n/a/8081 backend bad",
		"policies of another namespace applied, those of root: root/a/http backend bad",
		"beginning of a label compared, app=ba: n/a/http ba bad",
		"beginning of a label compared, tag=ba: n/a/http backend ba",
		"beginning of a label compared, app=back: n/a/http back bad",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
