package plugins

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/internal/plugin"
	"github.com/meshproof/meshproof/internal/recording"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/internal/testbed"
	"github.com/meshproof/meshproof/policy/manifest"
)

// again is the command that records.
const again = "make fourth"

// project is a mesh with a compiler of its own. The compiler lies in the folder of its name.
type project struct {
	name  string
	group string
	// program is the command of the compiler. With it the tests ask and write the recordings,
	// without it they read them.
	program *string
	profile feature.Profile
	// limits is the feature of cases that another compiler does not claim.
	limits feature.Name
	// anyNames is true where the compiler names its filters by itself.
	anyNames bool
}

func newProject(name, group string, profile feature.Profile, limits feature.Name) project {
	return project{name: name, group: group, profile: profile, limits: limits, program: flag.String(name, "", "ask this compiler of "+name+" and record its answers")}
}

// file is the path of a file of answers.
func (p project) file(name string) string { return p.name + "/testdata/" + name }

var sharedEnvoy = testbed.Bed[*harness.Harness]{Start: func() (*harness.Harness, error) {
	return harness.Start(context.Background(), harness.WithRuntime(harness.Process), harness.WithEnvoy(os.Getenv("MESHPROOF_ENVOY")))
}}

func TestMain(m *testing.M) { sharedEnvoy.Main(m) }

// start starts the compiler that records into r, which may be nil.
func (p project) start(t *testing.T, r *recording.Recording) *plugin.Compiler {
	t.Helper()
	opts := plugin.Options{}
	if r != nil {
		opts.Record = r.Keep
	}
	c, err := plugin.Start(t.Context(), plugin.Shell(*p.program), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// compiler returns the compiler, or its recorded answers.
func (p project) compiler(t *testing.T) suite.CompilerFunc {
	t.Helper()
	answers := p.file("answers.jsonl")
	if *p.program == "" {
		r, err := recording.Read(answers)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if n := r.Unasked(); n > 0 && !t.Failed() {
				t.Errorf("%s has %d answers to no question: record again with %s", answers, n, again)
			}
		})
		return r.Compile
	}
	r := recording.New(again)
	c := p.start(t, r)
	t.Cleanup(func() {
		if err := r.Write(answers, c); err != nil {
			t.Error(err)
		}
	})
	return c.Compile
}

// cases returns the built-in cases whose policies are all of the project.
func (p project) cases(t *testing.T) []cases.Case {
	t.Helper()
	return slices.DeleteFunc(casetest.Stories(t), func(c cases.Case) bool {
		foreign := func(d manifest.Document) bool { return !strings.HasPrefix(d.Type().APIVersion, p.group+"/") }
		return len(c.Policies) == 0 || slices.ContainsFunc(c.Policies, foreign)
	})
}

// agree runs each case of the project with the filters that its compiler gave for it, and refuses
// what it refused. Case, decision program, second opinion, compiler and Envoy have to agree.
func (p project) agree(t *testing.T) {
	t.Helper()
	compile := p.compiler(t)
	limit := func(c cases.Case) bool { return slices.Contains(c.Features, p.limits) }
	all := p.cases(t)
	for _, c := range all {
		if !limit(c) {
			continue
		}
		for _, in := range c.Inbounds {
			if _, err := compile(t.Context(), in.Inbound, c.Policies, c.Options); err != nil {
				t.Errorf("%s: %s is about limits of meshproof, and %s refuses the policies too: %v", c.Place, c.Name, p.name, err)
			}
		}
	}
	tally := map[feature.Name]*[2]int{}
	runner := suite.Runner{Harness: sharedEnvoy.Get(t), Compiler: &suite.Foreign{CompilerFunc: compile}, Kept: true, AnyNames: p.anyNames}
	for _, r := range runner.Run(t.Context(), slices.DeleteFunc(all, limit)...) {
		if r.Fault || r.Failed() {
			t.Errorf("%s: %s:\n%s", r.Case.Place, r.Case.Name, strings.Join(r.Failures(), "\n"))
		}
		for _, name := range r.Case.Features {
			if tally[name] == nil {
				tally[name] = new([2]int)
			}
			tally[name][0]++
			if r.Failed() {
				tally[name][1]++
			}
		}
	}
	golden.Section(t, "../docs/"+p.name+"-conformance.md", "features", p.conformance(tally))
}

// conformance returns a table of the features of the project, from the number of cases and of
// failed cases.
func (p project) conformance(tally map[feature.Name]*[2]int) string {
	var b strings.Builder
	b.WriteString("| feature | level | cases | result |\n|---|---|---|---|\n")
	for _, f := range feature.All() {
		if of := tally[f.Name]; of != nil && f.Profile == p.profile {
			result := "success"
			if of[1] > 0 {
				result = fmt.Sprintf("%d failed", of[1])
			}
			fmt.Fprintf(&b, "| `%s` | %s | %d | %s |\n", f.Name, f.Level, of[0], result)
		}
	}
	return b.String()
}
