package cases_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/meshproof/meshproof/cases"
)

// archive returns the files of a txtar file. Each is cut into the text after "# want " on its
// first line, and the rest.
func archive(t testing.TB, path string) map[string][2]string {
	t.Helper()
	a, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][2]string{}
	for _, file := range a.Files {
		head, body, _ := strings.Cut(string(file.Data), "\n")
		want, ok := strings.CutPrefix(head, "# want ")
		if _, taken := out[file.Name]; !ok || taken {
			t.Fatalf("%s: %s: no # want line, or a second file of that name", path, file.Name)
		}
		out[file.Name] = [2]string{want, body}
	}
	if len(out) == 0 {
		t.Fatalf("%s: the archive is empty", path)
	}
	return out
}

// refusal returns all errors of a case file on one line.
func refusal(t *testing.T, text string) string {
	t.Helper()
	_, err := cases.Parse("c.yaml", []byte(text))
	if err == nil {
		t.Fatalf("not refused:\n%s", text)
	}
	return strings.ReplaceAll(err.Error(), "\n", " and ")
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for name, file := range archive(t, "testdata/refusals.txtar") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(file[0], refusal(t, file[1])); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseRefusesRequests(t *testing.T) {
	t.Parallel()
	for name, file := range archive(t, "testdata/requests.txtar") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff("cases: c.yaml:"+file[0], refusal(t, prelude+file[1])); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestRequestLimit has lists that cross to more requests than memory holds.
func TestRequestLimit(t *testing.T) {
	t.Parallel()
	list := func(item string, n int) string { return "[" + strings.Repeat(item+", ", n) + "]" }
	request := func(from, to, method, path int) string {
		return fmt.Sprintf("  - {from: %s, to: %s, method: %s, path: %s, want: allow}\n", list("w", from), list("w/80", to), list("GET", method), list("/", path))
	}
	const want = "cases: c.yaml:%d: requests[%d]: the lists cross to more requests than one case may have, which is 60000: split the case"
	for name, tt := range map[string]struct{ requests, want string }{
		"in one request":  {request(20, 20, 20, 20), fmt.Sprintf(want, 4, 0)},
		"in two requests": {request(1, 6, 100, 100) + request(1, 1, 1, 1), fmt.Sprintf(want, 5, 1)},
		"beyond memory":   {request(300, 300, 300, 300), fmt.Sprintf(want, 4, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := refusal(t, prelude+tt.requests); got != tt.want {
				t.Errorf("got %.300s, want %s", got, tt.want)
			}
		})
	}
	all, err := cases.Parse("c.yaml", []byte(prelude+request(1, 6, 100, 100)))
	if err != nil || len(all) != 1 || len(all[0].Requests) != 60_000 {
		t.Errorf("as many as a case may have: %v", err)
	}
}
