package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/internal/flagvalue"
	"github.com/meshproof/meshproof/internal/inspection"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/optionflag"
	"github.com/meshproof/meshproof/internal/webserver"
	"github.com/meshproof/meshproof/policy/language"
)

func newInspect() *cobra.Command {
	return newGroup("inspect", "Show what policies do to an inbound: as text, or as a page and an API", newInspectServe(), newInspectInbound())
}

func newInspectInbound() *cobra.Command {
	var source sourceOptions
	var output outputFormat
	cmd := &cobra.Command{
		Use:     "inbound PATH…",
		Short:   "Print what applies to an inbound, in which order, and why the rest does not",
		Example: `  meshproof inspect inbound policies/ --namespace shop --label app=payments`,
		Args:    needPath,
		RunE: func(cmd *cobra.Command, paths []string) error {
			subjects, err := source.subjects(paths)
			if err != nil {
				return err
			}
			return cmp.Or(printResult(cmd.OutOrStdout(), output, inspection.Inspect(subjects)), source.judge(subjects))
		},
	}
	source.add(cmd)
	addOutput(cmd, &output)
	return cmd
}

func newInspectServe() *cobra.Command {
	var listen string
	var options optionflag.Set
	var strict bool
	cmd := &cobra.Command{
		Use:   "serve FOLDER",
		Short: "Serve the Inspect API and a page on the policies and Dataplanes of a folder",
		Long: `Serve answers which rules of MeshTrafficPermissions apply to an inbound, in which order, from
which policy, and who may call it; and which routes and timeouts a Dataplane's own requests meet. FOLDER has Dataplanes,
MeshTrafficPermissions, services, routes and MeshTimeouts in .yaml, .yml and .json files, which are read once. Documents of
other tools are left out. An interrupt ends it. It does not authenticate callers: listen on loopback, where it answers only
requests for localhost.`,
		Example: `  meshproof inspect serve policies
  meshproof inspect serve policies --listen 127.0.0.1:0`,
		Args: oneFolder,
		RunE: func(cmd *cobra.Command, folders []string) error {
			files, err := inspection.Open(folders...)
			if err == nil {
				err = lab.LeaveOut(cmd.ErrOrStderr(), strict, files)
			}
			if err != nil {
				return fmt.Errorf("inspect: %w", err)
			}
			return serveInspect(cmd.Context(), files, listen, language.Options{Document: options.Document()}, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
	}
	cmd.Flags().Var(flagvalue.Address(&listen, "127.0.0.1:5681"), "listen", "address to listen on; port 0 takes a free one")
	addStrictFiles(cmd, &strict)
	options.Add(cmd.Flags())
	completeOptions(cmd, options)
	return cmd
}

func oneFolder(cmd *cobra.Command, folders []string) error {
	if len(folders) != 1 {
		return fmt.Errorf("%d folders are named: name one, see %s --help", len(folders), cmd.CommandPath())
	}
	return nil
}

// serveInspect serves until the context ends. Its error is then the cause of the end.
func serveInspect(ctx context.Context, files *lab.Files, listen string, opts language.Options, stdout, stderr io.Writer) error {
	handler, err := inspection.Handler(files, opts)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return machineError(fmt.Errorf("inspect: %w: choose another address with --listen", err))
	}
	if at, ok := listener.Addr().(*net.TCPAddr); ok && !at.IP.IsLoopback() {
		fmt.Fprintf(stderr, "meshproof: note: %s is not on loopback: whoever reaches it reads the policies, since no client is authenticated\n", at)
	}
	if _, err := fmt.Fprintf(stdout, "http://%s\n", listener.Addr()); err != nil {
		return errors.Join(err, listener.Close())
	}
	err = webserver.Serve(ctx, handler, listener)
	switch {
	case ctx.Err() == nil:
		return machineError(fmt.Errorf("inspect: %w", err))
	case err != nil:
		return newEndError(fmt.Errorf("inspect: %w", err))
	default:
		return context.Cause(ctx)
	}
}
