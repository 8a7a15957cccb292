package verdict

import (
	"slices"
	"sync"

	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/language"
)

// setsWithout are sets of policies that lack one document, by its index: nil where the others are refused. Each is
// read once for all inbounds.
type setsWithout struct {
	mu   sync.Mutex
	sets map[int]language.Policies
}

// ProgramWithout returns the program of the inbound where the document at an index is not there, and false
// where the others are refused.
func (in Inbound) ProgramWithout(i int) (policy.Program, bool) {
	set := in.reading.setWithout(i)
	if set == nil || set.Check(in.Inbound.Inbound) != nil {
		return policy.Program{}, false
	}
	return set.Program(in.Inbound.Inbound).Program, true
}

// setWithout returns the policies without the document at an index, and nil where the others are refused.
func (r *Reading) setWithout(i int) language.Policies {
	r.setsWithout.mu.Lock()
	defer r.setsWithout.mu.Unlock()
	if set, read := r.setsWithout.sets[i]; read {
		return set
	}
	opts := r.Case.Options
	for _, d := range dialects.Having[language.Dialect]() {
		if d.Owns(r.Case.Policies[i]) {
			opts.Dialect = d.Name()
		}
	}
	set, err := dialect.Parse(slices.Delete(slices.Clone(r.Case.Policies), i, i+1), opts)
	if err != nil {
		set = nil
	}
	r.setsWithout.sets[i] = set
	return set
}
