// Package update changes one part of a set, as an update in a cluster does, and leaves the rest as it was.
//
// It guarantees that the changed set is valid, that its policies decide otherwise than before, and that the same arguments
// give the same set. It does not guarantee that each set has an update of each kind.
package update

import (
	"maps"
	"math/rand/v2"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/internal/policyset/renaming"
	"github.com/meshproof/meshproof/internal/policyset/tree"
	"github.com/meshproof/meshproof/internal/verdict"
)

// Draw makes another case from one that a compiler has answered, as an update in a cluster makes it: one part has
// changed, and all names have stayed. A value of a policy has changed, an item or a policy is gone, a policy
// is of another namespace, two values have changed places, or a workload, its namespace, a caller or an option has changed. These take turns with the number. A compiler that keeps its
// answers, and leaves this part out of their key, gives the old one. The result is false where no change of the kind changes a decision.
func Draw(c cases.Case, seed, number uint64) (cases.Case, bool) {
	before, err := verdict.Read(c)
	if err != nil || len(c.Policies) == 0 {
		return c, false
	}
	u, r := &update{Chooser: choice.Random(seed^updatedSeed, number)}, rand.New(rand.NewPCG(number, seed^updatedSeed))
	change := updates[number%uint64(len(updates))]
	policies, options, err := tree.Values(c)
	if err != nil {
		return c, false
	}
	policies, options = tree.Clone(policies).([]any), tree.Clone(options)
	for range mostUpdates {
		out := c
		out.Inbounds, out.Options.Peers, out.Requests = slices.Clone(c.Inbounds), slices.Clone(c.Options.Peers), nil
		u.policies, u.options = tree.Clone(policies).([]any), tree.Clone(options)
		if !change(u, &out) {
			return c, false
		}
		countUp(policies, u.policies)
		out.Policies = nil
		next := 0
		for _, p := range u.policies {
			i := indexFrom(next, policies, p)
			next = max(next, i) + 1
			// What has not changed stays as it was written.
			if i >= 0 {
				out.Policies = append(out.Policies, c.Policies[i])
			} else {
				out.Policies = append(out.Policies, renaming.Document(r, "updated.yaml", p))
			}
		}
		if fields, ok := u.options.(map[string]any); ok && !reflect.DeepEqual(options, u.options) {
			out.Options.Document = renaming.Document(r, "updated.yaml", fields)
		}
		if after, err := verdict.Read(out); err == nil && decidesOtherwise(before, after) {
			return out, true
		}
	}
	return c, false
}

// indexFrom returns the index of a value, -1 where it is not there. It looks at the given place first: most policies stand
// in their old order.
func indexFrom(at int, values []any, v any) int {
	if at < len(values) && reflect.DeepEqual(values[at], v) {
		return at
	}
	return slices.IndexFunc(values, func(one any) bool { return reflect.DeepEqual(one, v) })
}

const (
	// updatedSeed keeps the choices apart from those of policyset.FromCase.
	updatedSeed = 0x0bda7e
	// mostUpdates is how many changes of a kind are tried: not each one changes a decision.
	mostUpdates = 12
)

// decidesOtherwise reports whether the policies say something else of an inbound.
func decidesOtherwise(before, after *verdict.Reading) bool {
	olds, recents := before.Inbounds(), after.Inbounds()
	return len(olds) != len(recents) || slices.ContainsFunc(recents, func(in verdict.Inbound) bool {
		i := slices.IndexFunc(olds, func(old verdict.Inbound) bool { return old.String() == in.String() })
		return i < 0 || !olds[i].Program.Equal(in.Program.Program)
	})
}

// update is one change of a set.
type update struct {
	*choice.Chooser
	policies []any
	options  any
}

// updates are the kinds of changes. Each reports whether it found something to change.
var updates = []func(u *update, c *cases.Case) bool{
	(*update).value, (*update).item, (*update).labels, (*update).value, (*update).peer, (*update).policy, (*update).namespace, (*update).option,
	(*update).digit, (*update).choice, (*update).inbound, (*update).metadata, (*update).place, (*update).peer, (*update).exchange,
}

// value changes the last letter of a text in a spec, so that its length stays.
func (u *update) value(*cases.Case) bool {
	var changes []func()
	for _, p := range u.policies {
		of, _ := p.(map[string]any)
		for _, key := range []string{"spec", "specs"} {
			u.textsIn(key, of[key], func(v any) { of[key] = v }, &changes)
		}
	}
	return u.one(changes)
}

// textsIn collects, for each text in the value of a field that is a name or a value, what changes it. The function set replaces the value.
func (u *update) textsIn(key string, v any, set func(any), to *[]func()) {
	switch v := v.(type) {
	case string:
		if changed, ok := u.other(v); ok && !renaming.HoldsNoName(key) {
			*to = append(*to, func() { set(changed) })
		}
	case []any:
		for i := range v {
			u.textsIn(key, v[i], func(item any) { v[i] = item }, to)
		}
	case map[string]any:
		for _, inner := range tree.Keys(v) {
			u.textsIn(inner, v[inner], func(value any) { v[inner] = value }, to)
		}
	}
}

// other returns a text with another last letter, false where it has none.
func (u *update) other(text string) (string, bool) {
	i := strings.LastIndexFunc(text, func(r rune) bool { return r >= 'a' && r <= 'z' })
	if i < 0 {
		return text, false
	}
	letter := 'a' + (rune(text[i]-'a')+1+rune(u.Choose(25)))%26
	return text[:i] + string(letter) + text[i+1:], true
}

// one makes one of the changes.
func (u *update) one(changes []func()) bool {
	if len(changes) == 0 {
		return false
	}
	choice.Pick(u.Chooser, changes...)()
	return true
}

// item takes an item out of a list.
func (u *update) item(*cases.Case) bool {
	lists := tree.SpecLists(u.policies)
	if len(lists) == 0 {
		return false
	}
	of := choice.Pick(u.Chooser, lists...)
	i := u.Choose(len(of.Items()))
	of.Set(slices.Delete(slices.Clone(of.Items()), i, i+1))
	return true
}

// labels changes a label of a workload, or takes it away.
func (u *update) labels(c *cases.Case) bool {
	name := c.Inbounds[u.Choose(len(c.Inbounds))].Workload.Name
	labels := map[string]string{}
	for _, in := range c.Inbounds {
		if in.Workload.Name == name {
			labels = in.Workload.Labels
		}
	}
	if len(labels) == 0 {
		return false
	}
	relabel(c, name, u.relabeled(labels))
	return true
}

// relabel gives a workload other labels, as an inbound and as a caller.
func relabel(c *cases.Case, name string, labels map[string]string) {
	for i := range c.Inbounds {
		if c.Inbounds[i].Workload.Name == name {
			c.Inbounds[i].Workload.Labels = labels
		}
	}
	for i := range c.Options.Peers {
		if c.Options.Peers[i].Workload.Name == name {
			c.Options.Peers[i].Workload.Labels = labels
		}
	}
}

// relabeled returns labels of which one has another value, or is gone.
func (u *update) relabeled(labels map[string]string) map[string]string {
	out := maps.Clone(labels)
	key := choice.Pick(u.Chooser, tree.Keys(labels)...)
	if changed, ok := u.other(out[key]); ok && u.OneIn(2) {
		out[key] = changed
	} else {
		delete(out, key)
	}
	return out
}

// peer changes a label of a workload that calls, or the account that it runs as.
func (u *update) peer(c *cases.Case) bool {
	var changes []func()
	for i := range c.Options.Peers {
		peer := &c.Options.Peers[i]
		of := &peer.Workload
		if slices.ContainsFunc(c.Inbounds, func(in cases.Inbound) bool { return in.Workload.Name == of.Name }) {
			continue
		}
		if len(of.Labels) > 0 {
			changes = append(changes, func() { of.Labels = u.relabeled(of.Labels) })
		}
		if changed, ok := u.other(peer.Identity.Path()); ok {
			if id, err := spiffeid.FromPath(peer.Identity.TrustDomain(), changed); err == nil {
				changes = append(changes, func() {
					if of.ServiceAccount == path.Base(peer.Identity.Path()) {
						of.ServiceAccount = path.Base(changed)
					}
					peer.Identity = id
				})
			}
		}
	}
	return u.one(changes)
}

// policy takes a policy away.
func (u *update) policy(*cases.Case) bool {
	if len(u.policies) < 2 {
		return false
	}
	i := u.Choose(len(u.policies))
	u.policies = slices.Delete(u.policies, i, i+1)
	return true
}

// namespace moves a policy to another namespace, or to another mesh.
func (u *update) namespace(*cases.Case) bool {
	var changes []func()
	for _, p := range u.policies {
		of := tree.Metadata(p)
		for _, key := range []string{"namespace", "mesh"} {
			if place, ok := of[key].(string); ok {
				if changed, ok := u.other(place); ok {
					changes = append(changes, func() { of[key] = changed })
				}
			}
		}
	}
	return u.one(changes)
}

// option changes a text of the options, or leaves an option out.
func (u *update) option(*cases.Case) bool {
	options, _ := u.options.(map[string]any)
	if len(options) == 0 {
		return false
	}
	var changes []func()
	for _, key := range tree.Keys(options) {
		u.textsIn(key, options[key], func(v any) { options[key] = v }, &changes)
		if len(options) > 1 {
			changes = append(changes, func() { delete(options, key) })
		}
		if inner, ok := options[key].(map[string]any); ok {
			for _, field := range tree.Keys(inner) {
				changes = append(changes, func() { delete(inner, field) })
			}
		}
	}
	return u.one(changes)
}
