package cases_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/suite"
)

func TestCases(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "cases")
}

// The version is an environment variable so that a matrix can set it.
func start(ctx context.Context, runtime harness.Runtime) *harness.Harness {
	GinkgoHelper()
	h, err := harness.Start(ctx, harness.WithRuntime(runtime), harness.WithEnvoy(os.Getenv("MESHPROOF_ENVOY")))
	if runtime == harness.Container && err != nil && os.Getenv("MESHPROOF_REQUIRE_DOCKER") == "" {
		Skip("no container: " + err.Error())
	}
	Expect(err).NotTo(HaveOccurred())
	return h
}

var stories = must(cases.Stories())

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

var _ = Describe("the user stories", func() {
	for _, runtime := range []harness.Runtime{harness.Process, harness.Container} {
		Describe("on Envoy as a "+runtime.String(), Ordered, ContinueOnFailure, func() {
			var h *harness.Harness
			BeforeAll(func(ctx SpecContext) {
				h = start(ctx, runtime)
				DeferCleanup(func() { Expect(h.Close()).To(Succeed()) })
			})
			for _, c := range stories {
				It(c.Story+": "+c.Name, func(ctx SpecContext) {
					result := suite.Runner{Harness: h}.Case(ctx, c)
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

	It("cover all nine, each with a request that passes and one that does not", func() {
		allowed, refused := map[string]bool{}, map[string]bool{}
		for _, c := range stories {
			for _, q := range c.Requests {
				if q.Want == cases.Allow {
					allowed[c.Story] = true
				} else {
					refused[c.Story] = true
				}
			}
		}
		for _, story := range []string{
			"mesh-operator-1", "mesh-operator-2", "mesh-operator-3", "mesh-operator-4",
			"service-owner-1", "service-owner-2", "service-owner-3", "service-owner-4", "service-owner-5",
		} {
			Expect(allowed).To(HaveKey(story))
			Expect(refused).To(HaveKey(story))
		}
	})
})

// A suite that passes whatever the compiler does proves nothing.
var _ = DescribeTable("the negative control", func(ctx SpecContext, compiler suite.Compiler, wrong cases.Want) {
	h := start(ctx, harness.Process)
	DeferCleanup(func() { Expect(h.Close()).To(Succeed()) })
	results := suite.Runner{Harness: h, Compiler: compiler}.Run(ctx, stories...)
	failed := 0
	for _, r := range results {
		Expect(r.Fault).To(BeFalse(), fmt.Sprint(r.Err))
		if r.Skipped != "" {
			continue
		}
		for _, q := range r.Requests {
			// No compiler has a say over plaintext: it passes a permissive inbound unjudged.
			if q.Want == wrong && !q.From.Plaintext {
				Expect(q.Problems).NotTo(BeEmpty(), "%s as %s", q.Place, q.From.Name)
				failed++
			}
		}
	}
	Expect(failed).To(BeNumerically(">", 0))
},
	Entry("a compiler that allows everything fails every deny", suite.AllowEverything, cases.Deny),
	Entry("a compiler that denies everything fails every allow", suite.DenyEverything, cases.Allow),
)
