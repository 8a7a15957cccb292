package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
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
	PolicyNames    string          `yaml:"policyNames"`
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
			Version: r.Meshproof, Envoy: EnvoyState{r.Envoy, r.EnvoySHA256, r.Runtime}, Shard: r.Shard, Milliseconds: r.Milliseconds,
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
		Name: c.Case, Story: c.Story, Result: success, Requests: len(c.Requests), Milliseconds: c.Milliseconds, EvidenceSHA256: c.EvidenceSHA256,
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
