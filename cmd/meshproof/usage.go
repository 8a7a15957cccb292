package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// badFlag adds where the flags are described.
func badFlag(cmd *cobra.Command, err error) error {
	return fmt.Errorf("%w: see %s --help", err, cmd.CommandPath())
}

// noArgs takes no argument. Where there are commands, it takes an argument for an unknown
// command.
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
