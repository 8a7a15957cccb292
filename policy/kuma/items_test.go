package kuma_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/lint"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
)

func TestItems(t *testing.T) {
	t.Parallel()
	exact := func(value string) *policy.Match {
		return &policy.Match{Kind: policy.Exact, Value: value}
	}
	for name, tt := range map[string]struct {
		spec string
		want []permission.Item
	}{
		"nothing":   {"{}", []permission.Item{}},
		"no lists":  {"{default: {}}", []permission.Item{{}}},
		"one list":  {"{default: {allow: [{method: GET}]}}", []permission.Item{{Conf: permission.Conf{Allow: []permission.Match{{Method: "GET"}}}}}},
		"empty one": {"{default: {deny: []}}", []permission.Item{{Conf: permission.Conf{Deny: []permission.Match{}}}}},
		"spellings": {"{rules: [{default: {deny: [{spiffeId: {type: Exact, value: 'spiffe://td/a'}}, {spiffeID: {type: Exact, value: 'spiffe://td/b'}}]}}, {}]}", []permission.Item{
			{Conf: permission.Conf{Deny: []permission.Match{
				{Identity: exact("spiffe://td/a"), IdentityField: "spiffeId"}, {Identity: exact("spiffe://td/b"), IdentityField: "spiffeID"},
			}}}, {},
		}},
		"conditions": {"{rules: [{conditions: [{path: {type: Exact, value: /a}}], default: {action: Deny}}, {default: {action: Allow}}, {conditions: [], default: {action: Allow}}]}", []permission.Item{
			{Conf: permission.Conf{Action: "Deny"}, Conditions: []permission.Match{{Path: exact("/a")}}},
			{Conf: permission.Conf{Action: "Allow"}},
			{Conf: permission.Conf{Action: "Allow"}, Conditions: []permission.Match{}},
		}},
		"from": {"{from: [{targetRef: {kind: MeshSubset, mesh: other, tags: {env: dev}}, default: {action: DENY}}]}", []permission.Item{
			{Conf: permission.Conf{Action: "DENY"}, From: &permission.Clients{Kind: "MeshSubset", Mesh: "other", Tags: map[string]string{"env": "dev"}}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := parseAll(t, "{type: MeshTrafficPermission, name: p, spec: "+tt.spec+"}")[0]
			if diff := cmp.Diff(tt.want, p.Items()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What a policy hands out is a copy.
func TestItemsAreCopies(t *testing.T) {
	t.Parallel()
	p := parseAll(t, "{type: MeshTrafficPermission, name: p, spec: {default: {allow: [{spiffeId: {type: Exact, value: 'spiffe://td/a'}}]}}}")[0]
	want := p.Items()
	p.Items()[0].Conf.Allow[0].Identity.Value = "spiffe://td/b"
	if diff := cmp.Diff(want, p.Items()); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

func TestSection(t *testing.T) {
	t.Parallel()
	for want, ref := range map[string]string{"": "{kind: Dataplane}", "http-port": "{kind: Dataplane, sectionName: http-port}"} {
		p := parseAll(t, "{type: MeshTrafficPermission, name: p, spec: {targetRef: "+ref+"}}")[0]
		if got := p.Section(); got != want {
			t.Errorf("%s has section %q, want %q", ref, got, want)
		}
	}
}

// An allow that is hidden on one inbound and serves another is no finding, and
// neither is a policy without any inbound to select.
func TestLook(t *testing.T) {
	t.Parallel()
	ps := parseAll(t, `
{type: MeshTrafficPermission, name: opens, spec: {default: {allow: [{spiffeId: {type: Exact, value: spiffe://td/a}}]}}}
---
{type: MeshTrafficPermission, name: opts-out, spec: {targetRef: {kind: Dataplane, sectionName: http-port}, default: {deny: [{spiffeId: {type: Prefix, value: spiffe://td/}}]}}}
---
{type: MeshTrafficPermission, name: nowhere, spec: {targetRef: {kind: Dataplane, name: nobody}, default: {allow: [{method: GET}]}}}
`)
	for name, tt := range map[string]struct {
		inbounds     []policy.Inbound
		idle, hidden []string
	}{
		"no inbound":  {nil, nil, nil},
		"one inbound": {inbounds()[:1], []string{"kri_mtp_default___nowhere_"}, []string{"kri_mtp_default___opens_"}},
		"two":         {inbounds()[:2], []string{"kri_mtp_default___nowhere_"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := lint.TakeSurvey(ps, tt.inbounds, permission.Options{})
			if diff := cmp.Diff(tt.idle, policiesOf(got.Idle)); diff != "" {
				t.Errorf("idle (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.hidden, policiesOf(got.Hidden)); diff != "" {
				t.Errorf("hidden (-want +got):\n%s", diff)
			}
		})
	}
}

func policiesOf(ws []policy.Warning) (out []string) {
	for _, w := range ws {
		out = append(out, w.Policy)
	}
	return out
}
