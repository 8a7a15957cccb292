package report

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Implementation says whose compiler was under test, in the words of Gateway API's
// report. All fields are needed to publish a report.
type Implementation struct {
	Organization string   `json:"organization" yaml:"organization"`
	Project      string   `json:"project" yaml:"project"`
	URL          string   `json:"url" yaml:"url"`
	Version      string   `json:"version" yaml:"version"`
	Contact      []string `json:"contact" yaml:"contact"`
}

// Missing names the fields that nobody stated, in their order.
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

// UnknownImplementation returns an implementation of which nothing is known but what it
// says of itself.
func UnknownImplementation(project, version string) Implementation {
	const unknown = "unknown"
	return Implementation{Organization: unknown, Project: project, URL: unknown, Version: cmp.Or(version, unknown), Contact: []string{unknown}}
}

// ReadImplementation reads a YAML file. All fields are required.
func ReadImplementation(file string) (out Implementation, err error) {
	data, err := os.ReadFile(file)
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
