package policyset

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/internal/policyset/renaming"
	"github.com/meshproof/meshproof/internal/policyset/tree"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
)

// Turns is how many sets in a row have most first characters of names. Four times as many have all of them several times.
const Turns = renaming.Turns

// NewSeed returns a seed that no earlier run had. It says on which day the run is made, see [renaming.Seed].
func NewSeed() uint64 { return renaming.Seed(time.Now(), rand.Uint32()) }

// DrawFresh is [Draw] for a compiler that may know the usual sets: sizes, names, labels, ports,
// addresses and trust domains follow from seed and number too. No set has all of them as
// another set has them.
func DrawFresh(seed, number uint64, of ...Form) cases.Case {
	g := generator{Chooser: choice.Random(seed, number)}
	g.size = choice.Pick(g.Chooser, small, medium, medium, large)
	drawn := g.set(fmt.Sprintf("set %d of seed %d", number, seed), of)
	r := rand.New(rand.NewPCG(number, ^seed))
	if r.IntN(3) == 0 {
		if c, err := renaming.Rename(drawn, r, number, renaming.Changes{Seed: seed, Policies: func(policies []any) []any { return tree.Grow(choice.New(r.IntN), policies) }}); err == nil {
			if _, err := verdict.Read(c); err == nil {
				return c
			}
		}
	}
	c, err := renaming.Rename(drawn, r, number, renaming.Changes{Seed: seed})
	if err != nil {
		panic(fmt.Sprintf("policyset: %v", err))
	}
	return c
}

// Renamed makes another case from one that was written: with other names, as [DrawFresh] has them, and nothing else
// changed. It has no requests. Where the policies must be refused, the error of the new case is the one that it expects.
// The result is false for a case of which no other can be made.
func Renamed(c cases.Case, seed, number uint64) (cases.Case, bool) {
	return fromCase(c, rand.New(rand.NewPCG(number, seed)), seed, number, nil)
}

// FromCase is [Renamed], and sometimes a part of a policy is missing or in another place.
func FromCase(c cases.Case, seed, number uint64) (cases.Case, bool) {
	r := rand.New(rand.NewPCG(number, seed))
	return fromCase(c, r, seed, number, func(policies []any) []any { return alter(r, policies) })
}

// fromCase makes another case with other names. Without a change it changes nothing else; with one, every other time.
func fromCase(c cases.Case, r *rand.Rand, seed, number uint64, change func([]any) []any) (cases.Case, bool) {
	name := fmt.Sprintf("set %d of seed %d, after %q", number, seed, c.Name)
	if len(c.Inbounds) == 0 {
		in := ports[r.IntN(len(ports))]
		in.Workload = policy.Workload{Name: "backend", Namespace: "shop", Mesh: "default"}
		c.Inbounds = []cases.Inbound{{Inbound: in, Identity: renaming.IdentityOf(c.TrustDomains[0], in.Workload), IP: addressOf(0)}}
	}
	for _, change := range []func([]any) []any{change, nil} {
		if change != nil && (c.ExpectError != "" || r.IntN(2) == 0) {
			continue
		}
		out, err := renaming.Rename(c, r, number, renaming.Changes{Seed: seed, Policies: change})
		if err != nil {
			return c, false
		}
		out.Name, out.Place = name, c.Place
		switch _, err = verdict.Read(out); {
		case err == nil && c.ExpectError == "":
			return out, true
		case err != nil && c.ExpectError != "":
			out.ExpectError = err.Error()
			return out, true
		}
	}
	return c, false
}

// alter takes an item out of one list of the policies, exchanges two, or adds many.
func alter(r *rand.Rand, policies []any) []any {
	lists := tree.Lists(policies)
	if r.IntN(2) == 0 {
		return tree.Grow(choice.New(r.IntN), policies)
	} else if len(lists) == 0 {
		return policies
	}
	of := lists[r.IntN(len(lists))]
	items := slices.Clone(of.Items())
	i, j := r.IntN(len(items)), r.IntN(len(items))
	if i != j {
		items[i], items[j] = items[j], items[i]
	} else {
		items = slices.Delete(items, i, i+1)
	}
	of.Set(items)
	return policies
}

// size says how large a set is. The zero value is that of [Draw].
type size uint8

const (
	usualSize size = iota
	small
	medium
	large
)

// upTo returns the most of something that a set of the size has.
func (s size) upTo(most int) int {
	switch s {
	case small:
		return 1
	case large:
		return 3 * most
	default:
		return most
	}
}

// move moves a set out of the mesh that policies may leave out, one time in three. A legacy mesh
// is a trust domain, and stays.
func (g *generator) move(policies []resource) {
	if g.legacy || !g.OneIn(3) {
		return
	}
	const mesh = "prod"
	for i := range g.c.Inbounds {
		if w := &g.c.Inbounds[i].Workload; w.Mesh == "default" {
			w.Mesh = mesh
		}
	}
	for i := range g.c.Options.Peers {
		if w := &g.c.Options.Peers[i].Workload; w.Mesh == "default" {
			w.Mesh = mesh
		}
	}
	for i := range policies {
		p := &policies[i]
		switch {
		case !p.isKuma():
		case p.Metadata == nil && p.Mesh == "default":
			p.Mesh = mesh
		case p.Metadata != nil:
			p.label("kuma.io/mesh", mesh)
		}
	}
}

// label adds a label to the metadata.
func (r *resource) label(key, value string) {
	labels, _ := r.Metadata["labels"].(object)
	if labels = maps.Clone(labels); labels == nil {
		labels = object{}
	}
	labels[key] = value
	r.Metadata["labels"] = labels
}
