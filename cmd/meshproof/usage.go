package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// badFlag tells where the flags are described.
func badFlag(cmd *cobra.Command, err error) error {
	return fmt.Errorf("%w: see %s --help", err, cmd.CommandPath())
}

// noArgs takes no argument: what is one all the same was meant as a command where
// there are commands.
func noArgs(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case !cmd.HasAvailableSubCommands():
		return fmt.Errorf("unexpected argument %q: see %s --help", args[0], cmd.CommandPath())
	}
	var known []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			known = append(known, c.Name())
		}
	}
	return fmt.Errorf("unknown command %q: %s has %s", args[0], cmd.CommandPath(), strings.Join(known, ", "))
}

func needPath(cmd *cobra.Command, paths []string) error {
	if len(paths) == 0 {
		return fmt.Errorf("no file was named: see %s --help", cmd.CommandPath())
	}
	return nil
}
