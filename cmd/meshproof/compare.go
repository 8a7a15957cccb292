package main

import "github.com/spf13/cobra"

func newSideBySide() *cobra.Command {
	o := diffOptions{sideBySide: true, confirm: true}
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "Hold two sets of policies side by side, such as those of two dialects, on a real Envoy",
		Long: `Compare cuts the requests to each inbound into classes that both sets of policies decide alike, and sends
one of each class through a real Envoy, under A and under B. It lists every class, and where only one side lets
it pass, the request and the rules that decide. A and B are files or folders as for diff, of any dialect. The
workloads are those of a case in --workloads, or they are made for the policies; then the output says which.
Decisions are alike where both let a request pass or both refuse it: one may close the connection.

Exit status: 0 if A and B decide alike; 1 if they do not, if something cannot be asked, or if Envoy does not
decide as the policies say.`,
		Example: `  meshproof compare istio/ cilium/ --workloads shop.yaml
  meshproof compare kuma/ istio/ --label app=backend --output markdown`,
		Args: needTwo("sets of policies"),
		RunE: func(cmd *cobra.Command, paths []string) error {
			return o.run(cmd.Context(), paths[0], paths[1], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.source.add(cmd)
	o.addSides(cmd, "A", "B")
	flags := cmd.Flags()
	flags.StringVar(&o.workloads, "workloads", "", "case `file` with the workloads; its own policies and requests count for nothing")
	flags.BoolVar(&o.svids, "svids", false, "leave out callers with several URI SANs: an X.509-SVID has one")
	o.envoy.add(cmd)
	flags.StringVar(&o.report, "report", "", "write results, conformance report, page, JUnit and summary into this folder")
	addOutput(cmd, &o.output, outputMarkdown)
	return cmd
}
