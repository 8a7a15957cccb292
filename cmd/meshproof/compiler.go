package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/meshproof/meshproof/internal/ads"
	"github.com/meshproof/meshproof/internal/flagvalue"
	"github.com/meshproof/meshproof/internal/matrix"
	"github.com/meshproof/meshproof/internal/plugin"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/internal/terminal"
)

// compilerFlags are the flags that name the compiler under test.
type compilerFlags struct {
	command        string
	timeout        time.Duration
	implementation string
	// ads is host:port of a control plane that stands in for the compiler.
	ads          string
	adsPlaintext bool
	// flags tells which of them were set.
	flags *pflag.FlagSet
}

func (c *compilerFlags) add(cmd *cobra.Command) {
	c.addCommand(cmd)
	flags := newFlags()
	flags.Var(flagvalue.Address(&c.ads, ""), "ads", "test the control plane at this address: the filters come from its listeners, see docs/compilers.md")
	flags.BoolVar(&c.adsPlaintext, "ads-plaintext", false, "reach the control plane without TLS")
	flags.StringVar(&c.implementation, "implementation", "", "YAML file that says whose compiler it is: organization, project, url, version and contact")
	addGroup(cmd, otherCompiler, flags)
}

// addCommand adds the flags that name a command, without those for a control plane and for
// a report.
func (c *compilerFlags) addCommand(cmd *cobra.Command) {
	c.flags = cmd.Flags()
	flags := newFlags()
	flags.StringVar(&c.command, "compiler", "", "test this compiler: a command for /bin/sh that speaks the protocol of docs/compilers.md (default: meshproof's own)")
	flags.DurationVar(&c.timeout, "compiler-timeout", 10*time.Second, "how long the compiler may be silent while an answer is due")
	addGroup(cmd, otherCompiler, flags)
}

// start starts the compiler that the flags name, nil for meshproof's own, and says whose
// it is. The function ends the compiler. It fails where the compiler broke before.
func (c *compilerFlags) start(ctx context.Context) (suite.Compiler, report.Implementation, func() error, error) {
	if err := c.check(); err != nil {
		return nil, report.Implementation{}, nil, err
	}
	if !c.isForeign() {
		return nil, matrix.Reference(), func() error { return nil }, nil
	}
	var implementation report.Implementation
	if c.implementation != "" {
		var err error
		if implementation, err = report.ReadImplementation(c.implementation); err != nil {
			return nil, implementation, nil, fmt.Errorf("--implementation: %w", err)
		}
	}
	if c.ads != "" {
		compiler := ads.Compiler{Target: c.ads, Timeout: c.timeout}
		if c.adsPlaintext {
			compiler.Transport = insecure.NewCredentials()
		}
		if c.implementation == "" {
			implementation = report.UnknownImplementation("control plane at "+c.ads, "")
		}
		return &suite.Foreign{CompilerFunc: compiler.Compile}, implementation, func() error { return nil }, nil
	}
	compiler, err := plugin.Start(ctx, plugin.Shell(c.command), plugin.Options{Meshproof: matrix.Version(), Timeout: c.timeout})
	if err != nil {
		return nil, report.Implementation{}, nil, machineError(err)
	}
	if c.implementation == "" {
		implementation = report.UnknownImplementation(compiler.Name, compiler.Version)
	}
	return &suite.Foreign{CompilerFunc: compiler.Compile}, implementation, compiler.Close, nil
}

// check refuses flags that name no compiler.
func (c *compilerFlags) check() error {
	switch {
	case c.timeout <= 0:
		return fmt.Errorf("--compiler-timeout: %s is too short: use a duration above 0, such as 10s", c.timeout)
	case c.command != "" && c.ads != "":
		return errors.New("--ads: one compiler is tested at a time: leave out --ads or --compiler")
	case c.adsPlaintext && c.ads == "":
		return errors.New("--ads-plaintext needs --ads: add it, or leave --ads-plaintext out")
	case strings.TrimSpace(c.command) != "" || c.ads != "":
		return nil
	case c.flags.Changed("compiler"):
		return errors.New("--compiler: name the command that starts the compiler")
	}
	for _, name := range []string{"compiler-timeout", "implementation"} {
		if c.flags.Changed(name) {
			return fmt.Errorf("--%s needs --compiler: add it, or leave --%[1]s out", name)
		}
	}
	return nil
}

// arguments are the flags for a command that repeats a run.
func (c *compilerFlags) arguments() []string {
	var words []string
	switch {
	case c.command != "":
		words = []string{"--compiler", terminal.Quote(c.command)}
	case c.ads != "":
		words = []string{"--ads", c.ads}
	default:
		return nil
	}
	if c.adsPlaintext {
		words = append(words, "--ads-plaintext")
	}
	if c.flags.Changed("compiler-timeout") {
		words = append(words, "--compiler-timeout", c.timeout.String())
	}
	return words
}

// isForeign reports whether the flags name another compiler than meshproof's own.
func (c *compilerFlags) isForeign() bool { return c.command != "" || c.ads != "" }

// lacksImplementation reports whether a report would not say whose compiler it is about.
func (c *compilerFlags) lacksImplementation() bool {
	return c.isForeign() && c.implementation == ""
}
