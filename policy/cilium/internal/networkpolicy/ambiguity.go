package networkpolicy

import (
	"errors"
	"slices"

	"github.com/meshproof/meshproof/policy"
)

// Check refuses what gives no program on the inbound. Without any workload no caller has labels,
// so that nothing could be shown of a rule that names its peers. Two workloads of one certificate cannot
// be told apart, so a rule must not name only one of them. Two rules that let the same caller in
// must not differ in what they demand of its authentication: which of them counts depends on
// how Cilium orders its entries. And two rules of the workload that Cilium merges, on whatever port, must not have two modes. The same
// holds of its calls.
func Check(ps []Policy, in policy.Inbound, opts Options) error {
	c := callersOf(opts)
	of := identityOf(in.Workload, opts)
	var errs []error
	var allows []demand
	type calling struct {
		Policy
		call
	}
	var calls []calling
	for _, p := range ps {
		for _, s := range p.specs {
			if !s.subject.selects(of) {
				continue
			}
			for _, r := range slices.Concat(s.deny, s.allow) {
				if _, ok := r.entriesFor(in); ok {
					errs = append(errs, p.checkKnown(r, opts), p.checkTwins(r, c, opts))
				}
			}
			for _, one := range s.calls {
				calls = append(calls, calling{p, one})
			}
			for _, r := range s.allow {
				allows = append(allows, c.demandOf(p, r, in))
			}
		}
	}
	for i := range allows {
		for k := range allows[:i] {
			a, b := &allows[i], &allows[k]
			if a.rule.auth == b.rule.auth {
				continue // two of one mode demand the same
			}
			switch {
			case a.isAbout && b.isAbout && a.contradicts(b):
				errs = append(errs, a.policy.doc.Errorf(a.rule.field, "the rule at %s lets the same caller in with another authentication: give both the same mode", b.policy.Place(b.rule.field)))
			case a.rule.auth != "" && b.rule.auth != "" && a.merges(b):
				errs = append(errs, a.policy.doc.Errorf(a.rule.field, "the rule at %s has another authentication for the same peers on the same port, and Cilium then applies no policy of the workload: give both the same mode", b.policy.Place(b.rule.field)))
			}
		}
	}
	for i := range calls {
		for k := range calls[:i] {
			if a, b := &calls[i], &calls[k]; a.conflicts(&b.call) {
				errs = append(errs, a.doc.Errorf(a.field, "the rule at %s is about the same peers on the same port, and Cilium cannot merge the two: it then applies no policy of the workload, those of ingress neither", b.Place(b.field)))
			}
		}
	}
	return errors.Join(errs...)
}

// checkKnown refuses a rule that tells workloads apart where no workload is known.
func (p Policy) checkKnown(r rule, opts Options) error {
	toldApart := len(r.peers.endpoints)+len(r.peers.blocks)+len(r.peers.entities) > 0
	if len(opts.Peers) > 0 || !toldApart || slices.Contains(r.peers.entities, entityAll) && r.auth != authRequired {
		return nil
	}
	return p.doc.Errorf(r.field, "the rule names its peers, and no workload is known that a caller could be: describe the workloads in a case, with policies: {files: [...]}")
}

// checkTwins refuses a rule that names one of two workloads with the same certificate.
func (p Policy) checkTwins(r rule, c callers, opts Options) error {
	if r.peers.everyone || r.peers.endpoints == nil {
		return nil
	}
	named, _, _ := c.selected(r.peers)
	for _, i := range named {
		for k, other := range opts.Peers {
			if other.Identity == opts.Peers[i].Identity && !slices.Contains(named, k) {
				return p.doc.Errorf(r.field, "the rule names the workload %s and not %s, but their certificates have the same identity %s: give one of them another service account",
					opts.Peers[i].Workload.Name, other.Workload.Name, other.Identity)
			}
		}
	}
	return nil
}

// demand is what a rule demands of the callers that it lets in.
type demand struct {
	policy Policy
	rule   rule
	// The rule names workloads and world.
	workloads []int
	world     bool
	// isAbout is true where the rule is about the port of the inbound.
	isAbout bool
	// mergedOf are the peers of the rule, under which Cilium merges it with others.
	mergedOf []string
}

func (c callers) demandOf(p Policy, r rule, in policy.Inbound) demand {
	workloads, everyWorld, blocks := c.selected(r.peers)
	_, isAbout := r.entriesFor(in)
	return demand{p, r, workloads, everyWorld || blocks != nil, isAbout, r.peers.keys()}
}

// contradicts reports whether two rules of different modes name a caller in common that one of them lets in
// and the other does not, or by two modes that are written. A workload proves its identity by its certificate, the world cannot.
func (d *demand) contradicts(other *demand) bool {
	fails := d.rule.auth == authFail || other.rule.auth == authFail
	// Cilium merges no two modes that are written.
	differs := d.rule.auth != "" && other.rule.auth != ""
	common := func(i int) bool { return slices.Contains(other.workloads, i) }
	return (fails || differs) && slices.ContainsFunc(d.workloads, common) ||
		d.world && other.world && (fails || differs || d.rule.auth == authRequired || other.rule.auth == authRequired)
}
