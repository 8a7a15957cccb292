package cases_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
)

// FuzzParse parses any text. The result is complete cases, or an error with the file in each
// line.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("kuma/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		// A short seed mutates better than a long one.
		for doc := range strings.SplitSeq(string(data), "\n---\n") {
			if len(doc) < 4<<10 {
				f.Add([]byte(doc))
			}
		}
	}
	for _, file := range archive(f, "testdata/refusals.txtar") {
		f.Add([]byte(file[1]))
	}
	for _, file := range archive(f, "testdata/requests.txtar") {
		f.Add([]byte(prelude + file[1]))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := cases.Parse("f.yaml", data)
		if err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				if !strings.HasPrefix(line, "cases: f.yaml") {
					t.Fatalf("an error without its place: %q", line)
				}
			}
			return
		}
		for _, c := range all {
			checkComplete(t, c)
		}
	})
}

// checkComplete checks the guarantees of the package for a case.
func checkComplete(t *testing.T, c cases.Case) {
	t.Helper()
	if c.Name == "" || !strings.HasPrefix(c.Place, "f.yaml:") || len(c.TrustDomains) == 0 {
		t.Fatalf("incomplete: %+v", c)
	}
	inbounds := map[string]bool{}
	for _, in := range c.Inbounds {
		if inbounds[in.String()] || in.Port == 0 || !in.IP.Is4() || in.Identity.IsZero() {
			t.Fatalf("inbound: %+v", in)
		}
		inbounds[in.String()] = true
	}
	for _, q := range c.Requests {
		signed := !q.From.SignedBy.IsZero()
		if !inbounds[q.To] || q.From.Name == "" || signed == (q.From.Plaintext || q.From.Anonymous) {
			t.Fatalf("request: %+v", q)
		}
	}
	for _, counters := range c.Counters {
		if !inbounds[counters.Inbound] {
			t.Fatalf("counters of no inbound: %+v", counters)
		}
	}
}
