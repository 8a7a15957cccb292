package conversion_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/policy/kuma/internal/conversion"
	"github.com/meshproof/meshproof/policy/kuma/internal/fixture"
)

// TestToIstioRefuses holds that values which Istio reads otherwise are refused: a widened rule would
// let more callers in than the policy does.
func TestToIstioRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ matcher, want string }{
		"a method that begins with a text": {`method: "GET*"`, `Istio reads "GET*" otherwise, because a star stands for other text`},
		"a star as a method":               {`method: "*"`, `Istio reads "*" otherwise`},
		"two slashes":                      {`path: {type: Exact, value: /a//b}`, `Istio reads "/a//b" otherwise, because Kuma merges slashes`},
		"two slashes at the end":           {`path: {type: Prefix, value: /a//}`, `Istio reads "/a//" otherwise`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ps := fixture.Parse(t, "{type: MeshTrafficPermission, mesh: default, name: p, spec: {default: {allow: [{"+tt.matcher+"}]}}}")
			if got, err := conversion.ToIstio(ps); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q\n%s", err, tt.want, got.YAML)
			}
		})
	}
}

// Kuma selects what lacks a label by an empty value of it, and Istio does not.
func TestToIstioRefusesEmptyLabel(t *testing.T) {
	t.Parallel()
	ps := fixture.Parse(t, `{type: MeshTrafficPermission, mesh: default, name: p, spec: {targetRef: {kind: Dataplane, labels: {app: a, tier: ""}}, default: {allow: [{method: GET}]}}}`)
	if got, err := conversion.ToIstio(ps); err == nil || !strings.Contains(err.Error(), "an empty value of tier selects the workloads without the label too") {
		t.Errorf("%v\n%s", err, got.YAML)
	}
}
