package manifestdiff_test

import (
	"testing"

	"github.com/meshproof/meshproof/internal/kinds"
	"github.com/meshproof/meshproof/internal/manifestdiff"
	"github.com/meshproof/meshproof/policy/manifest"
)

// TestFilesOfRepositories has files by which a repository is kept, beside a kustomization. They pass, unless something names them.
func TestFilesOfRepositories(t *testing.T) {
	t.Parallel()
	side := func(t *testing.T, file, text, patches string) manifestdiff.Side {
		t.Helper()
		out := manifestdiff.Side{Root: "root"}
		for name, text := range map[string]string{"root/p.yaml": policy, "root/kustomization.yaml": "resources: [p.yaml]\n" + patches, "root/" + file: text} {
			docs, err := manifest.Parse(name, []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			own, others, err := kinds.Split(name, docs)
			if err != nil {
				t.Fatal(err)
			}
			out.Policies, out.Others, out.Placed = append(out.Policies, own...), append(out.Others, others...), append(out.Placed, docs...)
		}
		return out
	}
	for name, tt := range map[string]struct {
		file, patches string
		passes        bool
	}{
		"hooks":                       {".pre-commit-config.yaml", "", true},
		"a linter":                    {".yamllint.yml", "", true},
		"a linter below":              {"a/.yamllint.yml", "", true},
		"updates of a forge":          {".github/dependabot.yml", "", true},
		"updates elsewhere":           {"apps/dependabot.yml", "", false},
		"a workflow":                  {".github/workflows/release.yaml", "", false},
		"values":                      {"values.yaml", "", false},
		"values with a dot":           {".values.yaml", "", false},
		"a patch with such a name":    {".yamllint.yml", "patches: [{path: .yamllint.yml}]\n", false},
		"a file with a longer ending": {".yamllint.prod.yml", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changes := manifestdiff.Changes(side(t, tt.file, "a: b\n", tt.patches), side(t, tt.file, "a: c\n", tt.patches))
			if (len(changes) == 0) != tt.passes {
				t.Errorf("%s", textOf(changes))
			}
		})
	}
}
