package diff

import (
	"context"
	"slices"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/verdict"
)

// Confirm shows all changes on a version of Envoy, under the old policies and under the new
// ones. The function run runs cases whose policies were read, and returns a result for each. Confirm returns all
// results in order. Its error is the cause for which ctx ended.
func (d *Difference) Confirm(ctx context.Context, envoy string, run func(context.Context, ...*verdict.Reading) []result.Case) ([]result.Case, error) {
	var out []result.Case
	for i := range d.Cases {
		c := &d.Cases[i]
		if c.changes() == 0 {
			continue
		}
		old, recent := Shown(c.Old, c.New, c.Comparisons)
		old.Name, recent.Name = old.Name+" (old)", recent.Name+" (new)"
		first := c.Comparisons[0]
		results := run(ctx, first.was.Reading().As(old), first.is.Reading().As(recent))
		c.Before, c.After = &results[0], &results[1]
		out = append(out, results...)
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	d.Envoy = envoy
	return out, nil
}

// Shown returns two cases that show the changes of all inbounds on an Envoy: the same
// requests, under the policies before and after. Each wants what its own policies say. Each
// has its own inbounds, for they may differ in whether plaintext is let in, and judged.
func Shown(before, after cases.Case, found []Comparison) (old, recent cases.Case) {
	old, recent = withoutClaims(before), withoutClaims(after)
	old.Inbounds = nil
	for _, c := range found {
		old.Inbounds = append(old.Inbounds, c.was.Inbound)
		for _, change := range c.Changes {
			old.Requests, recent.Requests = append(old.Requests, change.was), append(recent.Requests, change.Request)
			if td := change.Request.From.SignedBy; !td.IsZero() && !slices.Contains(recent.TrustDomains, td) {
				recent.TrustDomains = append(recent.TrustDomains, td)
			}
		}
	}
	for _, td := range recent.TrustDomains {
		if !slices.Contains(old.TrustDomains, td) {
			old.TrustDomains = append(old.TrustDomains, td)
		}
	}
	return old, recent
}

// withoutClaims returns the case without what it says of its own requests.
func withoutClaims(c cases.Case) cases.Case {
	c.Requests, c.Counters, c.ExpectError, c.ExpectWarnings, c.Gate = nil, nil, "", nil, cases.Gate{}
	c.TrustDomains = slices.Clone(c.TrustDomains)
	return c
}
