package metadata_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/metadata"
)

// Names that Kubernetes takes have no problem, and each other name has one that names it.
func TestNameProblem(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		render     func(string) string
		name, want string
	}{
		{metadata.NameProblem, "shop.v1-a", ""},
		{metadata.NameProblem, "", "a name is required"},
		{metadata.NameProblem, "Shop", `"Shop" is no name of a Kubernetes object: `},
		{metadata.NameProblem, "a/b", `"a/b" is no name of a Kubernetes object: `},
		{metadata.NamespaceProblem, "shop-1", ""},
		{metadata.NamespaceProblem, "shop.v1", `"shop.v1" is no namespace: `},
		{metadata.NamespaceProblem, "", `"" is no namespace: `},
	} {
		if got := test.render(test.name); !strings.HasPrefix(got, test.want) || (got == "") != (test.want == "") {
			t.Errorf("%q: %q, want %q", test.name, got, test.want)
		}
	}
}
