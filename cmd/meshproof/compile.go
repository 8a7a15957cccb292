package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

func newCompile() *cobra.Command {
	var source sourceOptions
	var output outputFormat
	var program bool
	cmd := &cobra.Command{
		Use:   "compile PATH…",
		Short: "Print the Envoy filters of policies",
		Long: `Compile prints the RBAC filters of each inbound: of the inbounds of a case file, or of the one
inbound that the flags describe where PATH is a file with policies. Warnings go to standard error.`,
		Example: `  meshproof compile policies.yaml --label app=backend --inbound http-port --protocol http
  meshproof compile cases/kuma/design-example.yaml --to backend/http-port --output json
  meshproof compile policies.yaml --program`,
		Args: needPath,
		RunE: func(cmd *cobra.Command, paths []string) error {
			if program && output == outputJSON {
				return errors.New("--program: a program is printed as text only: leave --output json out")
			}
			subjects, err := source.subjects(paths)
			if err != nil {
				return err
			}
			warn(cmd.ErrOrStderr(), subjects)
			if output == outputJSON {
				return compileJSON(cmd.OutOrStdout(), subjects)
			}
			for _, s := range subjects {
				if err := compile(cmd.OutOrStdout(), s, program); err != nil {
					return err
				}
			}
			return nil
		},
	}
	source.add(cmd)
	addOutput(cmd, &output)
	cmd.Flags().Lookup("output").Usage = "text is YAML"
	cmd.Flags().BoolVar(&program, "program", false, "print the decision program instead of the filters")
	return cmd
}

// warn prints each warning once: the inbounds of one case share theirs.
func warn(stderr io.Writer, subjects []lab.Subject) {
	said := map[string]bool{}
	for _, s := range subjects {
		for _, w := range s.Warnings() {
			if text := w.String(); !said[text] {
				said[text] = true
				fmt.Fprintf(stderr, "meshproof: warning: %s\n", text)
			}
		}
	}
}

func compile(stdout io.Writer, s lab.Subject, asProgram bool) error {
	program := s.Set.Program(s.Inbound)
	if asProgram {
		fmt.Fprintf(stdout, "# %s\n%s", s.Title(), program.Program)
		return nil
	}
	filters, err := filtersJSON(program.Program)
	if err != nil {
		return err
	}
	for _, raw := range filters {
		text, err := yaml.JSONToYAML(raw)
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "---\n# %s\n%s\n", s.Title(), bytes.TrimSpace(text))
	}
	return nil
}

// compilation is the JSON form of an inbound's filters.
type compilation struct {
	Case     string            `json:"case,omitempty"`
	Inbound  string            `json:"inbound"`
	Protocol string            `json:"protocol"`
	Filters  []json.RawMessage `json:"filters"`
}

func compileJSON(stdout io.Writer, subjects []lab.Subject) error {
	out := make([]compilation, len(subjects))
	for i, s := range subjects {
		filters, err := filtersJSON(s.Set.Program(s.Inbound).Program)
		if err != nil {
			return err
		}
		out[i] = compilation{Case: s.Case, Inbound: s.Inbound.String(), Protocol: s.Inbound.Protocol.String(), Filters: filters}
	}
	return terminal.WriteJSON(stdout, out)
}

// filtersJSON compiles a program; without a gate the result is empty, not nil.
func filtersJSON(program policy.Program) ([]json.RawMessage, error) {
	filters, err := xds.Compile(program)
	if err != nil {
		return nil, err
	}
	out := []json.RawMessage{}
	for _, message := range filters.Messages() {
		raw, err := typedJSON(message)
		if err != nil {
			return nil, err
		}
		out = append(out, raw)
	}
	return out, nil
}

// typedJSON is a filter with its type, as it would stand in a listener. The detour
// through encoding/json undoes protojson's random white space.
func typedJSON(message proto.Message) ([]byte, error) {
	packed, err := anypb.New(message)
	if err != nil {
		return nil, err
	}
	raw, err := protojson.Marshal(packed)
	if err != nil {
		return nil, err
	}
	var pretty bytes.Buffer
	err = json.Indent(&pretty, raw, "", "  ")
	return pretty.Bytes(), err
}
