// Package compilation prints what policies compile to: the filters of an inbound as YAML,
// as JSON, or the decision program.
//
// It guarantees that each filter is printed with its type, as it would stand in a
// listener. It compiles with meshproof's own compiler; [Filters] asks any compiler.
package compilation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// Compilation is what the policies of one inbound compile to.
type Compilation struct {
	Case     string `json:"case,omitempty"`
	Inbound  string `json:"inbound"`
	Protocol string `json:"protocol"`
	// Filters are JSON with their types. They are empty where the program has no gate.
	Filters []json.RawMessage `json:"filters"`

	title   string
	program policy.Program
}

// Compilations are those of several inbounds.
type Compilations []Compilation

// Compile compiles the policies of each subject, and what [Sidecars] compiles. It fails where a program
// cannot be compiled.
func Compile(files *lab.Files, s lab.Surroundings, to string, subjects []lab.Subject) (Result, error) {
	inbounds, err := ofInbounds(subjects)
	if err != nil {
		return Result{}, err
	}
	sidecars, err := Sidecars(files, s, to)
	return Result{inbounds, sidecars}, err
}

func ofInbounds(subjects []lab.Subject) (Compilations, error) {
	out := make(Compilations, len(subjects))
	for i, s := range subjects {
		program := s.Set.Program(s.Inbound.Inbound).Program
		out[i] = Compilation{
			Case: s.Case, Inbound: s.Inbound.String(), Protocol: s.Inbound.Protocol.String(),
			Filters: []json.RawMessage{}, title: s.Title(), program: program,
		}
		filters, err := xds.Compile(program)
		if err != nil {
			return nil, err
		}
		for _, message := range filters.Messages() {
			raw, err := typedJSON(message)
			if err != nil {
				return nil, err
			}
			out[i].Filters = append(out[i].Filters, raw)
		}
	}
	return out, nil
}

// WriteText prints the filters as YAML, a document each.
func (all Compilations) WriteText(w io.Writer, _ terminal.Paint) {
	for _, c := range all {
		for _, raw := range c.Filters {
			writeDocument(w, c.title, raw)
		}
	}
}

// WritePrograms prints the decision programs.
func (all Compilations) WritePrograms(w io.Writer) {
	for _, c := range all {
		fmt.Fprintf(w, "# %s\n%s", c.title, c.program)
	}
}

// typedJSON returns a filter with its type. The detour through encoding/json undoes the
// random white space of protojson.
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

// Filters returns as JSON what a compiler makes of each inbound of a case. Where it fails,
// the text is its error. The compiler nil is meshproof's own.
func Filters(ctx context.Context, compiler suite.Compiler, c cases.Case) string {
	if compiler == nil {
		compiler = suite.Reference
	}
	var b strings.Builder
	for _, in := range c.Inbounds {
		filters, err := suite.CompileOne(ctx, compiler, in.Inbound, c.Policies, c.Options)
		if err != nil {
			fmt.Fprintf(&b, "%v\n", err)
			continue
		}
		for _, m := range filters.Messages() {
			text, err := typedJSON(m)
			if err != nil {
				text = []byte(err.Error())
			}
			fmt.Fprintf(&b, "%s\n", text)
		}
	}
	return b.String()
}
