package cases_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/cases"
)

var rewrite = flag.Bool("rewrite", false, "write the list of cases into the README")

// TestREADMELists compares the list of cases in the README with the cases.
func TestREADMELists(t *testing.T) {
	const file, begin, end = "../README.md", "<!-- covered -->\n", "<!-- /covered -->"
	readme, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, opened := strings.Cut(string(readme), begin)
	list, tail, closed := strings.Cut(rest, end)
	if !opened || !closed {
		t.Fatalf("%s has no place for the list: %q, then %q", file, begin, end)
	}
	want := covered(t)
	if *rewrite {
		if err := os.WriteFile(file, []byte(head+begin+want+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(list, want); diff != "" {
		t.Errorf("rerun with -rewrite (-README +cases):\n%s", diff)
	}
}

// covered returns the list: for each file, the first sentence of its first comment, and the
// numbers of its cases and requests.
func covered(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| cases | what they prove | cases | requests |\n|---|---|--:|--:|\n")
	files, err := filepath.Glob("*/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	total, requests := 0, 0
	for _, file := range files {
		read, err := cases.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for _, c := range read {
			count += len(c.Requests)
		}
		fmt.Fprintf(&b, "| [%s](cases/%s) | %s | %d | %d |\n", strings.TrimSuffix(filepath.Base(file), ".yaml"), filepath.ToSlash(file), opening(t, file), len(read), count)
		total += len(read)
		requests += count
	}
	fmt.Fprintf(&b, "| | | **%d** | **%d** |\n", total, requests)
	return b.String()
}

// opening returns the first sentence of the comment at the top of the file.
func opening(t *testing.T, file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for line := range strings.Lines(string(text)) {
		comment, ok := strings.CutPrefix(line, "#")
		if !ok {
			break
		}
		words = append(words, strings.Fields(comment)...)
	}
	for i, word := range words {
		if strings.HasSuffix(word, ".") {
			words = words[:i+1]
			break
		}
	}
	if len(words) == 0 {
		t.Fatalf("%s: a comment at the top has to say what the cases are about", file)
	}
	return strings.TrimSuffix(strings.Join(words, " "), ".")
}
