package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// usageWidth is the width of the help of flags, in columns.
const usageWidth = 120

// groupUsage lets the help of each command print its flags group by group. A command that only has commands below it
// has no flags to group.
func groupUsage(root *cobra.Command) {
	ofCommands := root.UsageFunc()
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		if cmd.HasAvailableSubCommands() {
			return ofCommands(cmd)
		}
		_, err := fmt.Fprint(cmd.OutOrStderr(), usage(cmd))
		return err
	})
}

// usage describes how a command is called.
func usage(cmd *cobra.Command) string {
	text := "Usage:\n  " + cmd.UseLine() + "\n"
	if cmd.HasExample() {
		text += "\nExamples:\n" + cmd.Example + "\n"
	}
	return text + flagUsage(cmd.LocalFlags())
}

// flagUsage describes flags: first those without a group, then each group under its own title.
func flagUsage(flags *pflag.FlagSet) string {
	groups := map[flagGroup]*pflag.FlagSet{}
	flags.VisitAll(func(f *pflag.Flag) {
		group := groupOf(f)
		if groups[group] == nil {
			groups[group] = newFlags()
		}
		groups[group].AddFlag(f)
	})
	var text strings.Builder
	for _, group := range append([]flagGroup{""}, flagGroups...) {
		set := groups[group]
		if set == nil {
			continue
		}
		title := "Flags"
		if group != "" {
			title += " about " + string(group)
		}
		fmt.Fprintf(&text, "\n%s:\n%s", title, set.FlagUsagesWrapped(usageWidth))
	}
	return text.String()
}

// groupOf returns the group of a flag, empty for none.
func groupOf(f *pflag.Flag) flagGroup {
	for _, group := range flagGroups {
		if group.isOf(f) {
			return group
		}
	}
	return ""
}
