package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/folder"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Conformance is a conformance report in the shape of Gateway API's
// (gateway.networking.k8s.io/v1, kind ConformanceReport), so that the tools of Gateway API
// read it. Fields that these tools do not know are under meshproof.
type Conformance struct {
	APIVersion     string         `yaml:"apiVersion"`
	Kind           string         `yaml:"kind"`
	Date           string         `yaml:"date"`
	Version        string         `yaml:"gatewayAPIVersion"`
	Channel        string         `yaml:"gatewayAPIChannel"`
	Mode           string         `yaml:"mode"`
	Implementation Implementation `yaml:"implementation"`
	Profiles       []ProfileState `yaml:"profiles"`
	Meshproof      Extension      `yaml:"meshproof"`
}

// ProfileState says how far a profile is supported.
type ProfileState struct {
	Name     string    `yaml:"name"`
	Summary  string    `yaml:"summary"`
	Core     Status    `yaml:"core"`
	Extended *Extended `yaml:"extended,omitempty"`
}

// Status is the result of the cases of one level: "success", "partial" if some were
// skipped, or "failure".
type Status struct {
	Result       string     `yaml:"result"`
	Statistics   Statistics `yaml:"statistics"`
	SkippedTests []string   `yaml:"skippedTests,omitempty"`
	FailedTests  []string   `yaml:"failedTests,omitempty"`
}

// Statistics counts cases, in Gateway API's spelling.
type Statistics struct {
	Passed  int `yaml:"Passed"`
	Skipped int `yaml:"Skipped"`
	Failed  int `yaml:"Failed"`
}

// Extended is the status of the extended features.
type Extended struct {
	Status              `yaml:",inline"`
	SupportedFeatures   []string `yaml:"supportedFeatures,omitempty"`
	UnsupportedFeatures []string `yaml:"unsupportedFeatures,omitempty"`
}

// Extension has the fields of meshproof: the Envoy, the time of each case, and the hash of
// its evidence.
type Extension struct {
	Version string     `yaml:"version"`
	Envoy   EnvoyState `yaml:"envoy"`
	Shard   string     `yaml:"shard,omitempty"`
	// PolicyNames is "compared" if the filters must name their policies as the
	// specification does, and "any" if only decisions count.
	PolicyNames string `yaml:"policyNames"`
	// DrawnPolicies are the policies that were drawn for the run, which no compiler can know
	// beforehand. meshproof's own compiler is not asked for them.
	DrawnPolicies *Drawn `yaml:"drawnPolicies,omitempty"`
	// Shows says what the run shows of the compiler, and what it does not.
	Shows          string          `yaml:"shows,omitempty"`
	Milliseconds   float64         `yaml:"milliseconds"`
	Classes        *Classes        `yaml:"requestClasses,omitempty"`
	Mutation       *Score          `yaml:"mutationScore,omitempty"`
	EvidenceSHA256 string          `yaml:"evidenceSHA256"`
	Cases          []CaseState     `yaml:"cases"`
	NotApplicable  []NotApplicable `yaml:"notApplicable,omitempty"`
}

// EnvoyState is the Envoy of a run.
type EnvoyState struct {
	Version string `yaml:"version"`
	SHA256  string `yaml:"sha256,omitempty"`
	Runtime string `yaml:"runtime"`
	// Behavior has the answers to the probes.
	Behavior map[string]string `yaml:"behavior,omitempty"`
}

// CaseState is one case in a report.
type CaseState struct {
	Name   string `yaml:"name"`
	Story  string `yaml:"story,omitempty"`
	Result string `yaml:"result"`
	Reason string `yaml:"reason,omitempty"`
	// WantsOnly says why Envoy was held against nothing but what the case wants.
	WantsOnly      string   `yaml:"wantsOnly,omitempty"`
	Features       []string `yaml:"features,omitempty"`
	Requests       int      `yaml:"requests"`
	Milliseconds   float64  `yaml:"milliseconds"`
	EvidenceSHA256 string   `yaml:"evidenceSHA256,omitempty"`
}

// NotApplicable is a case that says nothing about this Envoy or this compiler, with the
// reason.
type NotApplicable struct {
	Name   string `yaml:"name"`
	Reason string `yaml:"reason"`
}

// The values of PolicyNames.
const (
	comparedNames = "compared"
	anyNames      = "any"
)

// The results of a level and of a case.
const (
	success = "success"
	Partial = "partial"
	failure = "failure"
)

// gatewayAPI is the release of Gateway API with the tested text of GEP-3779. The GEP is in no
// channel yet; its first channel will be experimental.
const (
	gatewayAPI        = "v1.6.0"
	gatewayAPIChannel = "experimental"
)

// NewConformance makes the report of one run. It has the profiles that the run claims and of
// which it has a case, in order.
func NewConformance(r Run) Conformance {
	out := Conformance{
		APIVersion: "gateway.networking.k8s.io/v1", Kind: "ConformanceReport", Date: r.Date.UTC().Format(time.RFC3339),
		Version: gatewayAPI, Channel: gatewayAPIChannel, Mode: "default", Implementation: r.Implementation,
		Profiles: []ProfileState{},
		Meshproof: Extension{
			Version: r.Meshproof, Envoy: EnvoyState{r.Envoy, r.EnvoySHA256, r.Runtime, r.Behavior}, Shard: r.Shard, Milliseconds: r.Milliseconds,
			Classes: r.ClassesProven, Mutation: r.MutationScore, EvidenceSHA256: r.hash(), Cases: []CaseState{},
			PolicyNames: comparedNames,
		},
	}
	for _, p := range r.Profiles {
		if slices.ContainsFunc(r.Cases, func(c Case) bool { _, in := c.Level(p); return in }) {
			out.Profiles = append(out.Profiles, r.profile(p))
		}
	}
	if r.AnyNames {
		out.Meshproof.PolicyNames = anyNames
	}
	for _, c := range r.Cases {
		if c.Drawn != nil {
			out.Meshproof.DrawnPolicies, out.Meshproof.Shows = c.Drawn, c.Drawn.Shows()
		}
		if c.NotApplicable {
			out.Meshproof.NotApplicable = append(out.Meshproof.NotApplicable, NotApplicable{c.Case, c.Skipped})
			continue
		}
		out.Meshproof.Cases = append(out.Meshproof.Cases, c.state())
	}
	return out
}

// YAML returns the report as a file.
func (c Conformance) YAML() ([]byte, error) {
	text, err := yaml.MarshalWithOptions(c, yaml.IndentSequence(true))
	if err != nil {
		return nil, fmt.Errorf("report: write the conformance report: %w", err)
	}
	return text, nil
}

func (c Case) state() CaseState {
	out := CaseState{
		Name: c.Case, Story: c.Story, Result: success, WantsOnly: c.WantsOnly, Requests: c.Asked(), Milliseconds: c.Milliseconds, EvidenceSHA256: c.EvidenceSHA256,
	}
	for _, name := range c.Features {
		out.Features = append(out.Features, string(name))
	}
	switch {
	case c.Skipped != "":
		out.Result, out.Reason = "skipped", c.Skipped
	case !c.Passed:
		out.Result, out.Reason = failure, c.Reason()
	}
	return out
}

// Reason returns the first line of the first problem.
func (c Case) Reason() string {
	texts := []string{c.Error}
	for _, q := range c.Requests {
		texts = append(texts, q.Problems...)
	}
	for _, text := range texts {
		if first, _, _ := strings.Cut(text, "\n"); first != "" {
			return first
		}
	}
	return ""
}

// profile says how far the run supports a profile.
func (r Run) profile(p feature.Profile) ProfileState {
	out := ProfileState{Name: string(p), Core: r.status(p, feature.Core)}
	extended := Extended{Status: r.status(p, feature.Extended)}
	for _, f := range feature.All() {
		if f.Profile != p || f.Level != feature.Extended {
			continue
		}
		if slices.Contains(r.Unsupported, f.Name) {
			extended.UnsupportedFeatures = append(extended.UnsupportedFeatures, string(f.Name))
		} else {
			extended.SupportedFeatures = append(extended.SupportedFeatures, string(f.Name))
		}
	}
	if extended.Result == success && extended.Statistics.Passed == 0 && extended.SupportedFeatures != nil {
		extended.Result = Partial
	}
	out.Summary = out.Core.sentence("Core")
	if extended.Statistics != (Statistics{}) {
		out.Summary += " " + extended.sentence("Extended")
	}
	if extended.SupportedFeatures != nil || extended.UnsupportedFeatures != nil {
		out.Extended = &extended
	}
	return out
}

func (r Run) status(p feature.Profile, l feature.Level) Status {
	t := r.Tally(p, l)
	out := Status{Result: success, Statistics: Statistics{Passed: t.Passed, Skipped: t.Skipped, Failed: t.Failed}}
	switch {
	case t.Failed > 0:
		out.Result = failure
	// No case proves nothing.
	case t.Skipped > 0, t.Passed == 0 && l == feature.Core:
		out.Result = Partial
	}
	for _, c := range r.Cases {
		if level, in := c.Level(p); !in || level != l || c.NotApplicable {
			continue
		}
		switch {
		case c.Skipped != "":
			out.SkippedTests = append(out.SkippedTests, c.Case)
		case !c.Passed:
			out.FailedTests = append(out.FailedTests, c.Case)
		}
	}
	return out
}

// sentence sums up the tests of a level, in the words of Gateway API's reports.
func (s Status) sentence(level string) string {
	switch {
	case s.Statistics == (Statistics{}):
		return level + " tests: no case was run."
	case s.Result == failure:
		return fmt.Sprintf("%s tests failed with %d failures.", level, s.Statistics.Failed)
	case s.Result == Partial:
		return fmt.Sprintf("%s tests partially succeeded with %d skips.", level, s.Statistics.Skipped)
	default:
		return level + " tests succeeded."
	}
}

// Implementation says whose compiler was under test, in the words of Gateway API's
// report. All fields are needed to publish a report.
type Implementation struct {
	Organization string   `json:"organization" yaml:"organization"`
	Project      string   `json:"project" yaml:"project"`
	URL          string   `json:"url" yaml:"url"`
	Version      string   `json:"version" yaml:"version"`
	Contact      []string `json:"contact" yaml:"contact"`
}

// Missing names the fields without a value, in their order.
func (i Implementation) Missing() []string {
	var out []string
	for _, field := range []struct{ name, value string }{
		{"organization", i.Organization}, {"project", i.Project}, {"url", i.URL}, {"version", i.Version}, {"contact", strings.Join(i.Contact, "")},
	} {
		if strings.TrimSpace(field.value) == "" {
			out = append(out, field.name)
		}
	}
	return out
}

// UnknownImplementation returns an implementation about which nothing is known but what it
// says of itself.
func UnknownImplementation(project, version string) Implementation {
	const unknown = "unknown"
	return Implementation{Organization: unknown, Project: project, URL: unknown, Version: cmp.Or(version, unknown), Contact: []string{unknown}}
}

// ReadImplementation reads a YAML file. All fields are required.
func ReadImplementation(file string) (out Implementation, err error) {
	data, err := folder.Read(file)
	if err != nil {
		return out, err
	}
	docs, err := manifest.Parse(file, data)
	switch {
	case err != nil:
		return out, err
	case len(docs) != 1:
		return out, fmt.Errorf("%s: it has %s, want one", file, terminal.Count(len(docs), "document"))
	}
	if err := docs[0].Decode(&out); err != nil {
		return out, err
	}
	if missing := out.Missing(); len(missing) > 0 {
		return out, fmt.Errorf("%s: there is no %s: all five fields are needed to publish a report", file, strings.Join(missing, ", no "))
	}
	return out, nil
}
