package cluster

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// kind is a kind of policies of one dialect.
type kind struct {
	owner language.Dialect
	// lister shows the objects where the dialect says what they are, else nil.
	lister capability.Lister
	// router shows a route, a timeout or a service, and is nil for policies.
	router capability.RoutingLister
	// name is the kind as a document writes it, and groups are its API groups, "" for a form without one.
	name   string
	groups []string
	// nouns are the names that a user may write, in lower case, that of one object first.
	nouns []string
}

// kindsOf returns the kinds of all dialects, each once, in the order of the list of dialects.
func kindsOf() []kind {
	var out []kind
	for _, d := range dialects.Having[language.Dialect]() {
		var own []kind
		lister, _ := d.(capability.Lister)
		heads := d.Kinds()
		if sharer, ok := d.(capability.Sharer); ok {
			heads = slices.Concat(heads, sharer.SharedKinds())
		}
		for _, head := range heads {
			k := newKind(d, head)
			// A lister shows all its kinds as one.
			shown := func(known kind) bool { return known.name == k.name || lister != nil && known.lister != nil }
			if lister != nil && slices.Contains(lister.Nouns(), k.nouns[0]) {
				k.lister, k.nouns = lister, lister.Nouns()
			}
			own = appendKind(own, k, shown)
		}
		out = append(out, own...)
		if router, ok := d.(capability.RoutingLister); ok {
			out = append(out, routingKinds(d, router)...)
		}
	}
	return out
}

// routingKinds returns the kinds of routes, timeouts and services of a dialect.
func routingKinds(d language.Dialect, router capability.RoutingLister) (out []kind) {
	for _, head := range router.RoutingKinds() {
		k := newKind(d, head)
		k.router = router
		out = appendKind(out, k, func(known kind) bool { return known.name == k.name })
	}
	return out
}

func newKind(d language.Dialect, head manifest.Head) kind {
	name := cmp.Or(head.Type, head.Kind)
	group, _, _ := strings.Cut(head.APIVersion, "/")
	return kind{owner: d, name: name, groups: []string{group}, nouns: nounsOf(d, name)}
}

// appendKind appends a kind, or gives its API group to one that is known and the same.
func appendKind(kinds []kind, k kind, same func(known kind) bool) []kind {
	if i := slices.IndexFunc(kinds, same); i >= 0 {
		kinds[i].groups = append(kinds[i].groups, k.groups...)
		return kinds
	}
	return append(kinds, k)
}

// nounsOf returns the names of a kind: that of one object, that of several, and the short ones.
func nounsOf(d language.Dialect, name string) []string {
	one := strings.ToLower(name)
	many := one + "s"
	if rest, ok := strings.CutSuffix(one, "y"); ok {
		many = rest + "ies"
	}
	out := []string{one, many}
	if short, ok := d.(capability.Abbreviator); ok {
		out = append(out, short.Abbreviations()[name]...)
	}
	return out
}

// Names returns the names of the kinds, each once. Kinds of several dialects may have one name.
func Names() []string {
	var out []string
	for _, k := range kindsOf() {
		if !slices.Contains(out, k.nouns[0]) {
			out = append(out, k.nouns[0])
		}
	}
	return out
}

// IsNoun reports whether a user may write a name: a noun, or a noun with an API group behind it, such as
// authorizationpolicies.security.istio.io.
func IsNoun(text string) bool { return len(meantBy(text)) > 0 }

// meantBy returns the kinds that a user means by a noun.
func meantBy(text string) []kind {
	noun, group, grouped := strings.Cut(strings.ToLower(text), ".")
	return slices.DeleteFunc(kindsOf(), func(k kind) bool {
		return !slices.Contains(k.nouns, noun) || grouped && !slices.Contains(k.groups, group)
	})
}

// owns reports whether a document is of the kind, in any version.
func (k kind) owns(doc manifest.Document) bool {
	head := doc.Type()
	if k.router != nil {
		return k.router.OwnsRouting(doc) && cmp.Or(head.Type, head.Kind) == k.name
	}
	return k.owner.Owns(doc) && (k.lister != nil || cmp.Or(head.Type, head.Kind) == k.name)
}

// objects returns the policies of the kind, valid or not. Without a lister they are shown as they were written.
func (k kind) objects(c cluster) ([]capability.Object, error) {
	if k.lister != nil {
		return k.lister.Objects(c.policies, c.pods)
	}
	var out []capability.Object
	var errs []error
	if k.router != nil {
		for _, doc := range c.routing {
			if k.owns(doc) {
				o, err := k.router.RoutingObject(doc)
				out, errs = append(out, o), append(errs, err)
			}
		}
		return out, errors.Join(errs...)
	}
	for _, doc := range c.policies {
		if !k.owns(doc) {
			continue
		}
		var written struct {
			Metadata struct{ Name, Namespace string }
		}
		var whole map[string]any
		err := doc.Decode(&whole)
		raw, unwritable := json.Marshal(whole)
		if err := errors.Join(err, unwritable); err != nil {
			errs = append(errs, doc.Errorf("", "a control plane cannot hold it: %v", err))
			continue
		}
		// What is of a wrong type is told by the dialect below.
		_ = json.Unmarshal(raw, &written)
		o := capability.Object{Kind: k.name, APIVersion: doc.Type().APIVersion, Namespace: written.Metadata.Namespace, Name: written.Metadata.Name, JSON: raw}
		if _, err := k.owner.Parse([]manifest.Document{doc}, c.options); err != nil {
			o.Invalid, o.Reason = err, "Invalid"
		}
		out = append(out, o)
	}
	return out, errors.Join(errs...)
}
