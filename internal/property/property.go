// Package property checks properties on drawn values.
//
// It guarantees that two runs of one test draw the same values, so that a test does not fail by a rare
// draw that the change under test did not cause. MESHPROOF_SEED chooses other values: a number is the
// seed, and "random" draws new values in each run. The flags of rapid go before the variable.
//
// It does not seed the fuzz targets of go test, which draw by themselves.
package property

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// fixed is the seed of every run that chooses none.
const fixed = 20260101

// failure says why the variable chooses no seed.
var failure = setSeed(flag.CommandLine, os.Getenv("MESHPROOF_SEED"))

// Check fails the test if property fails for a drawn value, as [rapid.Check] does.
func Check(t rapid.TB, property func(*rapid.T)) {
	t.Helper()
	if failure != nil {
		t.Fatal(failure)
	}
	rapid.Check(t, property)
}

// Seed returns the seed of a test that draws its values by itself: the one of the variable, or the fixed one. A new seed of each
// run is logged, so that the run can be repeated.
func Seed(t testing.TB) uint64 {
	t.Helper()
	if failure != nil {
		t.Fatal(failure)
	}
	seed, err := strconv.ParseUint(flag.Lookup("rapid.seed").Value.String(), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if seed == 0 {
		seed = rand.Uint64() | 1 // 0 is no seed
		t.Logf("MESHPROOF_SEED=%d draws the same values again", seed)
	}
	return seed
}

// setSeed gives the flag rapid.seed a value before the command line is parsed. A seed that RAPID_SEED
// has set stays as it is.
func setSeed(flags *flag.FlagSet, chosen string) error {
	current := flags.Lookup("rapid.seed").Value
	switch {
	case chosen == "random": // 0 lets rapid draw the seed
		return current.Set("0")
	case chosen != "":
		if seed, err := strconv.ParseUint(chosen, 10, 64); err != nil || seed == 0 {
			return fmt.Errorf("MESHPROOF_SEED is %q: want random, or a number over 0", chosen)
		}
		return current.Set(chosen)
	case current.String() == "0":
		return current.Set(strconv.Itoa(fixed))
	}
	return nil
}
