package conformance_test

import (
	"context"
	"fmt"
	"log"
	"slices"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/conformance"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

// noFilter is a compiler that compiles every policy to no filter at all, so that every request passes.
type noFilter struct{}

func (noFilter) Compile(context.Context, policy.Inbound, []manifest.Document, language.Options) (xds.Filters, error) {
	return xds.Filters{}, nil
}

// A program that is no test runs the cases of one story. The compiler is wrong, so a case fails.
func ExampleSuite_Run() {
	all, err := cases.Stories()
	if err != nil {
		log.Fatal(err)
	}
	story := slices.DeleteFunc(all, func(c cases.Case) bool { return c.Story != "mesh-operator-1" })
	results, err := conformance.Suite{Cases: story, Compiler: noFilter{}, Runtime: harness.Process}.Run(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range results {
		fmt.Println("Envoy", r.Envoy, "failed:", r.Failed == len(r.Cases))
	}
	// Output: Envoy 1.40.0 failed: true
}
