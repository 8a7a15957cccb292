package lab

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/manifestdiff"
	"github.com/meshproof/meshproof/internal/spelling"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
)

// PodWarnings warns of each policy of a namespace that selects no pods of the workloads which the folder has there, such as Deployments, where
// no inbound is described, and of one that asks for the port of a Service in the place of theirs. A policy of all namespaces may be about
// workloads of other folders, and one of a namespace in which other objects may make pods is about those.
func (f *Files) PodWarnings(s Surroundings) []policy.Warning {
	templates := manifestdiff.Templates(f.Others)
	set, err := f.PolicySet(s)
	targeter, ok := set.Policies.(capability.Targeter)
	if err != nil || !ok || len(templates) == 0 || len(set.Described) > 0 {
		return nil // an error is told where the policies are read
	}
	var unknown []string
	for _, doc := range f.Others {
		namespaces, everywhere := manifestdiff.MakesPods(doc)
		if everywhere {
			return nil
		}
		unknown = append(unknown, namespaces...)
	}
	type subject struct {
		capability.Target
		selects bool
		// reason and object are those of the nearest template, and what it lacks.
		reason, object string
		lacks          lack
	}
	var order []*subject
	byPlace := map[string]*subject{}
	for _, t := range targeter.Targets() {
		of := byPlace[t.Place]
		if of == nil {
			of = &subject{Target: t}
			byPlace[t.Place], order = of, append(order, of)
		}
		for _, template := range templates {
			reason, lacks := missOf(t, s.Inbound, template)
			switch {
			case lacks.elsewhere:
				// It is of another namespace.
			case slices.Contains(unknown, template.Namespace):
				of.selects = true
			case reason == "":
				of.selects = true
			case of.reason == "" || lacks.isLess(of.lacks):
				of.reason, of.object, of.lacks = reason, template.Object, lacks
			}
		}
	}
	var out []policy.Warning
	for _, of := range order {
		if !of.selects && of.reason != "" {
			out = append(out, policy.Warning{Kind: warning.SelectsNothing, Place: of.Place, Policy: of.Policy, Message: fmt.Sprintf("the policy selects no pods of the workloads that the folder has in its namespace (%s: %s)", of.object, of.reason)})
		}
	}
	known := slices.DeleteFunc(templates, func(t manifestdiff.Template) bool { return slices.Contains(unknown, t.Namespace) })
	return append(out, f.portWarnings(targeter.Targets(), known, s.Inbound)...)
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
func missOf(t capability.Target, like policy.Inbound, template manifestdiff.Template) (reason string, lacks lack) {
	in := like
	w := &in.Workload
	w.Name, w.Namespace, w.Labels, w.ServiceAccount = template.Name, template.Namespace, template.Labels, template.Account
	elsewhere := in
	elsewhere.Workload.Namespace += "-elsewhere"
	fit := t.Fit(in)
	switch {
	case t.Elsewhere != "", t.Fit(elsewhere).Workload.Namespace == elsewhere.Workload.Namespace:
		return "", lack{}
	case fit.Workload.Namespace != w.Namespace:
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
