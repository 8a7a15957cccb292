package main

import (
	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/policy/kuma"
)

// addKumaFlags adds what policies of Kuma do not say themselves, and a case states
// under options. about begins the usage of each.
func addKumaFlags(cmd *cobra.Command, opts *kuma.Options, about string) {
	flags := cmd.Flags()
	flags.Var(textFlag{&opts.Option, "option1|option2|option3"}, "kuma-option", about+"design of MeshTrafficPermission that the policies are written for")
	flags.Var(textFlag{&opts.ShadowForm, "accepted|precise"}, "shadow-form", about+"shape of the shadow")
	flags.Var(textFlag{&opts.LegacyCompiler, "compact|full"}, "legacy-compiler", about+"compiler of policies with from")
	flags.StringVar(&opts.SystemNamespace, "system-namespace", "", about+"namespace of the control plane, kuma-system where it is empty")
	for _, name := range []string{"kuma-option", "shadow-form", "legacy-compiler"} {
		completeValues(cmd, name)
	}
}
