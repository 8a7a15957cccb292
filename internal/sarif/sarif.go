// Package sarif writes findings as a log of SARIF 2.1.0, which code scanners of forges read.
//
// It guarantees that each finding names a rule that the log describes, and has a line where
// one is known. It has no more of the format than findings need.
package sarif

import (
	"cmp"
	"strconv"
	"strings"
)

// Rule is a kind of finding. Help is the address of a page about it; it may be empty.
type Rule struct{ ID, Description, Help string }

// Level says how bad a finding is.
type Level string

// The levels.
const (
	Error   Level = "error"
	Warning Level = "warning"
)

// Finding is one thing that was found.
type Finding struct {
	// Rule is the ID of its kind.
	Rule string
	Text string
	// Place begins with "file:line", and more may follow behind ": "; or it is empty.
	Place string
	// Level is [Error] where it is empty.
	Level Level
}

// Log is a whole log.
type Log struct {
	Schema  string `json:"$schema"`
	Version string `json:"version"`
	Runs    []run  `json:"runs"`
}

type (
	run struct {
		Tool    tool      `json:"tool"`
		Results []outcome `json:"results"`
	}
	tool struct {
		Driver driver `json:"driver"`
	}
	driver struct {
		Name    string           `json:"name"`
		Version string           `json:"version,omitempty"`
		Rules   []ruleDescriptor `json:"rules"`
	}
	ruleDescriptor struct {
		ID               string  `json:"id"`
		ShortDescription message `json:"shortDescription"`
		HelpURI          string  `json:"helpUri,omitempty"`
	}
	outcome struct {
		RuleID    string     `json:"ruleId"`
		Level     Level      `json:"level"`
		Message   message    `json:"message"`
		Locations []location `json:"locations,omitempty"`
	}
	message struct {
		Text string `json:"text"`
	}
	location struct {
		PhysicalLocation physicalLocation `json:"physicalLocation"`
	}
	physicalLocation struct {
		ArtifactLocation artifactLocation `json:"artifactLocation"`
		Region           *region          `json:"region,omitempty"`
	}
	artifactLocation struct {
		URI string `json:"uri"`
	}
	region struct {
		StartLine int `json:"startLine"`
	}
)

// New returns the log of findings. The version is that of meshproof.
func New(version string, rules []Rule, findings []Finding) Log {
	d := driver{Name: "meshproof", Version: version, Rules: []ruleDescriptor{}}
	for _, r := range rules {
		d.Rules = append(d.Rules, ruleDescriptor{r.ID, message{r.Description}, r.Help})
	}
	one := run{Tool: tool{d}, Results: []outcome{}}
	for _, f := range findings {
		one.Results = append(one.Results, outcome{RuleID: f.Rule, Level: cmp.Or(f.Level, Error), Message: message{f.Text}, Locations: locations(f.Place)})
	}
	return Log{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []run{one}}
}

func locations(place string) []location {
	place, _, _ = strings.Cut(place, ": ")
	file, line := place, 0
	if at := strings.LastIndexByte(place, ':'); at >= 0 {
		if n, err := strconv.Atoi(place[at+1:]); err == nil {
			file, line = place[:at], n
		}
	}
	if file == "" {
		return nil
	}
	out := location{physicalLocation{ArtifactLocation: artifactLocation{file}}}
	if line > 0 {
		out.PhysicalLocation.Region = &region{line}
	}
	return []location{out}
}
