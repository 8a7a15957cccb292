package report

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/semver"
)

// Merge joins the shards of each run to a whole one. Shards belong to one run where
// they agree in everything but the shard, the date and the time: meshproof's version,
// the implementation, Envoy with its digest, the runtime, the profiles, and the
// features that are not supported.
//
// A joined run has its cases in the order of their files and lines, as a run that was
// given one folder has; it began with the first shard, and took as long as the
// longest, since shards run side by side. Whole runs pass as they are. The runs are
// sorted by Envoy's version, then by project and runtime.
//
// It is an error where a shard is missing, where one is there twice, where two have a
// case in common, and where a whole run is there twice.
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

// key is what the shards of one run have in common.
func (r Run) key() string {
	text, err := json.Marshal(Run{
		Meshproof: r.Meshproof, Implementation: r.Implementation,
		Envoy: r.Envoy, EnvoySHA256: r.EnvoySHA256, Runtime: r.Runtime,
		Profiles: r.Profiles, Unsupported: r.Unsupported,
	})
	if err != nil {
		// Strings and lists of them always have a JSON form.
		panic(fmt.Sprintf("report: %v", err))
	}
	return string(text)
}

func (r Run) title() string {
	return fmt.Sprintf("Envoy %s (%s) under %s", r.Envoy, r.Runtime, r.project())
}

// joinShards makes one run of those that have a key in common.
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
		// Not Run.Add: a case keeps the hash that it came with, so that one which was
		// changed is still found out.
		whole.Cases = append(whole.Cases, r.Cases...)
		if r.Date.Before(whole.Date) {
			whole.Date = r.Date
		}
		whole.Milliseconds = max(whole.Milliseconds, r.Milliseconds)
		var err error
		if whole.ClassesProven, err = same(whole.ClassesProven, r.ClassesProven); err != nil {
			return Run{}, fmt.Errorf("classesProven: %w", err)
		}
		if whole.MutationScore, err = same(whole.MutationScore, r.MutationScore); err != nil {
			return Run{}, fmt.Errorf("mutationScore: %w", err)
		}
	}
	slices.SortFunc(whole.Cases, compareCases)
	t := tally(whole.Cases)
	whole.Passed, whole.Failed, whole.Skipped = t.Passed, t.Failed, t.Skipped+t.NotApplicable
	return whole, nil
}

// same returns what shards that state a figure state; not all have to.
func same[T comparable](a, b *T) (*T, error) {
	switch {
	case a == nil:
		return b, nil
	case b == nil || *a == *b:
		return a, nil
	default:
		return nil, fmt.Errorf("two shards state %v and %v: measure it on the whole run", *a, *b)
	}
}

// complete reports what a group lacks, or has twice, to be the shards of one run.
func complete(group []Run) error {
	seen := map[int]bool{}
	of := 0
	for _, r := range group {
		if r.Shard == "" {
			return errors.New("the whole run is there more than once, or along with its shards: name it once")
		}
		s, err := parseShard(r.Shard)
		switch {
		case err != nil:
			return err
		case of != 0 && s.of != of:
			return fmt.Errorf("shard %s stands beside one of %d: they are not of one run", r.Shard, of)
		case seen[s.number]:
			return fmt.Errorf("shard %s is there twice: name each once", r.Shard)
		}
		seen[s.number], of = true, s.of
	}
	if len(seen) == of {
		return nil
	}
	var missing []string
	for n := 1; len(missing) < min(of-len(seen), 5); n++ {
		if !seen[n] {
			missing = append(missing, fmt.Sprintf("%d/%d", n, of))
		}
	}
	list := strings.Join(missing, ", ")
	if more := of - len(seen) - len(missing); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Errorf("there is no shard %s: shards of one run agree in meshproof's version, implementation, Envoy's digest, runtime, profiles and features", list)
}

// shard is a part of a run: the number counts from one.
type shard struct{ number, of int }

func parseShard(text string) (shard, error) {
	number, of, _ := strings.Cut(text, "/")
	n, err1 := strconv.ParseInt(number, 10, 32)
	m, err2 := strconv.ParseInt(of, 10, 32)
	s := shard{int(n), int(m)}
	if err1 != nil || err2 != nil || n < 1 || n > m || fmt.Sprintf("%d/%d", n, m) != text {
		return shard{}, fmt.Errorf("shard %q is none: it is written 2/5, the second of five", text)
	}
	return s, nil
}

// compareRuns orders runs by Envoy's version, then by whose compiler it was.
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

// compareCases orders cases as a folder of case files is read: name by name of the
// path, then line by line.
func compareCases(a, b Case) int {
	fileA, lineA := splitPlace(a.Place)
	fileB, lineB := splitPlace(b.Place)
	return cmp.Or(
		slices.Compare(strings.Split(fileA, "/"), strings.Split(fileB, "/")),
		cmp.Compare(lineA, lineB),
		cmp.Compare(a.Case, b.Case),
	)
}

// splitPlace takes "file:line" apart; a place without a line has line 0.
func splitPlace(place string) (file string, line int) {
	if i := strings.LastIndexByte(place, ':'); i >= 0 {
		if n, err := strconv.Atoi(place[i+1:]); err == nil {
			return place[:i], n
		}
	}
	return place, 0
}
