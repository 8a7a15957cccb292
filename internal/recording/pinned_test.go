package recording

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestRecordingsAreOfThePinnedCompilers shows that the answers were recorded with the version of the
// mesh that the compiler is built with today. Those of an older version would say nothing of it.
func TestRecordingsAreOfThePinnedCompilers(t *testing.T) {
	t.Parallel()
	for name, module := range map[string]string{"istio": "istio.io/istio", "cilium": "github.com/cilium/cilium"} {
		text, err := os.ReadFile("../../plugins/" + name + "/go.mod")
		if err != nil {
			t.Fatal(err)
		}
		pinned := regexp.MustCompile(`(?m)^\t` + regexp.QuoteMeta(module) + ` (\S+)$`).FindSubmatch(text)
		if replaced := regexp.MustCompile(`(?m)^(replace)?\s*` + regexp.QuoteMeta(module) + `(\s+v\S+)?\s+=>`).Find(text); replaced != nil {
			t.Errorf("%s: go.mod has %q: the compiler is then no release of the mesh", name, replaced)
		}
		r, err := Read("../../plugins/" + name + "/testdata/answers.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		if pinned == nil || r.Version() != string(pinned[1]) {
			t.Errorf("%s: the answers are of version %s, and go.mod pins %q: record again with make fourth", name, r.Version(), pinned)
		}
	}
}

// A recording has one answer to a question.
func TestTwoAnswers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "answers.jsonl")
	const text = "{\"compiler\":\"c\",\"protocol\":1}\n{\"question\":\"a\",\"answer\":{}}\n{\"question\":\"a\",\"answer\":{\"error\":\"x\"}}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); !errors.Is(err, errTwice) {
		t.Errorf("got %v", err)
	}
}
