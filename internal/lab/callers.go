package lab

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/overlap"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
)

// Callers are the workloads that call, of policies that name callers by their labels. No file
// describes them: they are made.
type Callers struct {
	Peers []language.Peer
	// Unnamed are the selectors of which no workload can be made.
	Unnamed []Unasked
	// Truncated is true if there are more workloads to make than the bounds allow.
	Truncated bool

	// targets are the selectors.
	targets []capability.Target
}

// mostCallers bounds the workloads that are made: each may be a class of requests of its own.
// mostAsked bounds how often a selector is asked whether it selects a workload.
const (
	mostCallers = 250
	mostAsked   = 1 << 20
)

// MakeCallers makes a workload for each distinct selector of the sets, for each two selectors that
// can select one together, and the workloads that miss one label of those, or several, or are of
// another namespace. Of others, each least set of selectors that select a workload beside one or two
// has one. Of workloads that the same selectors select, one is made. Policies that name callers in
// another way have no made callers.
//
// Two sets that are compared get the same callers. As for [Populate], two selectors are enough to
// find each caller that a change lets in.
func MakeCallers(trustDomain spiffeid.TrustDomain, sets ...language.Policies) Callers {
	return makeCallers(trustDomain, nil, sets)
}

// MakeComparedCallers is as [MakeCallers], for two sets that are compared. Of two selectors that can select a workload together, at least one is of the changed policies, which are
// those of each side that the other one has not: a caller that no changed policy tells from others gets in where it did, or where all others do.
func MakeComparedCallers(trustDomain spiffeid.TrustDomain, changed []language.Policies, sets ...language.Policies) Callers {
	keys := map[string]bool{}
	for _, set := range changed {
		if namer, ok := set.(capability.PeerNamer); ok {
			for _, t := range namer.Peers() {
				keys[t.Key] = true
			}
		}
	}
	return makeCallers(trustDomain, keys, sets)
}

// makeCallers makes the callers. Changed are the keys of the selectors of changed policies, nil where all count.
func makeCallers(trustDomain spiffeid.TrustDomain, changed map[string]bool, sets []language.Policies) Callers {
	if trustDomain.IsZero() {
		trustDomain = spiffeid.RequireTrustDomainFromString(casefile.DefaultTrustDomain)
	}
	m := callerMaker{trustDomain: trustDomain, changed: changed, seen: map[string]bool{}, named: map[string]bool{}}
	known := map[string]bool{}
	for _, set := range sets {
		namer, ok := set.(capability.PeerNamer)
		if !ok {
			continue
		}
		for _, t := range namer.Peers() {
			if !known[t.Key] {
				known[t.Key] = true
				m.targets = append(m.targets, t)
			}
		}
	}
	if len(m.targets) > 0 {
		m.makeAll()
	}
	return m.Callers
}

// DescribeCaller says what the caller is, and by which identity it is known.
func DescribeCaller(peer language.Peer) string {
	w := peer.Workload
	facts := []string{"namespace " + w.Namespace}
	for _, key := range slices.Sorted(maps.Keys(w.Labels)) {
		facts = append(facts, fmt.Sprintf("label %s=%s", key, w.Labels[key]))
	}
	if w.ServiceAccount != w.Name {
		facts = append(facts, "service account "+w.ServiceAccount)
	}
	return fmt.Sprintf("caller %s: %s, %s", w.Name, strings.Join(facts, ", "), peer.Identity)
}

// Texts say of each caller what it is. The last one says who every other caller is.
func (c Callers) Texts() []string {
	if len(c.Peers) == 0 {
		return nil
	}
	var out []string
	for _, p := range c.Peers {
		out = append(out, DescribeCaller(p))
	}
	return append(out, "every other caller is of the world")
}

// callerMaker collects the callers.
type callerMaker struct {
	Callers
	trustDomain spiffeid.TrustDomain
	// changed are the keys of the selectors that count, nil where all do.
	changed map[string]bool
	// seen has what selects each caller, named their names.
	seen, named map[string]bool
	// made are the workloads before they had names.
	made  []policy.Inbound
	asked int
}

// counts reports whether one of some selectors is of a changed policy.
func (m *callerMaker) counts(any ...capability.Target) bool {
	return m.changed == nil || slices.ContainsFunc(any, func(t capability.Target) bool { return m.changed[t.Key] })
}

func (m *callerMaker) makeAll() {
	blank := policy.Inbound{Workload: policy.Workload{Namespace: casefile.DefaultNamespace, Mesh: casefile.DefaultMesh}}
	var least []policy.Inbound
	var of []capability.Target
	for _, t := range m.targets {
		in := t.Fit(blank)
		if reason := t.Miss(in); reason == nil {
			least, of = append(least, in), append(of, t)
			m.add(in)
		} else if !t.Inert {
			m.Unnamed = append(m.Unnamed, Unasked{Policy: t.Policy, Place: t.Place, Reason: reason()})
		}
	}
	m.add(blank)
	for i, in := range least {
		for _, t := range m.targets {
			if m.Truncated {
				return
			}
			if m.counts(of[i], t) {
				m.add(t.Fit(in))
			}
			if t.Selects(in) {
				for _, varied := range t.Vary(in) {
					m.add(varied)
				}
			}
		}
	}
	m.escape()
	m.addOverlaps(blank)
}

// addOverlaps adds the callers of the least sets of selectors that select one where a selector does, and where two do.
func (m *callerMaker) addOverlaps(blank policy.Inbound) {
	space := overlap.New(blank, m.targets)
	m.asked += space.Tried()
	addLeast := func(given ...int) {
		found, whole := space.Least(given...)
		m.Truncated = m.Truncated || !whole
		for _, in := range found {
			m.add(in)
		}
	}
	for i, t := range m.targets {
		if !t.Inert {
			addLeast(i)
		}
		for j, other := range m.targets[:i] {
			switch {
			case m.Truncated:
				return
			case (!t.Inert || !other.Inert) && m.counts(t, other):
				addLeast(i, j)
			}
		}
	}
}

// escape makes the workloads that fewer and fewer of the selectors select: a caller may have to
// miss several that ask for the lack of a label.
func (m *callerMaker) escape() {
	for i := 0; i < len(m.made); i++ {
		for _, t := range m.targets {
			if !t.Selects(m.made[i]) {
				continue
			}
			for _, varied := range t.Vary(m.made[i]) {
				if m.Truncated {
					return
				}
				if !t.Selects(varied) {
					m.add(varied)
				}
			}
		}
	}
}

// madeAccount stands for the account of a caller until it has a name: each pod has one.
const madeAccount = "made-account"

// add makes a caller of a workload, unless the same selectors select another one.
func (m *callerMaker) add(in policy.Inbound) {
	if m.Truncated = m.Truncated || m.asked > mostAsked; m.Truncated {
		return
	}
	made := in
	made.Workload.ServiceAccount = cmp.Or(in.Workload.ServiceAccount, madeAccount)
	key := m.selection(made)
	if m.seen[key] {
		return
	}
	if m.Truncated = len(m.Peers) == mostCallers; m.Truncated {
		return
	}
	m.seen[key], m.made = true, append(m.made, made)
	w := m.name(in, key)
	id, err := spiffeid.FromSegments(m.trustDomain, "ns", w.Namespace, "sa", w.ServiceAccount)
	if err == nil && slices.ContainsFunc(m.Peers, func(p language.Peer) bool { return p.Identity == id }) {
		// Labels tell pods of one account apart, and their certificates do not.
		id, err = spiffeid.FromSegments(m.trustDomain, "ns", w.Namespace, "sa", w.ServiceAccount, w.Name)
	}
	if err != nil {
		m.Unnamed = append(m.Unnamed, Unasked{Policy: "the workload " + w.Name, Reason: fmt.Sprintf("it has no SPIFFE ID: %v", err)})
		return
	}
	m.Peers = append(m.Peers, language.Peer{Workload: w, Identity: id, IP: netip.AddrFrom4([4]byte{10, 65, 0, byte(len(m.Peers) + 1)})})
}

// selection is the same for workloads that the same selectors select.
func (m *callerMaker) selection(in policy.Inbound) string {
	m.asked += len(m.targets)
	return selectionKey(m.targets, in)
}

// name names a workload after the values of its labels. Its service account has the same name where
// no selector asks for one, as long as that makes no other selector select it.
func (m *callerMaker) name(in policy.Inbound, key string) policy.Workload {
	w := in.Workload
	var parts []string
	for _, label := range slices.Sorted(maps.Keys(w.Labels)) {
		parts = append(parts, w.Labels[label])
	}
	first := cmp.Or(strings.Trim(strings.ToLower(strings.Join(parts, "-")), "-._"), w.ServiceAccount, "workload")
	for n := 1; ; n++ {
		named := in
		if named.Workload.Name = first; n > 1 {
			named.Workload.Name = fmt.Sprintf("%s-%d", first, n)
		}
		named.Workload.ServiceAccount = cmp.Or(w.ServiceAccount, named.Workload.Name)
		if !m.named[named.Workload.Name] && (m.selection(named) == key || n > mostCallers) {
			m.named[named.Workload.Name] = true
			return named.Workload
		}
	}
}
