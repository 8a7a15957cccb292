package plainheader_test

import (
	"fmt"
	"testing"

	"github.com/meshproof/meshproof/internal/plainheader"
	"github.com/meshproof/meshproof/policy"
)

// The lines of a header are texts of their own, and one text where the codec or the matcher joins
// them.
func TestLines(t *testing.T) {
	t.Parallel()
	r := policy.Request{Method: "GET", Path: "/a?b", Host: "shop.example", Headers: []policy.Header{
		{Name: "x-role", Value: "user"}, {Name: "accept", Value: "a"}, {Name: "x-role", Value: ""}, {Name: "accept", Value: ""}, {Name: "x-role", Value: "admin"}, {Name: "accept", Value: "b"}, {Name: "x-one", Value: ""},
	}}
	for _, test := range []struct {
		name  string
		joins bool
		want  string
	}{
		{"x-role", false, `["user" "" "admin"]`},
		{"x-role", true, `["user,,admin"]`},
		{"accept", false, `["a,b"]`},
		{"accept", true, `["a,b"]`},
		{"x-one", true, `[""]`},
		{"x-none", true, `[]`},
		{"host", true, `["shop.example"]`},
		{":authority", false, `["shop.example"]`},
		{":path", false, `["/a?b"]`},
		{":method", false, `["GET"]`},
	} {
		if got := fmt.Sprintf("%q", plainheader.Lines(r, test.name, test.joins)); got != test.want {
			t.Errorf("%s, joined %t: %s, want %s", test.name, test.joins, got, test.want)
		}
	}
}
