package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/internal/matrix"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/folder"
	"github.com/meshproof/meshproof/internal/report/markdown"
	"github.com/meshproof/meshproof/internal/report/summary"
	"github.com/meshproof/meshproof/internal/terminal"
)

func newReport() *cobra.Command {
	return newGroup("report", "Join, compare and reuse the results of run --report", newMerge(), newCompare(), newTimes())
}

func newMerge() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "merge RESULTS…",
		Short: "Join the shards of runs, and runs on several versions, into one report",
		Long: `Merge reads results, joins the parts of each run, and writes one report of all.
A part that is missing is an error. RESULTS is a results-*.json, or a folder with some at any depth.`,
		Example: `  meshproof report merge shard-1 shard-2 --report whole`,
		Args:    needPath,
		RunE: func(cmd *cobra.Command, paths []string) error {
			if dir == "" {
				return errors.New("--report: name the folder to write the report into")
			}
			parts, err := folder.Load(paths...)
			if err != nil {
				return err
			}
			merged, err := report.Merge(parts...)
			if err != nil {
				return err
			}
			if err := folder.Write(dir, merged); err != nil {
				return err
			}
			return exitOf(summary.WriteReports(cmd.OutOrStdout(), terminal.PaintFor(cmd.OutOrStdout()), merged))
		},
	}
	cmd.Flags().StringVar(&dir, "report", "", "folder to write the report into")
	return cmd
}

func newTimes() *cobra.Command {
	return &cobra.Command{
		Use:   "times RESULTS…",
		Short: "Print how long each case took, for run --times",
		Args:  needPath,
		RunE: func(cmd *cobra.Command, paths []string) error {
			runs, err := folder.Load(paths...)
			if err != nil {
				return err
			}
			_, err = matrix.TimesOf(runs).WriteTo(cmd.OutOrStdout())
			return err
		},
	}
}

func newCompare() *cobra.Command {
	var format outputFormat
	decisions := false
	cmd := &cobra.Command{
		Use:   "compare OLD NEW",
		Short: "Show what differs between two runs: versions, compilers or days",
		Long: `Compare holds the evidence of NEW against that of OLD, request by request. It exits with 1 where
they differ. Each is a results-*.json, or a folder. In folders with several runs, the runs of the
same version, runtime and project are compared.`,
		Example: `  meshproof report compare matrix/results-1.38.3.json matrix/results-1.40.0.json
  meshproof report compare yesterday today --decisions --output markdown`,
		Args: needTwo("results"),
		RunE: func(cmd *cobra.Command, paths []string) error {
			before, err := folder.Load(paths[0])
			if err != nil {
				return err
			}
			after, err := folder.Load(paths[1])
			if err != nil {
				return err
			}
			comparisons, unpaired, err := report.CompareAll(before, after)
			if err != nil {
				return err
			}
			for _, run := range unpaired {
				fmt.Fprintf(cmd.ErrOrStderr(), "meshproof: not compared, %s\n", terminal.Printable(run))
			}
			comparisons, alike := report.Judge(comparisons, unpaired, decisions)
			if err := writeComparisons(cmd.OutOrStdout(), comparisons, format); err != nil {
				return err
			}
			if !alike {
				return &exitError{code: exitDiffers}
			}
			return nil
		},
	}
	addOutput(cmd, &format, outputMarkdown)
	cmd.Flags().Lookup("output").Usage = "how to print the differences"
	cmd.Flags().BoolVar(&decisions, "decisions", false, "compare only the cases of both, and only their decisions, deciding policies, shadows and statuses")
	return cmd
}

func writeComparisons(w io.Writer, all []report.Comparison, format outputFormat) error {
	if format == outputJSON {
		return terminal.WriteJSON(w, all)
	}
	for _, c := range all {
		text := c.Text()
		if format == outputMarkdown {
			text = markdown.Comparison(c)
		}
		if _, err := fmt.Fprintln(w, text); err != nil {
			return err
		}
	}
	return nil
}
