package main

import (
	"context"
	"time"

	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/matrix"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/folder"
	"github.com/meshproof/meshproof/internal/result"
)

// labReport is a report without a case, of what was asked of one Envoy.
func labReport(ctx context.Context, h *harness.Harness, began time.Time) report.Run {
	digest, err := h.Digest(ctx)
	if err != nil {
		digest = "" // the report says of itself that it does not know
	}
	return report.Run{
		Meshproof: matrix.Version(), Implementation: matrix.Reference(), Date: began.UTC().Truncate(time.Second),
		Envoy: h.Version(), EnvoySHA256: digest, Runtime: h.Runtime().String(),
	}
}

// labCase is one result in such a report.
func labCase(r result.Case, story, again string, run report.Run) report.Case {
	c := report.Build(r)
	c.Story = story
	if again != "" {
		c.Again = again + " --envoy " + run.Envoy + " --runtime " + run.Runtime
	}
	return c
}

// prepareReport makes sure that a report can be written, before anything is asked for it.
func prepareReport(dir string) error {
	if dir == "" {
		return nil
	}
	return folder.Prepare(dir)
}

// writeLabReport writes a report that is over, nowhere where no folder is named.
func writeLabReport(dir string, run report.Run, began time.Time) error {
	if dir == "" {
		return nil
	}
	run.Milliseconds = float64(time.Since(began).Microseconds()) / 1000
	return folder.Write(dir, []report.Run{run})
}
