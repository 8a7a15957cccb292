package networkpolicy

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
)

// reach is who a rule is about: workloads by their numbers, the whole world, or blocks of it.
type reach struct {
	workloads  []int
	everyWorld bool
	blocks     []block
}

func (r reach) isEmpty() bool { return len(r.workloads) == 0 && !r.everyWorld && len(r.blocks) == 0 }

// reachOf returns the callers whom a rule lets in or shuts out.
func (c callers) reachOf(r rule) reach {
	workloads, everyWorld, _ := c.selected(r.peers)
	switch r.auth {
	case authFail:
		return reach{}
	case authRequired:
		return reach{workloads: workloads}
	default:
		return reach{workloads, everyWorld, r.peers.blocks}
	}
}

// placed is a rule with its policy and its callers.
type placed struct {
	rule
	policy Policy
	reach  reach
	// reached and hidden count the inbounds that the rule is about, and those where each of its callers is denied.
	reached, hidden int
	// name is a rule that denies them.
	name string
	// opened is true for a rule that a warning names already.
	opened bool
}

// cover says of each caller which rule takes it, by the name of the rule. Of several it is the first.
type cover struct {
	workloads map[int]string
	world     string
	blocks    []covered
}

type covered struct {
	block
	name string
}

func newCover() cover { return cover{workloads: map[int]string{}} }

func (c *cover) add(r *placed) {
	for _, i := range r.reach.workloads {
		c.workloads[i] = cmp.Or(c.workloads[i], r.origin)
	}
	if r.reach.everyWorld {
		c.world = cmp.Or(c.world, r.origin)
	}
	for _, b := range r.reach.blocks {
		c.blocks = append(c.blocks, covered{b, r.origin})
	}
}

// takesAll returns a rule that takes callers of the reach; "" unless each of its callers is taken.
func (c cover) takesAll(of reach) (by string) {
	if of.isEmpty() {
		return ""
	}
	for _, i := range of.workloads {
		if c.workloads[i] == "" {
			return ""
		}
		by = cmp.Or(by, c.workloads[i])
	}
	if of.everyWorld && c.world == "" {
		return ""
	}
	for _, b := range of.blocks {
		wide := slices.IndexFunc(c.blocks, func(o covered) bool {
			return len(o.except) == 0 && o.prefix.Bits() <= b.prefix.Bits() && o.prefix.Overlaps(b.prefix)
		})
		switch {
		case c.world != "":
		case wide < 0:
			return ""
		default:
			by = cmp.Or(by, c.blocks[wide].name)
		}
	}
	return cmp.Or(by, c.world)
}

// takesSome returns a rule that takes a caller of the reach, and that caller; "" where there is none.
func (c cover) takesSome(of reach, name func(int) string) (by, caller string) {
	for _, i := range of.workloads {
		if c.workloads[i] != "" {
			return c.workloads[i], name(i)
		}
	}
	if of.everyWorld {
		if c.world != "" {
			return c.world, "the world"
		}
		if len(c.blocks) > 0 {
			return c.blocks[0].name, c.blocks[0].prefix.String()
		}
	}
	for _, b := range of.blocks {
		if c.world != "" {
			return c.world, b.prefix.String()
		}
		for _, o := range c.blocks {
			if b.prefix.Overlaps(o.prefix) && !isLeftOut(b.prefix, o.except) && !isLeftOut(o.prefix, b.except) {
				return o.name, b.prefix.String()
			}
		}
	}
	return "", ""
}

// isLeftOut reports whether one of the exceptions has the whole block.
func isLeftOut(b netip.Prefix, except []netip.Prefix) bool {
	return slices.ContainsFunc(except, func(e netip.Prefix) bool { return e.Bits() <= b.Bits() && e.Overlaps(b) })
}

// placedSpec has the rules of a spec.
type placedSpec struct {
	spec        spec
	allow, deny []*placed
}

func place(ps []Policy, c callers) (out []placedSpec) {
	for _, p := range ps {
		for _, s := range p.specs {
			one := placedSpec{spec: s}
			for _, r := range s.allow {
				one.allow = append(one.allow, &placed{rule: r, policy: p, reach: c.reachOf(r)})
			}
			for _, r := range s.deny {
				one.deny = append(one.deny, &placed{rule: r, policy: p, reach: c.reachOf(r)})
			}
			out = append(out, one)
		}
	}
	return out
}

// lintTogether warns of allow rules that a rule beside them makes moot: a deny rule of all of their callers, or
// a rule without HTTP rules that lets some of their callers in on the port.
func lintTogether(ps []Policy, inbounds []policy.Inbound, identities []identity, c callers, opts Options) (out []policy.Warning) {
	if opts.PolicyEnforcement == enforceNever {
		return nil
	}
	all := place(ps, c)
	for i, in := range inbounds {
		selecting := slices.DeleteFunc(slices.Clone(all), func(one placedSpec) bool { return !one.spec.subject.selects(identities[i]) })
		countHidden(selecting, in)
		closed := opts.PolicyEnforcement == enforceAlways || slices.ContainsFunc(selecting, func(one placedSpec) bool { return one.spec.defaultDeny })
		if closed && in.Protocol.Layer() == policy.L7 {
			out = append(out, lintOpened(selecting, in, opts)...)
		}
	}
	for _, one := range all {
		for _, r := range one.allow {
			if r.reached > 0 && r.hidden == r.reached {
				out = append(out, r.policy.warn(warning.HiddenByDeny, r.field, "never allows: each of its callers is denied, by %s", r.name))
			}
		}
	}
	return out
}

// countHidden notes which allow rules are about the inbound, and which of them let no caller in
// beside the deny rules.
func countHidden(selecting []placedSpec, in policy.Inbound) {
	denied := newCover()
	for _, one := range selecting {
		for _, r := range one.deny {
			if _, ok := r.entriesFor(in); ok {
				denied.add(r)
			}
		}
	}
	for _, one := range selecting {
		for _, r := range one.allow {
			if _, ok := r.entriesFor(in); !ok {
				continue
			}
			r.reached++
			if by := denied.takesAll(r.reach); by != "" {
				r.hidden, r.name = r.hidden+1, by
			}
		}
	}
}

// lintOpened warns of rules with HTTP rules, some of whose callers another rule lets in without.
func lintOpened(selecting []placedSpec, in policy.Inbound, opts Options) (out []policy.Warning) {
	open := newCover()
	var bounded []*placed
	for _, one := range selecting {
		for _, r := range one.allow {
			entries, ok := r.entriesFor(in)
			if !ok {
				continue
			}
			http, whole := alternatives(entries)
			if whole {
				open.add(r)
			}
			if http != nil && !r.opened {
				bounded = append(bounded, r)
			}
		}
	}
	name := func(i int) string {
		w := opts.Peers[i].Workload
		return cmp.Or(w.Namespace, defaultNamespace) + "/" + w.Name
	}
	for _, r := range bounded {
		if by, caller := open.takesSome(r.reach, name); by != "" {
			r.opened = true
			out = append(out, r.policy.warn(warning.HiddenByOpenRule, r.field, "%s", openedBy(r.origin, by, caller, in)))
		}
	}
	return out
}

func openedBy(origin, by, caller string, in policy.Inbound) string {
	if by == origin {
		return fmt.Sprintf("another entry of the rule has the port of %s without HTTP rules: these bound no request of its callers", in)
	}
	return fmt.Sprintf("%s lets %s in on %s without HTTP rules: those of this rule bound none of its requests", by, caller, in)
}
