package page

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/cases/feature"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/reporttest"
)

// Cases that a command generates have the name of the command, and belong to no profile.
func TestPageLabs(t *testing.T) {
	t.Parallel()
	lab := func(name, story string) report.Case {
		return reporttest.With(reporttest.NewCase(name, story, "1", reporttest.Allowed("/")), func(c *report.Case) { c.Features = []feature.Name{"MeshOperator4"} })
	}
	proof := reporttest.NewRun("1.40.0", lab("a", "proof"), lab("b", "proof"))
	proof.Profiles, proof.ClassesProven = nil, &report.Classes{Proven: 1200, Of: 1201, Complete: true}
	for name, tt := range map[string]struct {
		run                     report.Run
		title, heading, verdict string
		profiles                []string
	}{
		"proof":  {proof, "proof", "Results", "2 cases on Envoy 1.40.0: 2 passed, 1,200 of 1,201 request classes proven", []string{"Proofs"}},
		"diff":   {reporttest.NewRun("1.40.0", lab("a (old)", "diff")), "diff", "Results", "1 case on Envoy 1.40.0: 1 passed", []string{"Changes"}},
		"verify": {reporttest.NewRun("1.40.0", lab("a", "verify")), "verify", "Results", "1 case on Envoy 1.40.0: 1 passed", []string{"Sidecars"}},
		"both":   {reporttest.NewRun("1.40.0", lab("a", "proof"), lab("b", "mesh-operator-4")), "conformance", "User stories", "2 cases on Envoy 1.40.0: 2 passed", []string{"KUMA-MTP", "Proofs"}},
		"none":   {reporttest.NewRun("1.40.0"), "conformance", "User stories", "0 cases on Envoy 1.40.0: none", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newView([]report.Run{tt.run})
			var profiles []string
			for _, p := range v.Profiles {
				profiles = append(profiles, p.Name)
			}
			if diff := cmp.Diff([]any{tt.title, tt.heading, tt.verdict, tt.profiles}, []any{v.Title, v.Heading, v.Verdict, profiles}); diff != "" {
				t.Error(diff)
			}
			for _, s := range v.Profiles {
				for _, s := range s.Stories {
					if l, ok := findLab(s.Name); ok && s.About != l.about {
						t.Errorf("%s is about %q", s.Name, s.About)
					}
				}
			}
		})
	}
}

// The head of the page shows the measured figures of the run.
func TestPageMeasured(t *testing.T) {
	t.Parallel()
	r := reporttest.NewRun("1.40.0", reporttest.NewCase("a", "s", "1", reporttest.Allowed("/")))
	r.ClassesProven, r.MutationScore = &report.Classes{Proven: 57, Of: 57, Complete: true}, &report.Score{Killed: 41, Of: 42}
	v := newView([]report.Run{r})
	want := []fact{{Name: "Request classes proven", Text: "57 of 57"}, {Name: "Seeded faults found", Text: "41 of 42"}}
	if diff := cmp.Diff(want, v.Facts[len(v.Facts)-2:]); diff != "" {
		t.Error(diff)
	}
}
