package cluster

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/internal/kinds"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
)

// Pod is a pod with the policies that select it. Others are the policies of other dialects in its
// cluster, which may decide about it too.
type Pod struct {
	policy.Workload
	Inherited []capability.Inherited
	Others    kinds.Others
}

// Pods are pods of one name in several clusters.
type Pods []Pod

// PodsOf returns the pod of the given name in each case. Policy files have no pods: there
// it is the given one. It fails where there is no such pod.
func PodsOf(files *lab.Files, given policy.Workload) (Pods, error) {
	var out Pods
	for _, c := range clustersOf(files) {
		inheritor := dialects.Having[capability.Inheritor]()[0]
		others := slices.DeleteFunc(slices.Clone(c.policies), inheritor.(language.Dialect).Owns)
		pods := c.pods
		if pods == nil {
			pods = []policy.Workload{given}
		}
		for _, pod := range pods {
			inherited, err := inheritor.Inherited(c.policies, pod)
			if err != nil {
				return nil, err
			}
			if pod.Name == given.Name {
				out = append(out, Pod{pod, inherited, others})
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("there is no pod %q: a pod is a workload that has inbounds", given.Name)
	}
	return out, nil
}

// WriteText prints each pod as kubectl describe would.
func (all Pods) WriteText(w io.Writer, _ terminal.Paint) {
	for i, pod := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		pod.write(w)
	}
}

func (p Pod) write(w io.Writer) {
	var labels []string
	for _, key := range slices.Sorted(maps.Keys(p.Labels)) {
		labels = append(labels, terminal.Printable(key+"="+p.Labels[key]))
	}
	const none = "<none>"
	if labels == nil {
		labels = []string{none}
	}
	terminal.Table{
		{"Name:", terminal.Printable(p.Name)}, {"Namespace:", terminal.Printable(p.Namespace)}, {"Labels:", strings.Join(labels, ",")},
	}.Write(w, "")
	if len(p.Others) > 0 {
		defer fmt.Fprintf(w, "NotDescribed:  %s, which Gateway API does not define: see meshproof inspect inbound\n", terminal.Printable(p.Others.String()))
	}
	if p.Inherited == nil {
		fmt.Fprintf(w, "InheritedPolicies:  %s\n", none)
		return
	}
	fmt.Fprintln(w, "InheritedPolicies:")
	table := terminal.Table{{"Type", "Name", "Target Kind", "Target Name/Expression"}, {"----", "----", "-----------", "----------------------"}}
	for _, i := range p.Inherited {
		table = append(table, []string{i.Type, i.Name, i.TargetKind, i.Target})
	}
	table.Write(w, "  ")
}
