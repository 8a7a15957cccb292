// Package recording keeps the answers of a compiler in a file, and answers with them in its
// place: so tests hold a compiler against the cases that they cannot build or start.
//
// It guarantees that an answer is that to the same question: inbound, policies, options and
// peers. A question without a recorded answer is an error that says how to record, and never a
// refusal of policies. Only tests import the package.
package recording

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/meshproof/meshproof/internal/plugin"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

// Recording has the answers of one compiler. It is safe for concurrent use.
type Recording struct {
	head    head
	mu      sync.Mutex
	entries map[string]entry
	asked   map[string]bool
}

// head is the first line of a file.
type head struct {
	// Compiler and Version are what the compiler says of itself.
	Compiler string `json:"compiler"`
	Version  string `json:"version"`
	Protocol int    `json:"protocol"`
	// Again is the command that records.
	Again string `json:"again"`
}

// entry is a line of a file.
type entry struct {
	// Question is the SHA-256 of the question.
	Question string          `json:"question"`
	Inbound  string          `json:"inbound"`
	Answer   json.RawMessage `json:"answer"`
}

// New returns an empty recording. The command records again.
func New(again string) *Recording {
	return &Recording{head: head{Again: again}, entries: map[string]entry{}, asked: map[string]bool{}}
}

// Keep keeps an answer. It is a [plugin.Options.Record].
func (r *Recording) Keep(in policy.Inbound, question, answer []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := keyOf(question)
	r.entries[key] = entry{Question: key, Inbound: in.String(), Answer: answer}
}

func keyOf(question []byte) string {
	sum := sha256.Sum256(question)
	return hex.EncodeToString(sum[:])
}

// Write writes the recording of a compiler to a file: a line for each answer, in a fixed order.
func (r *Recording) Write(path string, of *plugin.Compiler) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.head.Compiler, r.head.Version, r.head.Protocol = of.Name, of.Version, of.Protocol
	var out bytes.Buffer
	lines := json.NewEncoder(&out)
	lines.SetEscapeHTML(false)
	if err := lines.Encode(r.head); err != nil {
		return fmt.Errorf("recording: write %s: %w", path, err)
	}
	byInbound := func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.Inbound, b.Inbound), cmp.Compare(a.Question, b.Question))
	}
	for _, e := range slices.SortedFunc(maps.Values(r.entries), byInbound) {
		if err := lines.Encode(e); err != nil {
			return fmt.Errorf("recording: write %s: %w", path, err)
		}
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}

// Read reads a recording.
func Read(path string) (*Recording, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, len(text)+1)
	r := New("")
	for n := 1; lines.Scan(); n++ {
		var e entry
		if n == 1 {
			err = json.Unmarshal(lines.Bytes(), &r.head)
		} else if err = json.Unmarshal(lines.Bytes(), &e); err == nil {
			if _, twice := r.entries[e.Question]; twice {
				err = errTwice
			}
			r.entries[e.Question] = e
		}
		if err != nil {
			return nil, fmt.Errorf("recording: %s:%d: %w", path, n, err)
		}
	}
	if r.head.Protocol == 0 {
		return nil, fmt.Errorf("recording: %s:1: the line does not name the version of the protocol", path)
	}
	return r, lines.Err()
}

// errMissing says that the recording is older than the question.
var errMissing = errors.New("no answer was recorded to this question")

// errTwice is for a file in which somebody has written.
var errTwice = errors.New("the question has an answer already: no recording has two")

// Version is the version that the compiler stated when it was recorded.
func (r *Recording) Version() string { return r.head.Version }

// Compile answers as the compiler did: it is a suite.CompilerFunc. A question without an
// answer is a [*plugin.Error].
func (r *Recording) Compile(_ context.Context, in policy.Inbound, policies []manifest.Document, opts language.Options) (xds.Filters, error) {
	question, err := plugin.Question(r.head.Protocol, in, policies, opts)
	if err != nil {
		return xds.Filters{}, err
	}
	key := keyOf(question)
	r.mu.Lock()
	e, ok := r.entries[key]
	r.asked[key] = true
	r.mu.Unlock()
	if !ok {
		return xds.Filters{}, r.broken(in, policies, fmt.Errorf("%w: record again with %s", errMissing, r.head.Again))
	}
	filters, err := plugin.ReadAnswer(r.head.Protocol, e.Answer, in)
	if errors.Is(err, plugin.ErrAnswer) {
		err = r.broken(in, policies, err)
	}
	return filters, err
}

func (r *Recording) broken(in policy.Inbound, policies []manifest.Document, err error) error {
	asked := in.String()
	if len(policies) > 0 {
		asked += " under " + policies[0].Place("")
	}
	return &plugin.Error{Command: "recorded " + r.head.Compiler, Asked: asked, Err: err}
}

// Unasked returns the number of answers that were not asked for.
func (r *Recording) Unasked() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for key := range r.entries {
		if !r.asked[key] {
			n++
		}
	}
	return n
}
