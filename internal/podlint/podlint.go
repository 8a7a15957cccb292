// Package podlint warns of what policies say otherwise than the workloads that stand beside them, such as Deployments: labels, ports and accounts that no pod has; and of trust domains that are spelt otherwise than those beside them.
//
// It guarantees that it says nothing where other objects may have what is meant; it reads no cluster, and a folder without workloads has no warning but of trust domains.
package podlint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/podtemplate"
	"github.com/meshproof/meshproof/internal/spelling"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
)

// Warn holds the policies against the workloads of the folder, such as Deployments, where no inbound is described. It warns of a policy that selects no pods of its namespace,
// asks for a port that its pods do not have, names a caller that no workload is, is in a namespace that nothing else is in, or selects only pods without a proxy. It warns of a misspelt trust domain in each folder. A policy
// of all namespaces may be about workloads of other folders, and one of a namespace in which other objects may make pods is about those.
func Warn(f *lab.Files, s lab.Surroundings) []policy.Warning {
	templates := podtemplate.Templates(f.Others)
	set, err := f.PolicySet(s)
	if err != nil {
		return nil // it is told where the policies are read
	}
	peers := podtemplate.PeerNamespaces(f.Policies)
	out := domainWarnings(peers, s)
	targeter, ok := set.Policies.(capability.Targeter)
	if !ok || len(templates) == 0 || len(set.Described) > 0 {
		return out
	}
	var unknown []string
	for _, doc := range f.Others {
		namespaces, everywhere := podtemplate.MakesPods(doc)
		if everywhere {
			return out
		}
		unknown = append(unknown, namespaces...)
	}
	pods, targets := placedPods(templates), targeter.Targets()
	var order []string
	byPlace := map[string][]capability.Target{}
	for _, t := range targets {
		if byPlace[t.Place] == nil {
			order = append(order, t.Place)
		}
		byPlace[t.Place] = append(byPlace[t.Place], t)
	}
	for _, place := range order {
		if reason := pods.missedBy(byPlace[place], s.Inbound, unknown); reason != "" {
			out = append(out, policy.Warning{Kind: warning.SelectsNothing, Place: place, Policy: byPlace[place][0].Policy, Message: fmt.Sprintf("the policy selects no pods of the workloads that the folder has in its namespace (%s)%s", reason, pods.elsewhere(byPlace[place], s.Inbound))})
		}
	}
	known := placedPods(slices.DeleteFunc(slices.Clone(templates), func(t podtemplate.Template) bool { return slices.Contains(unknown, t.Namespace) }))
	out = append(out, portWarnings(f, targets, known, s.Inbound)...)
	out = append(out, portNameWarnings(f, targets, known, s.Inbound)...)
	out = append(out, peerLabelWarnings(f, pods, unknown)...)
	out = append(out, bypassWarnings(f, targets, known, s.Inbound)...)
	out = append(out, namespaceWarnings(f, targets, pods, s.Inbound, unknown)...)
	out = append(out, peerNamespaceWarnings(f, s, peers, unknown)...)
	return append(out, accountWarnings(f, s, templates, unknown)...)
}

// missedBy names the workload whose pods lack least to be selected by one of the targets of a policy, and says why they are not selected. It returns "" where some
// pods are selected, or may be: other objects make pods in the unknown namespaces.
func (p podsByNamespace) missedBy(targets []capability.Target, like policy.Inbound, unknown []string) string {
	for _, t := range targets {
		// Most policies select some pods of their namespace.
		if slices.ContainsFunc(p.byNamespace[t.Fit(like).Workload.Namespace], func(template *podtemplate.Template) bool { return t.Selects(inboundLike(like, template)) }) {
			return ""
		}
	}
	nearest := ""
	var least lack
	for _, t := range targets {
		for _, template := range p.near(t, like) {
			reason, lacks := missOf(t, like, template)
			switch {
			case lacks.elsewhere:
				// It is of another namespace.
			case slices.Contains(unknown, template.Namespace), reason == "":
				return ""
			case nearest == "" || lacks.isLess(least):
				nearest, least = template.Object+": "+reason, lacks
			}
		}
	}
	return nearest
}

// elsewhere names a workload of another namespace whose pods have the labels that a policy asks for, "" where there is none: the policy may be meant for them.
func (p podsByNamespace) elsewhere(targets []capability.Target, like policy.Inbound) string {
	for _, t := range targets {
		own := t.Fit(like).Workload.Namespace
		for _, namespace := range p.namespaces {
			for _, template := range p.byNamespace[namespace] {
				if namespace != "" && namespace != own && wouldSelect(t, like, template, own) {
					return fmt.Sprintf(": in the namespace %s it would select %s", namespace, template.Object)
				}
			}
		}
	}
	return ""
}

// podsByNamespace are the pods of workloads, by the namespaces that these state; "" for none.
type podsByNamespace struct {
	// namespaces are in the order of the workloads.
	namespaces  []string
	byNamespace map[string][]*podtemplate.Template
}

func placedPods(all []podtemplate.Template) podsByNamespace {
	out := podsByNamespace{byNamespace: map[string][]*podtemplate.Template{}}
	for i, t := range all {
		namespace := t.Namespace
		if !t.Placed {
			namespace = ""
		}
		if out.byNamespace[namespace] == nil {
			out.namespaces = append(out.namespaces, namespace)
		}
		out.byNamespace[namespace] = append(out.byNamespace[namespace], &all[i])
	}
	return out
}

// near returns the pods in the namespaces that a target is about, and those that state no namespace.
func (p podsByNamespace) near(t capability.Target, like policy.Inbound) (out []*podtemplate.Template) {
	for _, namespace := range p.namespaces {
		in := like
		in.Workload.Namespace = namespace
		if namespace == "" || t.Fit(in).Workload.Namespace == namespace {
			out = append(out, p.byNamespace[namespace]...)
		}
	}
	return out
}

// isOfNamespace reports whether a target is about workloads, and about those of some namespaces alone.
func isOfNamespace(t capability.Target, like policy.Inbound) bool {
	like.Workload.Namespace += "-elsewhere"
	return t.Elsewhere == "" && t.Fit(like).Workload.Namespace != like.Workload.Namespace
}

// inboundLike returns an inbound of pods that is like another one.
func inboundLike(like policy.Inbound, of *podtemplate.Template) policy.Inbound {
	w := &like.Workload
	w.Name, w.Namespace, w.Labels, w.ServiceAccount = of.Name, of.Namespace, of.Labels, of.Account
	return like
}

// lack is what the pods of a workload lack to be selected.
type lack struct {
	// elsewhere is set where they are of another namespace.
	elsewhere bool
	// labels counts the labels that they lack, and edits how far the values are that they have instead.
	labels, edits int
}

// isLess reports whether pods lack less than others: of two with as many labels, those whose values are spelt more alike.
func (l lack) isLess(than lack) bool {
	return cmp.Or(cmp.Compare(l.labels, than.labels), cmp.Compare(l.edits, than.edits)) < 0
}

// missOf says why a target does not select the pods of a workload, and what they lack; "" where it does, or where the files cannot
// tell: it is about all namespaces, or asks for a label that a control plane computes.
func missOf(t capability.Target, like policy.Inbound, template *podtemplate.Template) (reason string, lacks lack) {
	in := inboundLike(like, template)
	w := in.Workload
	if !isOfNamespace(t, in) {
		return "", lack{}
	}
	fit := t.Fit(in)
	if fit.Workload.Namespace != w.Namespace {
		fit.Workload.Labels = w.Labels
		if !template.Placed && t.Selects(fit) {
			return "", lack{} // whoever applies the workload may choose the namespace of the target
		}
		return "", lack{elsewhere: true}
	}
	for key, value := range fit.Workload.Labels {
		if own, has := w.Labels[key]; has && own == value {
			continue
		}
		if strings.Contains(key, "/") && !strings.HasPrefix(key, "app.kubernetes.io/") {
			return "", lack{}
		}
		lacks.labels++
		lacks.edits += spelling.Distance(w.Labels[key], value)
	}
	if !maps.Equal(fit.Tags, in.Tags) {
		return "", lack{}
	}
	fit.Workload.Labels = w.Labels
	return t.Miss(fit).String(), lacks
}
