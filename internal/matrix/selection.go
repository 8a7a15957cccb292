package matrix

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/report"
)

// Selection says what a compiler claims to support. The zero value claims
// everything.
type Selection struct {
	// Profiles are the claimed profiles; none for all. If there are some, other cases are left out.
	Profiles []feature.Profile
	// Supported are the claimed extended features; nil for all. Core features are always claimed.
	Supported []feature.Name
	// Exempt are features, extended or core, that are not claimed.
	Exempt []feature.Name
}

// AuthorizationPolicyCoreFeatures is the name of the set of core features of GEP-3779
// (section Conformance Details, Feature Names).
const AuthorizationPolicyCoreFeatures = "AuthorizationPolicyCoreFeatures"

// NoFeature stands for a compiler that supports the core alone.
const NoFeature = "none"

// ParseSupported reads the names of extended features. None, and [NoFeature], are an empty
// list, which is not nil. A feature of the core is an error.
func ParseSupported(names []string) ([]feature.Name, error) {
	if len(names) == 0 || slices.Equal(names, []string{NoFeature}) {
		return []feature.Name{}, nil
	}
	for _, name := range names {
		if f, known := feature.Lookup(feature.Name(name)); known && f.Level == feature.Core {
			return nil, fmt.Errorf("%s is a core feature of %s, which every compiler claims: name extended features only, or %s", name, f.Profile, NoFeature)
		}
	}
	return ParseFeatures(names)
}

// ParseFeatures reads names of features, and of sets of them. Its errors say what is
// unknown, one line each.
func ParseFeatures(names []string) ([]feature.Name, error) {
	var out []feature.Name
	var errs []error
	for _, text := range names {
		if text == AuthorizationPolicyCoreFeatures {
			for _, f := range feature.All() {
				if f.Profile == feature.GEP3779 && f.Level == feature.Core {
					out = append(out, f.Name)
				}
			}
			continue
		}
		var name feature.Name
		errs = append(errs, name.UnmarshalText([]byte(text)))
		out = append(out, name)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return out, nil
}

// check reports unknown names.
func (s Selection) check() error {
	var errs []error
	for _, p := range s.Profiles {
		errs = append(errs, new(feature.Profile).UnmarshalText([]byte(p)))
	}
	errs = append(errs, checkFeatures(s.Supported), checkFeatures(s.Exempt))
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("conformance: selection: %w", err)
	}
	return nil
}

func checkFeatures(names []feature.Name) error {
	var errs []error
	for _, name := range names {
		errs = append(errs, new(feature.Name).UnmarshalText([]byte(name)))
	}
	return errors.Join(errs...)
}

// Claimed returns the claimed profiles, each once, in the registry's order.
func (s Selection) Claimed() []feature.Profile {
	all := feature.Profiles()
	if len(s.Profiles) == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(p feature.Profile) bool { return !slices.Contains(s.Profiles, p) })
}

// Unsupported returns the features of the claimed profiles that the compiler does
// not claim, in the registry's order.
func (s Selection) Unsupported() []feature.Name {
	var out []feature.Name
	for _, f := range feature.All() {
		if slices.Contains(s.Claimed(), f.Profile) && s.lacks(f) != "" {
			out = append(out, f.Name)
		}
	}
	return out
}

// Covers reports whether a case belongs to what is claimed.
func (s Selection) Covers(c cases.Case) bool {
	return len(s.Profiles) == 0 || slices.ContainsFunc(c.Features, func(name feature.Name) bool {
		f, _ := feature.Lookup(name)
		return slices.Contains(s.Profiles, f.Profile)
	})
}

// Skip says why a case does not count, or returns "". The case is not applicable if all the
// features that it lacks are extended ones: then the compiler has no gap.
func (s Selection) Skip(c cases.Case) (reason string, notApplicable bool) {
	var reasons []string
	notApplicable = true
	for _, name := range c.Features {
		f, _ := feature.Lookup(name)
		if reason := s.lacks(f); reason != "" {
			reasons = append(reasons, reason)
			notApplicable = notApplicable && f.Level == feature.Extended
		}
	}
	return strings.Join(reasons, "; "), notApplicable && len(reasons) > 0
}

// lacks says why a feature is not claimed, or returns "".
func (s Selection) lacks(f feature.Feature) string {
	switch {
	case slices.Contains(s.Exempt, f.Name):
		return fmt.Sprintf("it needs %s, which is exempt", f.Name)
	case len(s.Profiles) > 0 && !slices.Contains(s.Profiles, f.Profile):
		return fmt.Sprintf("it needs %s of %s, which is not among the profiles", f.Name, f.Profile)
	case s.Supported != nil && f.Level == feature.Extended && !slices.Contains(s.Supported, f.Name):
		return fmt.Sprintf("it needs %s, which is not among the supported features", f.Name)
	default:
		return ""
	}
}

// Shard is one part of the cases, so that several machines share them. The zero value has all
// cases.
type Shard struct{ part report.Shard }

// completionIndex is what Kubernetes sets in each pod of an Indexed Job, from 0.
const completionIndex = "JOB_COMPLETION_INDEX"

// UnmarshalText reads "2/5", the second part of five, or "job/5". The number of "job/5" is
// JOB_COMPLETION_INDEX, which Kubernetes sets in the pod of an Indexed Job. There are at most
// [report.MostShards] parts.
func (s *Shard) UnmarshalText(text []byte) error {
	written := string(text)
	if of, job := strings.CutPrefix(written, "job/"); job {
		number, err := jobIndex()
		if err != nil {
			return fmt.Errorf("shard %q: %w", text, err)
		}
		written = strconv.Itoa(number) + "/" + of
	}
	part, err := report.ParseShard(written)
	if err != nil {
		return err
	}
	*s = Shard{part}
	return nil
}

func jobIndex() (int, error) {
	text, ok := os.LookupEnv(completionIndex)
	if !ok {
		return 0, errors.New(completionIndex + " is not set: is this a pod of an Indexed Job?")
	}
	index, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", completionIndex, err)
	}
	return index + 1, nil
}

// String returns "2/5", or "" for the zero value.
func (s Shard) String() string { return s.part.String() }

// Pick returns the part of the cases, in their order. Each case is in exactly one part, and
// the parts have about the same cost: the most costly case goes first, each to the part with
// the least cost. The same cases and costs give the same parts on every machine.
func (s Shard) Pick(all []cases.Case, cost func(cases.Case) time.Duration) []cases.Case {
	if s.part.Total == 0 {
		return all
	}
	// Each case goes to a part of its own until every part has one.
	parts := min(s.part.Total, len(all))
	if s.part.Number > parts {
		return nil
	}
	costs := make([]time.Duration, len(all))
	order := make([]int, len(all))
	for i, c := range all {
		costs[i], order[i] = cost(c), i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(costs[b], costs[a]), strings.Compare(all[a].Name, all[b].Name))
	})
	load := make([]time.Duration, parts)
	mine := make([]bool, len(all))
	for _, i := range order {
		least := 0
		for part := range load {
			if load[part] < load[least] {
				least = part
			}
		}
		load[least] += costs[i]
		mine[i] = least == s.part.Number-1
	}
	var out []cases.Case
	for i, c := range all {
		if mine[i] {
			out = append(out, c)
		}
	}
	return out
}
