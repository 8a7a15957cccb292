package property

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestSetSeed names the seed of each choice; 0 is a random one.
func TestSetSeed(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		seed   uint64 // what RAPID_SEED says
		chosen string
		line   []string
		want   string
		fails  string
	}{
		"no choice is the fixed seed":      {want: strconv.Itoa(fixed)},
		"a number is the seed":             {chosen: "7", want: "7"},
		"random draws a seed":              {chosen: "random", want: "0"},
		"rapid's own variable stays":       {seed: 5, want: "5"},
		"the command line goes first":      {chosen: "7", line: []string{"-rapid.seed=9"}, want: "9"},
		"the command line may draw a seed": {line: []string{"-rapid.seed=0"}, want: "0"},
		"a word is refused":                {chosen: "often", fails: `MESHPROOF_SEED is "often"`},
		"0 is refused":                     {chosen: "0", fails: `MESHPROOF_SEED is "0"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flags := flag.NewFlagSet(name, flag.ContinueOnError)
			seed := flags.Uint64("rapid.seed", test.seed, "")
			switch err := setSeed(flags, test.chosen); {
			case test.fails == "" && err != nil:
				t.Fatal(err)
			case test.fails != "":
				if err == nil || !strings.Contains(err.Error(), test.fails) {
					t.Fatalf("the error is %v, want %s", err, test.fails)
				}
				return
			}
			if err := flags.Parse(test.line); err != nil {
				t.Fatal(err)
			}
			if got := strconv.FormatUint(*seed, 10); got != test.want {
				t.Errorf("the seed is %s, want %s", got, test.want)
			}
		})
	}
}

// TestCheckDrawsTheSameAgain draws twice with one seed.
func TestCheckDrawsTheSameAgain(t *testing.T) {
	t.Parallel()
	if flag.Lookup("rapid.seed").Value.String() == "0" {
		t.Skip("this run asks for random draws")
	}
	var drawn [2][]int
	for i := range drawn {
		Check(t, func(r *rapid.T) { drawn[i] = append(drawn[i], rapid.Int().Draw(r, "number")) })
	}
	if len(drawn[0]) == 0 || !slices.Equal(drawn[0], drawn[1]) {
		t.Errorf("two checks drew %v and %v", drawn[0], drawn[1])
	}
}

// TestSeed holds that a run that chooses no seed draws by the fixed one, and that one that asks for a new seed gets one.
func TestSeed(t *testing.T) {
	t.Parallel()
	chosen := flag.Lookup("rapid.seed").Value.String()
	if got := Seed(t); got == 0 || chosen != "0" && strconv.FormatUint(got, 10) != chosen {
		t.Errorf("the seed is %d, want %s", got, chosen)
	}
}

// TestAllPropertiesAreSeeded finds tests that call rapid itself, whose draws differ in each run.
func TestAllPropertiesAreSeeded(t *testing.T) {
	t.Parallel()
	found := 0
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasPrefix(path, "../../internal/property/") {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte("rapid.Check(")) || bytes.Contains(text, []byte("rapid.MakeCheck(")) {
			t.Errorf("%s calls rapid: call property.Check, which fixes the seed", path)
		}
		found += bytes.Count(text, []byte("property.Check("))
		return err
	})
	if err != nil || found == 0 {
		t.Errorf("found %d properties: %v", found, err)
	}
}
