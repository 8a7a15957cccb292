package main

import (
	"cmp"
	"errors"

	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/internal/compilation"
	"github.com/meshproof/meshproof/internal/findings"
)

func newCompile() *cobra.Command {
	var source sourceOptions
	var output outputFormat
	var program bool
	cmd := &cobra.Command{
		Use:   "compile PATH…",
		Short: "Print the Envoy filters of policies",
		Long: `Compile prints the RBAC filters of each inbound: of the inbounds of a case file, or of the one
inbound that the flags describe where PATH is a file with policies. Of routes, timeouts and services it
prints the route configurations, network filters and clusters of each sidecar. Warnings go to standard
error.`,
		Example: `  meshproof compile policies.yaml --label app=backend --inbound http-port --protocol http
  meshproof compile cases/kuma/design-example.yaml --to backend/http-port --output json
  meshproof compile examples/routes --to MeshService/backend:80
  meshproof compile policies.yaml --program`,
		Args: needPath,
		RunE: func(cmd *cobra.Command, paths []string) error {
			if program && output == outputJSON {
				return errors.New("--program: a program is printed as text only: leave --output json out")
			}
			files, s, err := source.open(paths)
			if err != nil {
				return err
			}
			subjects, err := source.subjectsOf(files, s)
			if err != nil {
				return err
			}
			findings.Print(cmd.ErrOrStderr(), subjects)
			compiled, err := compilation.Compile(files, s, source.only, subjects)
			switch {
			case err != nil:
				return err
			case program:
				compiled.WritePrograms(cmd.OutOrStdout())
			default:
				err = printResult(cmd.OutOrStdout(), output, compiled)
			}
			return cmp.Or(err, source.judge(subjects))
		},
	}
	source.routing = true
	source.add(cmd)
	addOutput(cmd, &output)
	cmd.Flags().Lookup("output").Usage = "text is YAML"
	cmd.Flags().BoolVar(&program, "program", false, "print the decision program instead of the filters")
	return cmd
}
