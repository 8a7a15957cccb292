package examination_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v2"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/examination"
	"github.com/meshproof/meshproof/internal/policyset"
	"github.com/meshproof/meshproof/internal/rewrite"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

// object is a mapping of a policy.
type object = map[string]any

// mistaken is a compiler with a mistake that a real author makes. It reads a policy otherwise than it is written, takes
// an inbound for another, or writes another comparison. All else is right.
type mistaken struct {
	// reads changes a policy before it is compiled.
	reads func(policy object)
	// takes changes the inbound whose policies are selected.
	takes func(in *policy.Inbound)
	// compares changes one comparison.
	compares func(policy.Is) policy.Condition
	// orders changes the order of what was compiled, and parts of it.
	orders func(p *policy.Program)
	// knows changes the policies, and the options by which they are read.
	knows func(c *cases.Case)
	// closes is true where an inbound without a policy lets nobody in.
	closes bool
}

// compile returns the filters of a case for each inbound, and false where the mistake changes nothing that is written in the
// case, or has the compiler refuse the policies.
func (m mistaken) compile(t *testing.T, c cases.Case) ([]xds.Filters, bool) {
	t.Helper()
	changed := m.takes != nil || m.compares != nil || m.closes || m.orders != nil || m.knows != nil
	if m.knows != nil {
		m.knows(&c)
	}
	if m.reads != nil {
		policies := slices.Clone(c.Policies)
		for i, doc := range policies {
			is := treeOf(t, doc)
			m.reads(is)
			if reflect.DeepEqual(is, treeOf(t, doc)) {
				continue
			}
			changed = true
			text, err := json.Marshal(is)
			if err != nil {
				t.Fatal(err)
			}
			docs, err := manifest.Parse("mistaken.yaml", text)
			if err != nil || len(docs) != 1 {
				t.Fatalf("%v: %s", err, text)
			}
			policies[i] = docs[0]
		}
		c.Policies = policies
	}
	if !changed {
		return nil, false
	}
	reading, err := verdict.Read(c)
	if err != nil {
		return nil, false
	}
	var out []xds.Filters
	for _, in := range reading.Inbounds() {
		program := in.Program.Program
		if m.takes != nil {
			as := in.Inbound.Inbound
			m.takes(&as)
			program = reading.Set().Program(as).Program
		}
		if m.compares != nil {
			program = rewrite.Program(program, func(_ policy.Layer, is policy.Is) policy.Condition { return m.compares(is) })
		}
		if m.orders != nil {
			program.Gates = slices.Clone(program.Gates)
			for i := range program.Gates {
				program.Gates[i].Rules = slices.Clone(program.Gates[i].Rules)
			}
			m.orders(&program)
		}
		if m.closes && len(program.Gates) == 0 {
			program.Gates = []policy.Gate{{Layer: in.Protocol.Layer()}}
		}
		filters, err := xds.Compile(program)
		if err != nil {
			return nil, false
		}
		out = append(out, filters)
	}
	return out, true
}

// treeOf returns a policy as a tree of JSON.
func treeOf(t *testing.T, doc manifest.Document) object {
	t.Helper()
	var read any
	if err := yaml.Unmarshal(doc.YAML(), &read); err != nil {
		t.Fatal(err)
	}
	out, _ := jsonTree(read).(object)
	return out
}

// jsonTree returns a value of YAML with the mappings of JSON.
func jsonTree(v any) any {
	switch v := v.(type) {
	case map[any]any:
		out := object{}
		for key, inner := range v {
			out[key.(string)] = jsonTree(inner)
		}
		return out
	case []any:
		for i := range v {
			v[i] = jsonTree(v[i])
		}
	}
	return v
}

// formsOf are the forms in which sets of a dialect are drawn.
var formsOf = map[string][]policyset.Form{
	"istio": {policyset.Istio}, "kuma": {policyset.KumaOption1, policyset.KumaOption2, policyset.KumaOption3, policyset.KumaFrom},
	"gateway": {policyset.GatewayAPI}, "linkerd": {policyset.Linkerd}, "cilium": {policyset.Cilium},
}

// Each mistake of an author of a compiler is told by a built-in case or by a drawn set, although the rest of the compiler is right: some class of
// requests is decided otherwise than the policies say.
func TestMistakesOfAuthorsAreTold(t *testing.T) {
	t.Parallel()
	all := casetest.Stories(t)
	drawn := map[string][]cases.Case{}
	for dialect, rows := range mistakesOfAuthors {
		rows := maps.Clone(rows)
		maps.Copy(rows, mistakesBeside[dialect])
		maps.Copy(rows, mistakesInFields[dialect])
		maps.Copy(rows, mistakesAboutNames[dialect])
		maps.Copy(rows, mistakesOfFrom[dialect])
		var own []cases.Case
		for _, c := range all {
			if strings.HasPrefix(c.Place, "cases/"+dialect+"/") && c.ExpectError == "" && len(c.Requests) > 0 && c.Story != "legacy-size" && len(c.RoutedRequests) == 0 {
				own = append(own, c)
			}
		}
		for number := range uint64(60) {
			drawn[dialect] = append(drawn[dialect], policyset.Draw(1, number, formsOf[dialect]...))
		}
		for name, row := range rows {
			t.Run(dialect+"/"+name, func(t *testing.T) {
				t.Parallel()
				// Sets that are drawn tell what no case has.
				tried := 0
				for _, c := range slices.Concat(own, drawn[dialect]) {
					filters, ok := row.compile(t, c)
					if !ok {
						continue
					}
					tried++
					reading, err := verdict.Read(c)
					if err != nil {
						t.Fatal(err)
					}
					x := examination.Examine(reading, filters, true, 0)
					// Callers in plaintext are asked, and differ on no paper.
					if x.Differing > 0 || slices.ContainsFunc(x.Questions, func(q examination.Question) bool { return q.Policies.Effect != q.Filters.Effect }) {
						return
					}
				}
				t.Errorf("no case tells it, of %d that have what it is about", tried)
			})
		}
	}
}

// A compiler without a mistake is not told by these cases. With -short the case of the largest program is left out: it takes as long as all others.
func TestHonestAuthorsAreNotTold(t *testing.T) {
	t.Parallel()
	honest := mistaken{takes: func(*policy.Inbound) {}}
	for i, c := range casetest.Stories(t) {
		if i%10 != 0 || c.ExpectError != "" || len(c.Requests) == 0 || len(c.RoutedRequests) > 0 || testing.Short() && c.Story == "legacy-size" {
			continue
		}
		filters, ok := honest.compile(t, c)
		reading, err := verdict.Read(c)
		if !ok || err != nil {
			t.Fatalf("%s: %t, %v", c.Place, ok, err)
		}
		if x := examination.Examine(reading, filters, true, 0); x.Differing > 0 {
			t.Errorf("%s: %v", c.Place, x.Questions)
		}
	}
}
