package inspect

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/manifest"
)

func TestRules(t *testing.T) {
	t.Parallel()
	exact := func(value string) *Value { return &Value{Type: "Exact", Value: value} }
	for name, tt := range map[string]struct {
		spec string
		want []Rule
	}{
		"nothing":   {"{}", []Rule{}},
		"no lists":  {"{default: {}}", []Rule{{}}},
		"one list":  {"{default: {allow: [{method: GET}]}}", []Rule{{Conf: Conf{Allow: []Match{{Method: "GET"}}}}}},
		"empty one": {"{default: {deny: []}}", []Rule{{Conf: Conf{Deny: []Match{}}}}},
		"spellings": {"{rules: [{default: {deny: [{spiffeId: {type: Exact, value: 'spiffe://td/a'}}, {spiffeID: {type: Exact, value: 'spiffe://td/b'}}]}}, {}]}", []Rule{
			{Conf: Conf{Deny: []Match{
				{SPIFFEID: exact("spiffe://td/a")}, {SPIFFEIDUpper: exact("spiffe://td/b")},
			}}}, {},
		}},
		"conditions": {"{rules: [{conditions: [{path: {type: Exact, value: /a}}], default: {action: Deny}}, {default: {action: Allow}}, {conditions: [], default: {action: Allow}}]}", []Rule{
			{Conf: Conf{Action: "Deny"}, Conditions: []Match{{Path: exact("/a")}}},
			{Conf: Conf{Action: "Allow"}},
			{Conf: Conf{Action: "Allow"}, Conditions: []Match{}},
		}},
		"from": {"{from: [{targetRef: {kind: MeshSubset, mesh: other, tags: {env: dev}}, default: {action: DENY}}]}", []Rule{
			{Conf: Conf{Action: "DENY"}, From: &Clients{Kind: "MeshSubset", Mesh: "other", Tags: map[string]string{"env": "dev"}}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			docs, err := manifest.Parse("p.yaml", []byte("{type: MeshTrafficPermission, name: p, spec: "+tt.spec+"}"))
			if err != nil {
				t.Fatal(err)
			}
			p, err := permission.Parse(docs[0])
			if err != nil {
				t.Fatal(err)
			}
			for i := range tt.want {
				tt.want[i].Origin, tt.want[i].KRI = p.Origin, p.Origin
			}
			if diff := cmp.Diff(tt.want, newRules(p)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
