package routediff

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/internal/dataplane"
	"github.com/meshproof/meshproof/internal/labelselector"
	"github.com/meshproof/meshproof/policy"
)

// mostRenames bounds the workloads of OLD that one workload of NEW is compared with.
const mostRenames = 16

// pairs has what each workload is compared with: itself before, or else the workloads of OLD that it may
// have been. A workload that is gone and is none of them is compared as if it had stayed, as those that
// get requests are.
func pairs(olds, recents []policy.Inbound) (out [][2]policy.Inbound) {
	gone := onlyIn(olds, recents)
	taken := map[int]bool{}
	for _, is := range recents {
		if i := slices.IndexFunc(olds, func(was policy.Inbound) bool { return sameWorkload(was, is) }); i >= 0 {
			out = append(out, [2]policy.Inbound{olds[i], is})
			continue
		}
		found := formerOf(gone, is)
		for _, i := range found {
			taken[i] = true
			out = append(out, [2]policy.Inbound{gone[i], is})
		}
		if len(found) == 0 {
			out = append(out, [2]policy.Inbound{is, is})
		}
	}
	for i, was := range gone {
		if !taken[i] {
			out = append(out, [2]policy.Inbound{was, was})
		}
	}
	return out
}

func sameWorkload(a, b policy.Inbound) bool {
	return dataplane.IsOneWorkload(a.Workload, b.Workload)
}

// onlyIn returns the workloads of a side that the other side does not have.
func onlyIn(side, other []policy.Inbound) (out []policy.Inbound) {
	for _, w := range side {
		if !slices.ContainsFunc(other, func(stays policy.Inbound) bool { return sameWorkload(stays, w) }) {
			out = append(out, w)
		}
	}
	return out
}

// formerOf returns the places of the workloads that a workload of NEW may have been: those of its name in
// another namespace, zone or mesh, or else those that share the most labels and tags with it. One that
// shares nothing is another workload.
func formerOf(gone []policy.Inbound, is policy.Inbound) (out []int) {
	most := 0
	for i, was := range gone {
		n := labelselector.Shared(was.Workload.Labels, is.Workload.Labels) + labelselector.Shared(was.Tags, is.Tags)
		if was.Workload.Name == is.Workload.Name {
			n += len(is.Workload.Labels) + len(is.Tags) + 1
		}
		if n > most {
			out, most = nil, n
		}
		if n > 0 && n == most && len(out) < mostRenames {
			out = append(out, i)
		}
	}
	return out
}

// formerly says what of the name and the place of a workload was another.
func formerly(was, is policy.Workload) string {
	text := "was " + was.Name
	for _, part := range [][3]string{{"namespace", was.Namespace, is.Namespace}, {"zone", was.Zone, is.Zone}, {"mesh", was.Mesh, is.Mesh}} {
		if part[1] != part[2] {
			text += fmt.Sprintf(", %s %q", part[0], part[1])
		}
	}
	return text
}
