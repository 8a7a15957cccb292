package objectname_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/objectname"
)

// Names that Kubernetes takes have no problem, and each other name has one that names it.
func TestProblem(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		render     func(string) string
		name, want string
	}{
		{objectname.Problem, "shop.v1-a", ""},
		{objectname.Problem, "", "a name is required"},
		{objectname.Problem, "Shop", `"Shop" is no name of a Kubernetes object: `},
		{objectname.Problem, "a/b", `"a/b" is no name of a Kubernetes object: `},
		{objectname.NamespaceProblem, "shop-1", ""},
		{objectname.NamespaceProblem, "shop.v1", `"shop.v1" is no namespace: `},
		{objectname.NamespaceProblem, "", `"" is no namespace: `},
	} {
		if got := test.render(test.name); !strings.HasPrefix(got, test.want) || (got == "") != (test.want == "") {
			t.Errorf("%q: %q, want %q", test.name, got, test.want)
		}
	}
}
