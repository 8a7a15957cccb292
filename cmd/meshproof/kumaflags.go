package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/meshproof/meshproof/policy/kuma"
)

// addKumaFlags adds what policies of Kuma do not say themselves, and a case states
// under options.
func addKumaFlags(flags *pflag.FlagSet, opts *kuma.Options) {
	flags.Var(textFlag{&opts.Option, "option1|option2|option3"}, "kuma-option", "design of MeshTrafficPermission that the policies are written for")
	flags.Var(textFlag{&opts.ShadowForm, "accepted|precise"}, "shadow-form", "shape of the shadow")
	flags.Var(textFlag{&opts.LegacyCompiler, "compact|full"}, "legacy-compiler", "compiler of policies with from")
	flags.StringVar(&opts.SystemNamespace, "system-namespace", "", "namespace of the control plane, kuma-system where it is empty")
}

func completeKumaFlags(cmd *cobra.Command) {
	for _, name := range []string{"kuma-option", "shadow-form", "legacy-compiler"} {
		completeValues(cmd, name)
	}
}
