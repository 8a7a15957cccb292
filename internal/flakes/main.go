// Command flakes runs cases many times in a row on the pinned versions of Envoy, while the machine is kept
// busy, and counts the runs of a case that do not end as the others do. Run it in any folder of the module:
//
//	go run ./internal/flakes -runs 100 -load 20
//
// It chooses the cases whose name or story matches -case. They must pass: every failure is a flake, and
// the status is 1 then. A request that is sent again, because the machine was too late to prove anything
// by it, is no flake, and is counted apart.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"syscall"
	"time"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/matrix"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == busy {
		spin()
	}
	count, err := run()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "flakes:", err)
		os.Exit(3)
	case count.flakes > 0:
		os.Exit(1)
	}
}

func run() (tally, error) {
	runs := flag.Int("runs", 100, "how `often` the cases run")
	load := flag.Int("load", 20, "how many processes want to run at each time; 0 adds none to those that do")
	chosen := flag.String("case", "^route-", "the cases whose name or story matches this regular `expression`")
	versions := flag.String("envoy", matrix.AllVersions, "a `version` of Envoy, or all")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var count tally
	suite, err := newSuite(*chosen, *versions)
	if err != nil {
		return count, err
	}
	l, err := startLoad(*load)
	if err != nil {
		return count, err
	}
	defer l.end()
	for n := 1; n <= *runs && ctx.Err() == nil; n++ {
		began, before := time.Now(), count
		results, err := suite.Run(ctx)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			return count, fmt.Errorf("run %d: %w", n, err)
		}
		for _, of := range results {
			for _, text := range count.add(of) {
				fmt.Println("flake:", text)
			}
		}
		count.runs++
		fmt.Printf("run %d of %d: %s, %.0f s, load %.0f\n", n, *runs, count.minus(before), time.Since(began).Seconds(), l.measured())
	}
	fmt.Println(count)
	return count, nil
}

// newSuite chooses the built-in cases. Envoy runs as a process.
func newSuite(chosen, versions string) (matrix.Suite, error) {
	match, err := regexp.Compile(chosen)
	if err != nil {
		return matrix.Suite{}, fmt.Errorf("-case: %w", err)
	}
	s := matrix.Suite{Runtime: envoy.Process}
	if s.Versions, err = matrix.ParseVersions([]string{versions}); err != nil {
		return s, err
	}
	if s.Cases, err = cases.Stories(); err != nil {
		return s, err
	}
	s.Cases = slices.DeleteFunc(s.Cases, func(c cases.Case) bool { return !match.MatchString(c.Name) && !match.MatchString(c.Story) })
	if len(s.Cases) == 0 {
		return s, fmt.Errorf("-case: no case matches %q", chosen)
	}
	return s, nil
}
