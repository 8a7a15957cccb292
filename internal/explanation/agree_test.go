package explanation_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/explanation"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/internal/verdict"
)

// TestAgreesWithRuns holds that explain tells of every request of the built-in cases what a run expects of
// Envoy: which of mTLS, the path, the token and the policies answers, and the policy that decides.
func TestAgreesWithRuns(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../cases/*/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			agree(t, name)
		})
	}
}

func agree(t *testing.T, name string) {
	t.Helper()
	files, err := lab.Open(lab.Choice{}, name)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range files.Cases {
		reading, err := verdict.Read(c)
		if err != nil {
			continue
		}
		of := *files
		of.Cases = of.Cases[:0:0]
		of.Cases = append(of.Cases, c)
		subjects, err := of.Subjects("", lab.Surroundings{})
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		for _, in := range reading.Inbounds() {
			for _, q := range c.Requests {
				if q.To != in.String() {
					continue
				}
				want := expected(in.Expect(q))
				for _, s := range subjects {
					if s.Inbound.String() != q.To || want == "" || isCompleted(q.Token, want) {
						continue
					}
					got, err := explanation.Explain([]lab.Subject{s}, explanation.Caller{Name: q.From.Name}, q)
					if err != nil {
						t.Errorf("%s: %s: %v", c.Name, q.To+" "+q.Method+" "+q.Path, err)
					} else if !strings.HasPrefix(got[0].Decision, want) {
						t.Errorf("%s: %s from %s: explain says %q, and a run %q", c.Name, q.To+" "+q.Method+" "+q.Path, q.From.Name, got[0].Decision, want)
					}
				}
			}
		}
	}
}

// isCompleted reports whether explain asks another token than a run: it adds an issuer, and an audience of that issuer, where a
// token has none.
func isCompleted(t *token.Token, want string) bool {
	return t != nil && (t.Claims["iss"] == nil || t.Claims["aud"] == nil && want == "403: ")
}

// expected is how the decision of explain begins.
func expected(e verdict.Expectation) string {
	switch e := e.(type) {
	case verdict.HandshakeFails:
		return "handshake-failure: "
	case verdict.Rejected:
		return fmt.Sprintf("%d: ", e.Status)
	case verdict.Unjudged:
		return "allow: no policy judges plaintext"
	case verdict.Judged:
		return e.Decision.Verdict.String()
	}
	return ""
}
