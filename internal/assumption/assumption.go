// Package assumption knows the settings of meshes that decide with the policies who gets in, and that are not read: a default is
// taken for them.
//
// It guarantees that each place is named that may state another value; objects and texts that are not read count alike. A place is named
// where policies with which the setting decides have changed. The package does not read the settings, and what no document of the folder states is taken for the default.
package assumption

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/policy/manifest"
)

// assumption is a setting of a mesh that decides with the policies who gets in, and that is not read: its default is taken.
type assumption struct {
	// mesh ends the API groups of the policies with which the setting decides.
	mesh string
	// states returns the field where an object states another value than the default, "" where it does not. What options
	// state is read.
	states func(o clusterobject.Object, options Options) string
	// says reports whether a text that is not read, such as a template, may state such a value; nil where none does.
	says func(text string, options Options) bool
	// subjects has what of a policy the setting decides with: where it is as before, the setting is no matter.
	subjects func(o clusterobject.Object) []string
	// say is what to do.
	say string
	// isLocal is true where an object decides in its own namespace alone.
	isLocal bool
}

var assumptions = []assumption{
	{mesh: "istio.io", states: statesMeshConfig, says: func(text string, options Options) bool { return setsIn(text, ofIstio(options)) }, subjects: wholeOf, say: "state it by --istio"},
	{mesh: "cilium.io", states: statesEnforcement, says: setting(ofCilium), subjects: wholeOf, say: "the default is taken: review the change by hand"},
	{mesh: "cilium.io", states: closesEndpoints, says: closesIn, subjects: endpointsOf, say: sayOpen, isLocal: true},
	{mesh: "cilium.io", states: closesCalls, says: closesIn, subjects: callingOf, say: sayOpen, isLocal: true},
	{mesh: "cilium.io", states: func(o clusterobject.Object, _ Options) string { return setsDefault(o, closing) }, says: setting(closing), subjects: bothWaysOf, say: sayOpen},
	{mesh: "linkerd.io", states: statesLinkerd, says: setting(ofLinkerd), subjects: wholeOf, say: "the defaults of an installation are taken: review the change by hand"},
	{mesh: "kuma.io", states: movesKuma, subjects: wholeOf, say: "state the namespace by --system-namespace"},
	{mesh: "linkerd.io", states: statesDefaultInbound, says: setting(inbound), subjects: portsOfServer, say: "all-unauthenticated is taken where no Server is: review by hand which ports have a Server now"},
	{mesh: "istio.io", states: carrying("security.istio.io"), says: carryingIn("security.istio.io"), subjects: wholeOf, say: sayCarried},
	{mesh: "cilium.io", states: carrying("cilium.io"), says: carryingIn("cilium.io"), subjects: bothWaysOf, say: sayCarried},
	{mesh: "linkerd.io", states: carrying("policy.linkerd.io"), says: carryingIn("policy.linkerd.io"), subjects: wholeOf, say: sayCarried},
	{mesh: "kuma.io", states: carrying("kuma.io"), says: carryingIn("kuma.io"), subjects: wholeOf, say: sayCarried},
}

const (
	sayOpen    = "an endpoint that no policy of Cilium selects is taken for open: review by hand which ones are selected now"
	sayCarried = "a policy stands in it: write out what is applied"
)

// wholeOf has all that a policy says.
func wholeOf(o clusterobject.Object) []string { return []string{o.Doc.Flow()} }

// Options are what an author states of meshes, one document for each side, with the keys of a case file.
type Options []manifest.Document

// state reports whether all sides state a setting.
func (all Options) state(key string) bool {
	return !slices.ContainsFunc(all, func(one manifest.Document) bool { _, has := one.Lookup(key); return !has })
}

// Text is a file that is not read.
type Text struct{ Name, Content string }

// Contradiction is a place that may state another value than the one taken.
type Contradiction struct {
	// Place is "file:line: field", or the name of a file that is not read.
	Place string
	// Object is the kind, the namespace and the name.
	Object string
	// Advice is what to do.
	Advice string
}

// Find returns the places in objects and in texts that may state another value than the one taken for a setting that decides with policies, where these
// policies differ between two lists. What options state is read, and contradicts nothing.
func Find(before, after clusterobject.List, objects []clusterobject.Object, texts []Text, stated Options) (out []Contradiction) {
	add := func(place, object string, of assumption) {
		// Two assumptions may be about one field.
		if one := (Contradiction{place, object, of.say}); !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	for _, of := range assumptions {
		touched := of.touched(before, after)
		if len(touched) == 0 {
			continue
		}
		for _, o := range objects {
			if in := decidesIn(o); of.isLocal && in != "" && !touched[in] && !touched[""] {
				continue
			}
			if field := of.states(o, stated); field != "" {
				add(o.Doc.Place(field), o.String(), of)
			}
		}
		for _, text := range texts {
			if of.says != nil && of.says(withoutComments(text.Content), stated) {
				add(text.Name, "a file of which a tool may make manifests", of)
			}
		}
	}
	return out
}

// touched returns the namespaces in which something has changed of what the setting decides with, "" where it may be any.
func (a assumption) touched(before, after clusterobject.List) map[string]bool {
	texts := func(all clusterobject.List) map[string]string {
		out := map[string]string{}
		for _, o := range all.All {
			if strings.HasSuffix(o.Group, a.mesh) {
				for _, text := range a.subjects(o) {
					out[text] = o.Written()
				}
			}
		}
		return out
	}
	olds, recents, out := texts(before), texts(after), map[string]bool{}
	add := func(all, others map[string]string) {
		for text, namespace := range all {
			if _, both := others[text]; !both {
				out[namespace] = true
			}
		}
	}
	add(recents, olds)
	add(olds, recents)
	return out
}
