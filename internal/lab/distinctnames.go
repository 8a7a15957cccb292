package lab

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/meshproof/meshproof/internal/dataplane"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/language"
)

// labelDisplayName has the name of a Dataplane where its resource has another one.
const labelDisplayName = "kuma.io/display-name"

// distinctNames gives workloads that have one name in several namespaces names of their own, for a case has one workload
// of a name: "name.namespace", which a control plane on Kubernetes writes too. The sender keeps its name.
// Policies may select by name. Where one does, so that it would no longer select an inbound, the error names
// both workloads.
func (f *Files) distinctNames(s Surroundings, sender Sender, inbounds []policy.Inbound) ([]policy.Inbound, error) {
	policies := sync.OnceValue(func() language.Policies {
		set, err := dialect.Parse(f.Policies, s.Options)
		if err != nil || len(f.Policies) == 0 {
			return nil // refused policies are refused where they are read
		}
		return set
	})
	owners := map[string]policy.Workload{sender.Workload.Workload.Name: sender.Workload.Workload}
	out := slices.Clone(inbounds)
	for i := range out {
		w := &out[i].Workload
		is := inbounds[i].Workload
		name := w.Name
		for _, more := range []string{w.Namespace, w.Zone, w.Mesh} {
			if owner, taken := owners[name]; !taken || dataplane.IsOneWorkload(owner, is) {
				break
			}
			name += "." + more
		}
		if name == w.Name {
			owners[name] = is
			continue
		}
		first := owners[w.Name]
		if owner, taken := owners[name]; taken && !dataplane.IsOneWorkload(owner, is) {
			return nil, f.sameNameError(first, is)
		}
		owners[name] = is
		w.Labels = maps.Clone(w.Labels)
		if w.Labels == nil {
			w.Labels = map[string]string{}
		}
		if w.Labels[labelDisplayName] == "" {
			w.Labels[labelDisplayName] = is.Name
		}
		w.Name = name
		if !isSelectedAlike(sender, policies(), inbounds[i], out[i]) {
			return nil, f.sameNameError(first, is)
		}
	}
	return out, nil
}

// sameNameError is the error about two workloads that cannot stand in one case.
func (f *Files) sameNameError(a, b policy.Workload) error {
	place := func(w policy.Workload) string {
		return strings.Join(slices.DeleteFunc([]string{w.Zone, w.Namespace, w.Name}, func(word string) bool { return word == "" }), "/")
	}
	return fmt.Errorf("%s: the workloads %s and %s have one name, and a policy selects one of them by its name, so that the lab cannot tell them apart: give one of them another name", f.Name, place(a), place(b))
}

// isSelectedAlike reports whether the policies and the services take the second inbound for the first.
func isSelectedAlike(sender Sender, policies language.Policies, a, b policy.Inbound) bool {
	for _, cluster := range sender.Clusters {
		if len(sender.Routing.InboundsBehind(cluster.Name, []policy.Inbound{a})) != len(sender.Routing.InboundsBehind(cluster.Name, []policy.Inbound{b})) {
			return false
		}
	}
	if policies == nil {
		return true
	}
	was, is := policies.Program(a), policies.Program(b)
	return was.Program.Equal(is.Program) && was.MTLS == is.MTLS && was.DefaultMTLS == is.DefaultMTLS && was.JudgesPlaintext == is.JudgesPlaintext
}
