package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/meshproof/meshproof/cases/feature"
)

// Conformance is a conformance report in the shape of Gateway API's
// (gateway.networking.k8s.io/v1, kind ConformanceReport), so that its tools read it.
// What they do not know stands under meshproof.
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

// Status is the result of the cases of one level: "success", "partial" where some
// were skipped, or "failure".
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

// Extension is what a report of meshproof says beyond Gateway API's: on which Envoy,
// how long each case took, and what its evidence hashes to.
type Extension struct {
	Version        string          `yaml:"version"`
	Envoy          EnvoyState      `yaml:"envoy"`
	Shard          string          `yaml:"shard,omitempty"`
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
}

// CaseState is one case in a report.
type CaseState struct {
	Name           string   `yaml:"name"`
	Story          string   `yaml:"story,omitempty"`
	Result         string   `yaml:"result"`
	Reason         string   `yaml:"reason,omitempty"`
	Features       []string `yaml:"features,omitempty"`
	Requests       int      `yaml:"requests"`
	Milliseconds   float64  `yaml:"milliseconds"`
	EvidenceSHA256 string   `yaml:"evidenceSHA256,omitempty"`
}

// NotApplicable is a case that is not about this Envoy or this compiler, with the
// reason.
type NotApplicable struct {
	Name   string `yaml:"name"`
	Reason string `yaml:"reason"`
}

// The results of a level and of a case.
const (
	success = "success"
	partial = "partial"
	failure = "failure"
)

// gatewayAPI is the release of Gateway API whose text of GEP-3779 is tested. The GEP is
// in no channel yet; experimental is where it will come first.
const (
	gatewayAPI        = "v1.6.0"
	gatewayAPIChannel = "experimental"
)

// NewConformance draws the report of one run. The profiles are those that the run
// claims, in order.
func NewConformance(r Run) Conformance {
	out := Conformance{
		APIVersion: "gateway.networking.k8s.io/v1", Kind: "ConformanceReport", Date: r.Date.UTC().Format(time.RFC3339),
		Version: gatewayAPI, Channel: gatewayAPIChannel, Mode: "default", Implementation: r.Implementation,
		Profiles: []ProfileState{},
		Meshproof: Extension{
			Version: r.Meshproof, Envoy: EnvoyState{r.Envoy, r.EnvoySHA256, r.Runtime}, Shard: r.Shard, Milliseconds: r.Milliseconds,
			Classes: r.ClassesProven, Mutation: r.MutationScore, EvidenceSHA256: r.hash(), Cases: []CaseState{},
		},
	}
	for _, p := range r.Profiles {
		out.Profiles = append(out.Profiles, r.profile(p))
	}
	for _, c := range r.Cases {
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

func (r Run) profile(p feature.Profile) ProfileState {
	out := ProfileState{Name: string(p), Core: r.status(p, feature.Core)}
	extended := Extended{Status: r.status(p, feature.Extended)}
	for _, f := range feature.Of(p, feature.Extended) {
		if slices.Contains(r.Unsupported, f.Name) {
			extended.UnsupportedFeatures = append(extended.UnsupportedFeatures, string(f.Name))
		} else {
			extended.SupportedFeatures = append(extended.SupportedFeatures, string(f.Name))
		}
	}
	if extended.Result == success && extended.Statistics.Passed == 0 && extended.SupportedFeatures != nil {
		extended.Result = partial
	}
	out.Summary = "Core tests " + out.Core.sentence()
	if extended.Statistics != (Statistics{}) {
		out.Summary += ". Extended tests " + extended.sentence()
	}
	out.Summary += "."
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
		out.Result = partial
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

func (s Status) sentence() string {
	switch s.Result {
	case failure:
		return fmt.Sprintf("failed with %d failures", s.Statistics.Failed)
	case partial:
		return fmt.Sprintf("partially succeeded with %d skips", s.Statistics.Skipped)
	default:
		return "succeeded"
	}
}

func (c Case) state() CaseState {
	out := CaseState{
		Name: c.Case, Story: c.Story, Result: success, Requests: len(c.Requests), Milliseconds: c.Milliseconds, EvidenceSHA256: c.EvidenceSHA256,
	}
	for _, name := range c.Features {
		out.Features = append(out.Features, string(name))
	}
	switch {
	case c.Skipped != "":
		out.Result, out.Reason = "skipped", c.Skipped
	case !c.Passed:
		out.Result, out.Reason = failure, c.reason()
	}
	return out
}

// reason returns the first line of what went wrong.
func (c Case) reason() string {
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
