// Package relation draws sets whose values have something to do with each other: of names, of values, of workloads, of fields
// that stand together, and of ways to write them.
//
// It guarantees that its sets are valid, that no two inbounds have one name, and that the same arguments give the same set. It
// does not guarantee that a set decides otherwise than the one that it is made of.
package relation

import (
	"math/rand/v2"
	"slices"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/internal/policyset/renaming"
	"github.com/meshproof/meshproof/internal/policyset/tree"
	"github.com/meshproof/meshproof/internal/verdict"
)

// Draw makes another case from one that was written, as policyset.FromCase does, in which values have something to do
// with each other: two names are one name, a policy names the workload that it protects, a rule allows
// what another rule denies, or fields stand together that stood apart. The relations take turns with the
// number. A compiler that is wrong for one relation alone is wrong for no name by itself, so that
// other names do not show it. The result is false for a case of which no such case can be made.
func Draw(c cases.Case, seed, number uint64) (cases.Case, bool) {
	if c.ExpectError != "" || len(c.Inbounds) == 0 || len(c.Policies) == 0 {
		return c, false
	}
	r := rand.New(rand.NewPCG(number, seed^relatedSeed))
	for _, kinds := range attempts {
		m := &relation{Chooser: choice.New(r.IntN), rank: number, seed: seed, relating: kinds}
		out, err := m.rename(c, r)
		if err != nil {
			return c, false
		}
		out.Name, out.Place = c.Name, c.Place
		if _, err := verdict.Read(out); err == nil && !sharesNames(out) {
			return out, true
		}
	}
	return c, false
}

// sharesNames reports whether two inbounds have one name, so that no mesh can tell them apart.
func sharesNames(c cases.Case) bool {
	known := map[string]bool{}
	return slices.ContainsFunc(c.Inbounds, func(in cases.Inbound) bool {
		was := known[in.String()]
		known[in.String()] = true
		return was
	})
}

// relatedSeed keeps the choices apart from those of policyset.FromCase.
const relatedSeed = 0x5eed

// attempts are the kinds of relations that a set gets, each until a set is valid: first all kinds, then fewer of them.
var attempts = func() []relating {
	every := relating{names: true, values: true, workloads: true, together: true, forms: true, writing: true}
	usual := every
	usual.writing = false
	basic := relating{names: true, values: true, workloads: true}
	written := basic
	written.writing = true
	return []relating{
		every, every,
		{names: true, forms: true, writing: true},
		written,
		usual,
		{names: true, forms: true},
		{names: true, writing: true},
		{names: true, values: true, workloads: true, together: true},
		basic, basic, basic,
		{values: true, workloads: true},
		{names: true, values: true},
		{names: true, workloads: true},
		{names: true}, {values: true}, {workloads: true},
	}
}()

// relating says which kinds of relations a set gets.
type relating struct{ names, values, workloads, together, forms, writing bool }

// relation makes the relations of one set.
type relation struct {
	*choice.Chooser
	rank, seed uint64
	relating
	// inbound is the index of the one that the relations are about.
	inbound int
	profile feature.Profile
}

func (m *relation) rename(c cases.Case, r *rand.Rand) (cases.Case, error) {
	m.inbound, m.profile = m.Choose(len(c.Inbounds)), tree.Profile(c.Policies[0])
	change := renaming.Changes{Seed: m.seed}
	if m.names {
		change.Names = m.oneName
	}
	change.Set = func(out *cases.Case, policies []any, options map[string]any) []any {
		if m.values {
			policies = m.keys(out, m.value(out, policies))
		}
		if m.workloads {
			m.workload(out)
		}
		if m.together {
			policies = m.fieldsTogether(out, policies, options)
		}
		if m.forms {
			m.form(out, policies)
		}
		if m.writing {
			policies = m.written(out, policies)
		}
		return policies
	}
	return renaming.Rename(c, r, m.rank, change)
}
