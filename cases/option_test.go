package cases_test

import (
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/policy/kuma"
	"github.com/meshproof/meshproof/policy/manifest"
)

// What is written for one design of MeshTrafficPermission lets in and refuses the
// same requests in the others.
var _ = Describe("the cases of the accepted design, converted", func() {
	for _, to := range []kuma.Option{kuma.Option2, kuma.Option3} {
		Describe("to "+to.String(), Ordered, ContinueOnFailure, func() {
			var h *harness.Harness
			BeforeAll(func(ctx SpecContext) {
				h = start(ctx, harness.Process)
				DeferCleanup(func() { Expect(h.Close()).To(Succeed()) })
			})
			for _, c := range stories {
				if !ofAcceptedDesign(c) {
					continue
				}
				It(c.Story+": "+c.Name, func(ctx SpecContext) {
					result := suite.Runner{Harness: h}.Case(ctx, converted(c, to))
					if result.Skipped != "" {
						Skip(result.Skipped)
					}
					Expect(result.Err).NotTo(HaveOccurred())
					for _, q := range result.Requests {
						Expect(q.Problems).To(BeEmpty(), "%s as %s to %s %s", q.Place, q.From.Name, q.To, q.Path)
					}
				})
			}
		})
	}
})

func ofAcceptedDesign(c cases.Case) bool {
	legacyOrForeign := func(doc manifest.Document) bool {
		_, legacy := doc.At("spec.from")
		return legacy || !kuma.Owns(doc)
	}
	return c.ExpectError == "" && len(c.Requests) > 0 && len(c.Policies) > 0 &&
		c.Options.Kuma.Option == kuma.Option1 && !slices.ContainsFunc(c.Policies, legacyOrForeign)
}

// converted drops what the case states of what differs by design: the name of a
// policy, and in Option 3 the accepted form of the shadow.
func converted(c cases.Case, to kuma.Option) cases.Case {
	GinkgoHelper()
	policies, err := kuma.ParseAll(c.Policies)
	Expect(err).NotTo(HaveOccurred())
	conversion, err := kuma.Convert(policies, to)
	Expect(err).NotTo(HaveOccurred())
	c.Policies, err = manifest.Parse("converted.yaml", conversion.YAML)
	Expect(err).NotTo(HaveOccurred())
	c.Options.Kuma.Option = to
	c.ExpectWarnings = nil
	otherShadow := to == kuma.Option3 && c.Options.Kuma.ShadowForm == kuma.Accepted
	c.Requests, c.Counters = slices.Clone(c.Requests), slices.Clone(c.Counters)
	for i := range c.Requests {
		q := &c.Requests[i]
		if q.By != nil && *q.By != "default" {
			q.By = nil
		}
		q.ShadowBy = nil
		if otherShadow && q.Shadow != nil && *q.Shadow != cases.ShadowNone {
			q.Shadow = nil
		}
	}
	for i := range c.Counters {
		if otherShadow {
			c.Counters[i].ShadowAllowed, c.Counters[i].ShadowDenied = nil, nil
		}
	}
	return c
}
