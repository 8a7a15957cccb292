package proof_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// schema says what the dialects can read at the paths of documents.
type schema struct {
	// fields has the paths of the objects whose fields are known, and not names that an author chooses.
	fields map[string]bool
	// lists has the paths of all lists, also of those that no case has.
	lists map[string]bool
}

func (s *schema) hasFields(path string) bool { return s.fields[path] }

var readOnce struct {
	sync.Once
	schema schema
}

// readSchema asks the dialects for their schema. The error about an unknown field names the known ones, and the error about
// a value of a wrong type says what is a list: so it needs no list of the types that documents are decoded into.
func readSchema(t *testing.T) *schema {
	t.Helper()
	all := readWritten(t)
	readOnce.Do(func() {
		s := schema{fields: map[string]bool{}, lists: map[string]bool{}}
		first := map[string]writtenCase{}
		has := map[string]bool{}
		for _, c := range all {
			c.visit(func(path string, v any) {
				switch v := v.(type) {
				case []any:
					s.lists[path] = true
				case map[string]any:
					if _, ok := first[path]; !ok {
						first[path] = c
					}
					for key := range v {
						has[path+"."+key] = true
					}
				}
			})
		}
		for path, c := range first {
			probe{c, path, func(v any) any { return v }}.explore(&s, path, has)
		}
		readOnce.schema = s
	})
	return &readOnce.schema
}

// probe puts fields into an object of a case, or into one below it that the case lacks.
type probe struct {
	written writtenCase
	path    string
	// wrap returns the fields that lead from the object at the path to the one below.
	wrap func(below any) any
}

// unknown is the name of no field, and like none.
const unknown = "zzzzzzzzzzzzzzzz"

// put returns why the case is refused with a field.
func (p probe) put(field string, value any) string {
	c, err := misreading{path: p.path, lose: func(v any) any {
		with := maps.Clone(v.(map[string]any))
		maps.Copy(with, p.wrap(map[string]any{field: value}).(map[string]any))
		return with
	}}.misread(p.written)
	if err == nil {
		err = refusal(c)
	}
	if err == nil {
		return ""
	}
	return err.Error()
}

// explore adds the object at a path to the schema, and the lists below it. It leaves out what some case has.
func (p probe) explore(s *schema, path string, has map[string]bool) {
	_, names, known := strings.Cut(p.put(unknown, 1), unknown+": unknown field: use one of ")
	if !known {
		return
	}
	s.fields[path] = true
	names, _, _ = strings.Cut(names, "\n")
	for name := range strings.SplitSeq(names, ", ") {
		below := childPath(path, "."+name, nil)
		if has[below] {
			continue
		}
		switch why := p.put(name, 2.5); {
		case strings.Contains(why, name+": expected a list"):
			s.lists[below] = true
			probe{p.written, p.path, func(v any) any { return p.wrap(map[string]any{name: []any{v}}) }}.explore(s, childPath(below, "[]", nil), has)
		case strings.Contains(why, name+": expected a mapping"):
			probe{p.written, p.path, func(v any) any { return p.wrap(map[string]any{name: v}) }}.explore(s, below, has)
		}
	}
}

// form is the form of an object in a path.
var form = regexp.MustCompile(`<[^>]*>`)

// mergePaths returns one path for all that is read alike. The values of each key of a condition are read in their own way.
func mergePaths(path string) string {
	path = strings.Replace(path, ".ingressDeny[]", ".ingress[]", 1)
	if strings.Contains(path, ".when[]") {
		return path
	}
	return form.ReplaceAllString(path, "")
}

// Each list that a dialect reads has a case with two values, so that a case can tell that both count.
func TestListsHaveCasesOfTwoValues(t *testing.T) {
	t.Parallel()
	several := map[string]bool{}
	for _, c := range readWritten(t) {
		c.visit(func(path string, v any) {
			if list, ok := v.([]any); ok && len(list) > 1 {
				several[mergePaths(path)] = true
			}
		})
	}
	var missed []string
	for path := range readSchema(t).lists {
		if path = mergePaths(path); !several[path] && !slices.Contains(missed, path) {
			missed = append(missed, path)
		}
	}
	slices.Sort(missed)
	if len(several) < 100 {
		t.Errorf("%d lists have several values", len(several))
	}
	reportUnexcused(t, missed, "no case has two values of this list: write one", ofNoRequest)
	t.Logf("%d lists have a case of two values; %d have none, and decide nothing", len(several), len(missed))
}
