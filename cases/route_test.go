package cases_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// TestRoutes keeps the routes of an inbound in their order.
func TestRoutes(t *testing.T) {
	t.Parallel()
	got := parse(t, `
case: x
workloads:
  - name: w
    inbounds:
      - port: 80
        routes:
          - {name: b, path: {type: Prefix, value: /x}, method: GET}
          - {name: a, path: {type: Exact, value: /y/}}
          - {name: c, method: PUT}
      - {port: 81, protocol: grpc}
      - {port: 82, protocol: tcp}
expectWarning: []
`)
	want := []policy.InboundRoute{
		{Name: "b", When: policy.And{attribute.Path.Segments("/x"), attribute.Method.Exact("GET")}},
		{Name: "a", When: attribute.Path.Exact("/y/")},
		{Name: "c", When: attribute.Method.Exact("PUT")},
	}
	if diff := cmp.Diff(want, got.Inbounds[0].Routes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, in := range got.Inbounds[1:] {
		if in.Routes != nil {
			t.Errorf("%s has routes %v", in, in.Routes)
		}
	}
}
