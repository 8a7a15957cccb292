package lint_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/fixture"
	"github.com/meshproof/meshproof/policy/kuma/internal/lint"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
)

func TestSection(t *testing.T) {
	t.Parallel()
	for want, ref := range map[string]string{"": "{kind: Dataplane}", "http-port": "{kind: Dataplane, sectionName: http-port}"} {
		p := fixture.Parse(t, "{type: MeshTrafficPermission, name: p, spec: {targetRef: "+ref+"}}")[0]
		if got := p.Target.Section; got != want {
			t.Errorf("%s has section %q, want %q", ref, got, want)
		}
	}
}

// An allow that is hidden on one inbound and works on another causes no warning, and neither
// does a policy without an inbound.
func TestLook(t *testing.T) {
	t.Parallel()
	ps := fixture.Parse(t, `
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
		"one inbound": {fixture.Inbounds()[:1], []string{"kri_mtp_default___nowhere_"}, []string{"kri_mtp_default___opens_"}},
		"two":         {fixture.Inbounds()[:2], []string{"kri_mtp_default___nowhere_"}, nil},
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
