package report

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/semver"
)

// Merge joins the shards of each run to a whole run. Shards belong to one run if they agree
// in the version of meshproof, the implementation, Envoy with its digest and its behaviour,
// the runtime, the profiles, the features that are not supported, and whether names of
// policies count.
//
// A joined run has its cases in the order of their files and lines. It began when the first
// shard began, and took as long as the longest shard, because shards run in parallel. Whole
// runs stay as they are. The runs are sorted by the version of Envoy, then by project and
// runtime.
//
// It is an error if a shard is missing or appears twice, if two shards have a case in
// common, or if a whole run appears twice.
func Merge(runs ...Run) ([]Run, error) {
	groups := map[string][]Run{}
	var keys []string
	for _, r := range runs {
		key := r.key()
		if groups[key] == nil {
			keys = append(keys, key)
		}
		groups[key] = append(groups[key], r)
	}
	var out []Run
	var errs []error
	for _, key := range keys {
		group := groups[key]
		whole, err := joinShards(group)
		if missing := (*missingError)(nil); errors.As(err, &missing) {
			missing.hint = lookalike(group[0], missing, runs)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("report: merge the runs on %s: %w", group[0].title(), err))
			continue
		}
		out = append(out, whole)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	slices.SortStableFunc(out, compareRuns)
	return out, nil
}

// trait is a property that the shards of a run have in common.
type trait struct{ name, value string }

func (r Run) traits() []trait {
	return []trait{
		{"meshproof", r.Meshproof},
		{"implementation", fmt.Sprintf("%q", r.Implementation)},
		{"envoy", r.Envoy},
		{"envoySHA256", r.EnvoySHA256},
		{"runtime", r.Runtime},
		{"behavior", r.BehaviorText()},
		{"profiles", fmt.Sprint(r.Profiles)},
		{"unsupported", fmt.Sprint(r.Unsupported)},
		{"anyNames", strconv.FormatBool(r.AnyNames)},
	}
}

// key is the same for the shards of one run.
func (r Run) key() string { return fmt.Sprintf("%q", r.traits()) }

// lookalike finds another run that has a missing shard, and says in what that run differs.
// Of several it takes the run that differs least. It is "" if there is none.
func lookalike(r Run, missing *missingError, runs []Run) string {
	var least []string
	for _, other := range runs {
		s, err := ParseShard(other.Shard)
		if err != nil || s.Total != missing.shards || !slices.Contains(missing.numbers, s.Number) {
			continue
		}
		var differs []string
		traits := other.traits()
		for i, own := range r.traits() {
			if own != traits[i] {
				differs = append(differs, fmt.Sprintf("%s (%s here, %s there)", own.name, cmp.Or(own.value, "none"), cmp.Or(traits[i].value, "none")))
			}
		}
		if least == nil || len(differs) < len(least) {
			least = differs
		}
	}
	return strings.Join(least, ", ")
}

// BehaviorText returns what Envoy answered to the probes, in the order of their names.
func (r Run) BehaviorText() string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(r.Behavior)) {
		out = append(out, name+" "+r.Behavior[name])
	}
	return strings.Join(out, ", ")
}

func (r Run) title() string {
	return fmt.Sprintf("Envoy %s (%s) under %s", r.Envoy, r.Runtime, r.Project())
}

// joinShards makes one run of the shards with a common key.
func joinShards(group []Run) (Run, error) {
	if len(group) == 1 && group[0].Shard == "" {
		return group[0], nil
	}
	if err := complete(group); err != nil {
		return Run{}, err
	}
	whole := group[0]
	whole.Shard, whole.Cases = "", []Case{}
	place := map[string]string{}
	for _, r := range group {
		for _, c := range r.Cases {
			if other, ok := place[c.Case]; ok {
				return Run{}, fmt.Errorf("case %q stands in shard %s and in shard %s: they are not of one run", c.Case, other, r.Shard)
			}
			place[c.Case] = r.Shard
		}
		// Not Run.Add: a case keeps its hash, so that a change to the case is still found.
		whole.Cases = append(whole.Cases, r.Cases...)
		if r.Date.Before(whole.Date) {
			whole.Date = r.Date
		}
		whole.Milliseconds = max(whole.Milliseconds, r.Milliseconds)
		var err error
		if whole.ClassesProven, err = agreed(whole.ClassesProven, r.ClassesProven); err != nil {
			return Run{}, fmt.Errorf("classesProven: %w", err)
		}
		if whole.MutationScore, err = agreed(whole.MutationScore, r.MutationScore); err != nil {
			return Run{}, fmt.Errorf("mutationScore: %w", err)
		}
	}
	slices.SortFunc(whole.Cases, compareCases)
	t := Count(whole.Cases)
	whole.Passed, whole.Failed, whole.Skipped = t.Passed, t.Failed, t.Skipped+t.NotApplicable
	return whole, nil
}

// agreed returns the figure that shards state. Not all shards need to state it.
func agreed[T comparable](a, b *T) (*T, error) {
	switch {
	case a == nil:
		return b, nil
	case b == nil || *a == *b:
		return a, nil
	default:
		return nil, fmt.Errorf("two shards state %v and %v: measure it on the whole run", *a, *b)
	}
}

// complete reports a shard that is missing in a group, or is there twice.
func complete(group []Run) error {
	seen := map[int]bool{}
	of := 0
	for _, r := range group {
		if r.Shard == "" {
			return errors.New("the whole run is there more than once, or along with its shards: name it once")
		}
		s, err := ParseShard(r.Shard)
		switch {
		case err != nil:
			return err
		case of != 0 && s.Total != of:
			return fmt.Errorf("shard %s stands beside one of %d: they are not of one run", r.Shard, of)
		case seen[s.Number]:
			return fmt.Errorf("shard %s is there twice: name each once", r.Shard)
		}
		seen[s.Number], of = true, s.Total
	}
	missing := &missingError{shards: of}
	for n := 1; n <= of; n++ {
		if !seen[n] {
			missing.numbers = append(missing.numbers, n)
		}
	}
	if missing.numbers == nil {
		return nil
	}
	return missing
}

// missingError names the missing shards of a run.
type missingError struct {
	numbers []int
	shards  int
	// hint says in what another run with such a shard differs.
	hint string
}

// Error names the first five.
func (e *missingError) Error() string {
	var names []string
	for _, n := range e.numbers[:min(len(e.numbers), 5)] {
		names = append(names, Shard{n, e.shards}.String())
	}
	list := strings.Join(names, ", ")
	if more := len(e.numbers) - len(names); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	if e.hint != "" {
		return fmt.Sprintf("there is no shard %s: one is there, but of another run: it differs in %s", list, e.hint)
	}
	return fmt.Sprintf("there is no shard %s: name the results of every shard", list)
}

// compareRuns orders runs by the version of Envoy, then by the compiler.
func compareRuns(a, b Run) int {
	return cmp.Or(
		semver.Compare("v"+a.Envoy, "v"+b.Envoy),
		cmp.Compare(a.Envoy, b.Envoy),
		cmp.Compare(a.Implementation.Project, b.Implementation.Project),
		cmp.Compare(a.Implementation.Version, b.Implementation.Version),
		cmp.Compare(a.Runtime, b.Runtime),
		a.Date.Compare(b.Date),
		cmp.Compare(a.key(), b.key()),
	)
}

// compareCases orders cases as [cases.Load] reads a folder: by the names of the path, then by
// the line.
func compareCases(a, b Case) int {
	fileA, lineA := SplitPlace(a.Place)
	fileB, lineB := SplitPlace(b.Place)
	return cmp.Or(
		slices.Compare(strings.Split(fileA, "/"), strings.Split(fileB, "/")),
		cmp.Compare(lineA, lineB),
		cmp.Compare(a.Case, b.Case),
	)
}

// SplitPlace takes "file:line" apart; a place without a line has line 0.
func SplitPlace(place string) (file string, line int) {
	if i := strings.LastIndexByte(place, ':'); i >= 0 {
		if n, err := strconv.Atoi(place[i+1:]); err == nil {
			return place[:i], n
		}
	}
	return place, 0
}
