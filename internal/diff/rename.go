package diff

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/labelselector"
	"github.com/meshproof/meshproof/policy"
)

// mostRenames bounds the workloads of OLD that one workload of NEW is compared with.
const mostRenames = 16

// addRenamed compares each workload that only NEW has with the workloads of OLD that it may
// have been, because a policy may have denied it under its old name. A workload that is gone
// and is none of them is compared as if it had stayed. An inbound may be chosen by its name.
func (d *Difference) addRenamed(olds, recents []lab.Case, to string) {
	if len(olds) == 0 || len(recents) == 0 {
		return
	}
	gone, fresh := unpaired(olds, recents), unpaired(recents, olds)
	chosen := func(c lab.Case) bool {
		return to == "" || slices.ContainsFunc(c.Inbounds, func(in cases.Inbound) bool { return in.String() == to })
	}
	taken := map[workload]bool{}
	add := func(was, is cases.Case, generated bool) {
		c := Case{Old: withoutClaims(was), New: withoutClaims(is), generated: generated, find: renamed}
		useOneDialect(&c.Old, &c.New)
		c.Inbounds = inboundChanges(renamed, c.Old.Inbounds, c.New.Inbounds)
		d.Cases = append(d.Cases, c)
	}
	for _, is := range fresh {
		for _, was := range former(gone, is) {
			taken[workloadOf(was.Inbounds[0].Inbound)] = true
			if chosen(is) || chosen(was) {
				add(was.Case, is.Case, is.Generated)
			}
		}
	}
	for _, was := range gone {
		if chosen(was) && !taken[workloadOf(was.Inbounds[0].Inbound)] {
			is := recents[0].Case
			is.Inbounds = was.Inbounds
			add(was.Case, is, was.Generated)
		}
	}
}

// addMoved compares each inbound that has come to its port with the inbounds that had the port before. A policy may have denied
// those by their name, and who calls the port meets another one now.
func (d *Difference) addMoved(was, is lab.Case) {
	if is.Made != nil {
		return
	}
	for _, in := range is.Inbounds {
		if i := counterpart(was.Inbounds, is.Inbounds, in); i >= 0 && was.Inbounds[i].Port == in.Port {
			continue
		}
		for _, before := range was.Inbounds {
			if before.Port != in.Port || workloadOf(before.Inbound) != workloadOf(in.Inbound) {
				continue
			}
			c := Case{Old: withoutClaims(was.Case), New: withoutClaims(is.Case), generated: is.Generated, find: renamed, lintScope: []policy.Inbound{}}
			c.Old.Inbounds, c.New.Inbounds = []cases.Inbound{before}, []cases.Inbound{in}
			c.Inbounds = []InboundChange{{Text: fmt.Sprintf("%s: port %d was that of %s", in, in.Port, before)}}
			d.Cases = append(d.Cases, c)
		}
	}
}

// unpaired returns a case for each workload that one side has and the other has not.
func unpaired(side, other []lab.Case) (out []lab.Case) {
	known := map[workload]bool{}
	for _, in := range inboundsOf(other) {
		known[workloadOf(in)] = true
	}
	for _, c := range side {
		all := c.Inbounds
		for len(all) > 0 {
			of := workloadOf(all[0].Inbound)
			n := slices.IndexFunc(all, func(in cases.Inbound) bool { return workloadOf(in.Inbound) != of })
			if n < 0 {
				n = len(all)
			}
			if c.Inbounds = all[:n:n]; !known[of] {
				out = append(out, c)
			}
			all = all[n:]
		}
	}
	return out
}

// former returns the workloads that a workload of NEW may have been: those that share the most
// labels and tags with it.
func former(gone []lab.Case, is lab.Case) (out []lab.Case) {
	most, in := 0, is.Inbounds[0].Inbound
	for _, c := range gone {
		was := c.Inbounds[0].Inbound
		if was.Workload.Mesh != in.Workload.Mesh {
			continue
		}
		n := labelselector.Shared(was.Workload.Labels, in.Workload.Labels) + labelselector.Shared(was.Tags, in.Tags)
		if n > most {
			out, most = nil, n
		}
		if n == most && len(out) < mostRenames {
			out = append(out, c)
		}
	}
	return out
}

// renamed finds what an inbound of a workload was under the workload's old name: the inbound
// of the same port, or of the same name, or else the first.
func renamed(olds, _ []cases.Inbound, in cases.Inbound) int {
	for _, alike := range []func(cases.Inbound) bool{
		func(was cases.Inbound) bool { return was.Port == in.Port },
		func(was cases.Inbound) bool { return was.Name == in.Name },
	} {
		if i := slices.IndexFunc(olds, alike); i >= 0 {
			return i
		}
	}
	return 0
}

// described returns the cases that were made of policy files, for the inbounds that the files
// describe.
func described(all []lab.Case) []lab.Case {
	return slices.DeleteFunc(slices.Clone(all), func(c lab.Case) bool { return !c.Generated || c.Made != nil })
}
