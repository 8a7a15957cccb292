package diff

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/knowncaller"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
	"github.com/meshproof/meshproof/policy/language"
)

// mostAccountCuts bounds how often inbounds are compared again with callers of other accounts.
const mostAccountCuts = 20_000

// mixesLabelsAndAccounts reports whether one of two sets names callers by what their workloads are, such as labels, and the
// other one does not. A made caller has the account that is named after its label: on the other side a rule may be
// about that account, and pods have any account.
func mixesLabelsAndAccounts(sets []language.Policies) bool {
	if len(sets) != 2 {
		return false
	}
	_, first := sets[0].(capability.PeerNamer)
	_, second := sets[1].(capability.PeerNamer)
	return first != second
}

// compareAccounts compares each inbound of policy files again with the callers, and with other accounts of theirs, unless
// its classes show already that a side opens. With all, neither side came first.
func (d *Difference) compareAccounts(callers lab.Callers, all bool) error {
	left := mostAccountCuts
	for _, c := range d.Cases {
		for _, found := range c.Comparisons {
			isShown := slices.ContainsFunc(found.Changes, func(change Change) bool {
				return change.Kind() == Widened || all && !change.decidesAlike()
			})
			if isShown || !c.generated || len(callers.Peers) == 0 {
				continue
			}
			ids, isComplete := findAccounts(callers, found)
			if !isComplete {
				d.Opens = append(d.Opens, fmt.Sprintf("one side names callers by labels and the other one by accounts, and not all accounts that policies of %s tell apart were found", found.Inbound))
				continue
			}
			lists := callers.AssignIdentities(ids)
			if left -= len(lists); left < 0 {
				d.Opens = append(d.Opens, "one side names callers by labels and the other one by accounts, and there are too many of them to compare each label beside each account")
				return nil
			}
			text, err := findOpenedAccount(found, lists, all)
			if err != nil {
				return err
			}
			if text != "" {
				d.Opens = append(d.Opens, text)
			}
		}
	}
	return nil
}

// findOpenedAccount says which caller of some lists only the new policies of an inbound let in, "" for none. With all, either
// side counts.
func findOpenedAccount(found Comparison, lists [][]language.Peer, all bool) (string, error) {
	for _, list := range lists {
		was, errOld := replaceCallers(found.old, list)
		is, errNew := replaceCallers(found.recent, list)
		if err := errors.Join(errOld, errNew); err != nil {
			return "", err
		}
		for _, caller := range list {
			name := caller.Identity.String()
			for _, class := range classes.Cut(is.Surface(), knowncaller.Settle(was.Program.Program, name), knowncaller.Settle(is.Program.Program, name)).Classes {
				r := class.Witness
				r.URIs, r.DNS = []string{name}, nil
				before, after := decide(was, r).Effect == policy.Allow, decide(is, r).Effect == policy.Allow
				if after && !before || all && before != after {
					return fmt.Sprintf("one side names callers by labels and the other one by accounts, and %s gets into %s on one side alone (%s)", lab.DescribeCaller(caller), is, witnessText(Change{Witness: r, Request: is.Request(r)})), nil
				}
			}
		}
	}
	return "", nil
}

// replaceCallers reads the policies of an inbound again where they name callers by their workloads.
func replaceCallers(in verdict.Inbound, callers []language.Peer) (verdict.Inbound, error) {
	if _, byLabels := in.Reading().Set().(capability.PeerNamer); !byLabels {
		return in, nil
	}
	c := in.Reading().Case
	c.Inbounds, c.Options.Peers = []cases.Inbound{in.Inbound}, callers
	reading, err := verdict.Read(c)
	if err != nil {
		return in, err
	}
	return reading.Inbounds()[0], nil
}

// findAccounts returns an identity for each set of accounts that the policies of an inbound tell apart, in each namespace of the
// callers and in any other one, and whether these are all.
func findAccounts(callers lab.Callers, found Comparison) (ids []spiffeid.ID, isComplete bool) {
	in, domain := found.old, callers.Peers[0].Identity.TrustDomain()
	if _, byLabels := in.Reading().Set().(capability.PeerNamer); byLabels {
		in = found.recent
	}
	out := map[spiffeid.ID]bool{}
	// A program that gives each namespace a verdict of its own makes a class for each of them.
	var namespaces policy.Gate
	add := func(pattern string) {
		regex := regexp.QuoteMeta(domain.IDString()+"/ns/") + pattern + "/sa/[^/]+"
		namespaces.Rules = append(namespaces.Rules, policy.Rule{
			Verdict: policy.Verdict{Effect: policy.Allow, Origin: pattern},
			When:    policy.Is{Attribute: attribute.URISAN, Match: policy.Match{Kind: policy.Regex, Value: regex}},
		})
	}
	seen := map[string]bool{}
	for _, peer := range callers.Peers {
		if namespace := peer.Workload.Namespace; !seen[namespace] {
			seen[namespace] = true
			add(regexp.QuoteMeta(namespace))
		}
	}
	add("[^/]+")
	cover := classes.Cut(in.Surface(), in.Program.Program, policy.Program{Gates: []policy.Gate{namespaces}})
	for _, class := range cover.Classes {
		for _, uri := range class.Witness.URIs {
			if id, err := spiffeid.FromString(uri); err == nil {
				out[id] = true
			}
		}
	}
	ids = slices.SortedFunc(maps.Keys(out), func(a, b spiffeid.ID) int { return strings.Compare(a.String(), b.String()) })
	// Of callers with several names, examples are enough: an account is one name.
	return ids, cover.Complete() || len(cover.Sampled) == 1 && cover.SampledNames != ""
}
