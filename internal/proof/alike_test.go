package proof_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/internal/proof"
	"github.com/meshproof/meshproof/internal/verdict"
)

// misreading is a fault in the parsing, which oracle, plain evaluator and compiler share: none of them sees the part of a
// document that it loses. A document without the part has the same effect, so that no code has to change.
type misreading struct {
	// path leads to what loses a part, and name says which.
	path, name string
	// lose returns what is left.
	lose func(v any) any
}

func (m misreading) String() string { return m.path + ": " + m.name }

const (
	firstCounts = "the first alone counts"
	lastCounts  = "the last alone counts"
)

// misreadList returns the misreadings of a list, or of a mapping whose keys are names.
func misreadList(path string) []misreading {
	return []misreading{
		{path, firstCounts, func(v any) any { return keepOne(v, func(int) int { return 0 }) }},
		{path, lastCounts, func(v any) any { return keepOne(v, func(n int) int { return n - 1 }) }},
	}
}

// keepOne keeps one of several items or entries.
func keepOne(v any, which func(n int) int) any {
	switch v := v.(type) {
	case []any:
		if len(v) > 1 {
			i := which(len(v))
			return v[i : i+1]
		}
	case map[string]any:
		if len(v) > 1 {
			key := slices.Sorted(maps.Keys(v))[which(len(v))]
			return map[string]any{key: v[key]}
		}
	}
	return v
}

// misreadField returns the misreading that loses a field of an object where another one is set.
func misreadField(path, field, sibling string) misreading {
	return misreading{path, fmt.Sprintf("%s is dropped beside %s", field, sibling), func(v any) any {
		object, ok := v.(map[string]any)
		if !ok || object[field] == nil || object[sibling] == nil {
			return v
		}
		rest := maps.Clone(object)
		delete(rest, field)
		return rest
	}}
}

// misread returns the case as the fault lets it be read.
func (m misreading) misread(c writtenCase) (cases.Case, error) {
	return c.rewrite(func(path string, v any) any {
		if path != m.path {
			return v
		}
		return m.lose(v)
	})
}

// errContradicted says that a known answer contradicts a misreading.
var errContradicted = errors.New("a known answer contradicts")

// ask returns [errContradicted], why the policies are refused, or nil where nothing tells the misreading.
func (m misreading) ask(c writtenCase) error {
	misread, err := m.misread(c)
	if err != nil {
		return err
	}
	if err := refusal(misread); err != nil {
		return err
	}
	if len(proof.CheckKnownAnswers([]cases.Case{misread}, envoyOfAnswers, behavior.Set{}).Wrong) > 0 {
		return errContradicted
	}
	return nil
}

// refusal returns why the policies of a case are refused.
func refusal(c cases.Case) error {
	if _, err := verdict.Read(c); err != nil || len(c.Routing) == 0 {
		return err
	}
	_, err := dialects.RouterOf(c.Routing[0]).ParseRouting(c.Routing, c.Options)
	return err
}

// isNoticed reports whether a case contradicts. A misreading with which all cases are refused is noticed too: what it
// loses has to be there. Where some are refused and others are not, an answer has to tell.
func (m misreading) isNoticed(among []writtenCase) bool {
	refusedByAll := true
	for _, c := range among {
		err := m.ask(c)
		if errors.Is(err, errContradicted) {
			return true
		}
		refusedByAll = refusedByAll && err != nil
	}
	return refusedByAll
}

// misreadingsOf returns the misreadings that change a part of a document.
func misreadingsOf(path string, v any, schema *schema) (out []misreading) {
	switch v := v.(type) {
	case []any:
		if len(v) > 1 {
			return misreadList(path)
		}
	case map[string]any:
		if !schema.hasFields(path) {
			if len(v) > 1 {
				return misreadList(path)
			}
			return nil
		}
		for field := range v {
			for sibling := range v {
				if field != sibling && v[field] != nil && v[sibling] != nil && !isHead(path, field) && !isHead(path, sibling) {
					out = append(out, misreadField(path, field, sibling))
				}
			}
		}
	}
	return out
}

// A known answer contradicts each fault of the shared parsing that reads one item of a list alone, or drops a field beside
// another one.
func TestKnownAnswersFindMisreadings(t *testing.T) {
	t.Parallel()
	all, schema := readWritten(t), readSchema(t)
	type doubt struct {
		misreading
		// cases have what the misreading loses.
		cases []writtenCase
	}
	doubts := map[string]*doubt{}
	for _, c := range all {
		seen := map[string]bool{}
		c.visit(func(path string, v any) {
			for _, m := range misreadingsOf(path, v, schema) {
				name := m.String()
				if doubts[name] == nil {
					doubts[name] = &doubt{misreading: m}
				}
				if !seen[name] {
					seen[name] = true
					doubts[name].cases = append(doubts[name].cases, c)
				}
			}
		})
	}
	if len(doubts) < 1300 {
		t.Errorf("%d misreadings", len(doubts))
	}
	next := make(chan *doubt)
	var mu sync.Mutex
	var missed []string
	var askers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		askers.Go(func() {
			for d := range next {
				// The answer of a small case is there soon.
				slices.SortStableFunc(d.cases, func(a, b writtenCase) int { return cmp.Compare(a.answers(), b.answers()) })
				if !d.isNoticed(d.cases) {
					mu.Lock()
					missed = append(missed, d.String())
					mu.Unlock()
				}
			}
		})
	}
	for _, name := range slices.Sorted(maps.Keys(doubts)) {
		next <- doubts[name]
	}
	close(next)
	askers.Wait()
	slices.Sort(missed)
	reportUnexcused(t, missed, "no known answer contradicts it: write a case whose requests tell, or say why nothing can", harmless)
	t.Logf("%d cases tell of %d misreadings; nothing decides by %d", len(all), len(doubts)-len(missed), len(missed))
}
