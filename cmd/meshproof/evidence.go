package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/matrix"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/folder"
	"github.com/meshproof/meshproof/internal/result"
)

// beginReport returns a report without a case, about what one Envoy was asked.
func beginReport(ctx context.Context, h *harness.Harness, began time.Time) report.Run {
	digest, err := h.Digest(ctx)
	if err != nil {
		digest = "" // the report says that it is unknown
	}
	return report.Run{
		Meshproof: matrix.Version(), Implementation: matrix.Reference(), Date: began.UTC().Truncate(time.Second),
		Envoy: h.Version(), EnvoySHA256: digest, Runtime: h.Runtime().String(), Behavior: h.Behavior().Answers(),
	}
}

// reportCase is one result in such a report.
func reportCase(r result.Case, story, again string, run report.Run) report.Case {
	c := report.Build(r)
	c.Story = story
	if again != "" {
		c.Again = again + " --envoy " + run.Envoy + " --runtime " + run.Runtime
	}
	return c
}

// addAsWhole adds what makes a command fail beside the cases of a run.
func addAsWhole(run *report.Run, of string, reasons []string) {
	errs := make([]error, len(reasons))
	for i, reason := range reasons {
		errs[i] = errors.New(reason)
	}
	run.AddUnmet(of+" as a whole", errs, report.Build)
}

// prepareReport makes sure that a report can be written, before Envoy is asked anything.
func prepareReport(dir string) error {
	if dir == "" {
		return nil
	}
	if err := folder.Prepare(dir); err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	return nil
}

// writeReport writes a report that is complete, and nothing where no folder is named.
func writeReport(dir string, run report.Run, began time.Time) error {
	if dir == "" {
		return nil
	}
	run.Milliseconds = float64(time.Since(began).Microseconds()) / 1000
	return folder.Write(dir, []report.Run{run})
}
