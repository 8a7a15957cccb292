package plugins

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/internal/plugin"
	"github.com/meshproof/meshproof/internal/recording"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// difference is what meshproof refuses and the project takes: a part of the message, and the row of
// the project's page; "" where the row above says it too.
type difference struct{ message, row string }

// refusals has the answers: the SHA-256 of the policies and the version that was asked, then a character
// for each of them.
const refusals = "refusals.txt"

const accepted, refused = '+', '-'

// hash reports whether the answers are about these policies.
func hash(policies []string) string {
	sum := sha256.Sum256([]byte(strings.Join(policies, "\n")))
	return hex.EncodeToString(sum[:])
}

// readRefusals reports for each policy whether the project refuses it.
func (p project) readRefusals(t *testing.T, policies []string) []bool {
	t.Helper()
	path := p.file(refusals)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, answers, _ := strings.Cut(string(text), "\n")
	answers = strings.ReplaceAll(answers, "\n", "")
	head, version, _ := strings.Cut(head, " ")
	// A test of the recordings holds their version against the one that the compiler is built with.
	of, err := recording.Read(p.file("answers.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if version != of.Version() {
		t.Fatalf("%s is of version %q, and the other answers of %q: record again with %s", path, version, of.Version(), again)
	}
	if head != hash(policies) || len(answers) != len(policies) {
		t.Fatalf("%s is about other policies: record again with %s", path, again)
	}
	out := make([]bool, len(policies))
	for i := range out {
		out[i] = answers[i] == refused
	}
	return out
}

// askRefusals asks the compiler about each policy, and writes the answers.
func (p project) askRefusals(t *testing.T, policies []string) []bool {
	t.Helper()
	c := p.start(t, nil)
	text := hash(policies) + " " + c.Version
	out := make([]bool, len(policies))
	for i, one := range policies {
		_, err := c.Compile(t.Context(), policy.Inbound{Port: 80, Protocol: policy.HTTP, Workload: policy.Workload{Name: "w", Namespace: "default"}}, read(t, one), language.Options{})
		// Envoy refuses a filter that is no sound answer.
		if errors.As(err, new(*plugin.Error)) && !errors.Is(err, plugin.ErrAnswer) {
			t.Fatal(err)
		}
		if i%100 == 0 {
			text += "\n"
		}
		out[i] = err != nil
		if out[i] {
			text += string(refused)
			t.Logf("%.300s: %v", one, err)
		} else {
			text += string(accepted)
		}
	}
	if err := os.WriteFile(p.file(refusals), []byte(text+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return out
}

func read(t *testing.T, policy string) []manifest.Document {
	t.Helper()
	docs, err := manifest.Parse("p.yaml", []byte(policy))
	if err != nil || len(docs) != 1 {
		t.Fatalf("%s: %d documents, %v", policy, len(docs), err)
	}
	return docs
}

// refuse holds what meshproof refuses against what a cluster of the project refuses, policy by
// policy. What the cluster refuses is refused; what else is refused has a reason in the list, which
// is a table of the project's page.
func (p project) refuse(t *testing.T, policies []string, title string, beyond []difference) {
	t.Helper()
	ask := p.readRefusals
	if *p.program != "" {
		ask = p.askRefusals
	}
	theirs := ask(t, policies)
	used := make([]bool, len(beyond))
	for at, one := range policies {
		_, err := dialect.Parse(read(t, one), language.Options{})
		switch i := slices.IndexFunc(beyond, func(b difference) bool {
			return err != nil && strings.Contains(err.Error(), b.message)
		}); {
		case theirs[at] && err == nil:
			t.Errorf("only %s refuses %.300s", p.name, one)
		case !theirs[at] && err != nil && i < 0:
			t.Errorf("only meshproof refuses %.300s:\n\t%v", one, err)
		case !theirs[at] && err != nil:
			used[i] = true
		}
	}
	var table strings.Builder
	table.WriteString("| meshproof refuses | " + title + " |\n|---|---|\n")
	for i, b := range beyond {
		if !used[i] {
			t.Errorf("no policy is refused for %q alone: take it out of the list", b.message)
		}
		if b.row != "" {
			table.WriteString(b.row + "\n")
		}
	}
	golden.Section(t, "../docs/"+p.name+".md", "beyond", table.String())
}
