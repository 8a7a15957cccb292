package permission

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/legacy"
	"github.com/meshproof/meshproof/policy/manifest"
)

// draft is a part of policies that the design has, and no release of Kuma up to 2.14.
type draft struct {
	// what names the part, and becomes says what a release makes of it.
	what, becomes string
	// releases are those without the part, empty for all up to 2.14.
	releases string
	// family names the parts that come together: who has one of them has a control plane that knows the others.
	family string
	// find returns the places of the part in a policy.
	find func(p *Policy) []string
	// drop returns what a release makes of a policy with the part, and whether it takes the policy at all. Where no rule is
	// left, it returns no document.
	drop func(p *Policy, doc manifest.Document) (left []manifest.Document, taken bool)
}

// drafts are all such parts.
var drafts = slices.Concat(draftsOfMatchers, draftsOfDefault, draftsOfFrom)

const lostField = "the field is lost, so that the rest of the matcher lets in, or refuses, more"

// draftsOfMatchers are fields and values of a matcher.
var draftsOfMatchers = []draft{
	{what: "path", becomes: lostField, family: "a matcher", find: inMatchers("path"), drop: withoutInMatchers("path")},
	{what: "method", becomes: lostField, family: "a matcher", find: inMatchers("method"), drop: withoutInMatchers("method")},
	{what: "spiffeId", becomes: "the field is lost: write spiffeID, which is the same here", family: "a matcher",
		find: inMatchers("spiffeId"), drop: withoutInMatchers("spiffeId")},
	{what: "a prefix that ends in a slash", becomes: "it is refused: name each identity with Exact", family: "a matcher",
		find: endingInSlash, drop: refused},
}

// draftsOfDefault are the forms of a policy without rules, and its target.
var draftsOfDefault = []draft{
	{what: "default without rules", becomes: "the field is lost, and the policy has no rule: write rules: [{default: …}]", family: "default",
		find: inDocument("spec.default"), drop: withoutRules},
	{what: "conditions", becomes: "the field is lost: only lists in a default are read", family: "conditions",
		find: conditions, drop: withoutRules},
	{what: "an empty targetRef", becomes: "it is refused: leave it out", family: "targetRef",
		find: emptyTarget, drop: refused},
}

// draftsOfFrom are parts of the legacy form.
var draftsOfFrom = []draft{
	{what: "an action in capitals", becomes: "it is refused: write Allow, Deny or AllowWithShadowDeny", releases: ofLegacy, family: "from",
		find: inItems(".default.action", func(action string) bool { return action == strings.ToUpper(action) }), drop: refused},
	{what: "DenyWithShadowAllow", becomes: "it is refused: write Deny", releases: ofLegacy, family: "from",
		find: inItems(".default.action", func(action string) bool { return action == legacy.DenyWithShadowAllow.String() }), drop: refused},
	{what: "the mesh of a client", becomes: "it is refused: leave it out", releases: ofLegacy, family: "from",
		find: inItems(".targetRef.mesh", func(mesh string) bool { return mesh != "" }), drop: refused},
	{what: "a route in the targetRef of the policy", becomes: "it is refused", releases: ofLegacy, family: "from",
		find: ofRoute, drop: refused},
}

// ofLegacy are the releases that have the legacy form as it is now: 2.0 has actions in capitals.
const ofLegacy = "from 2.3 to 2.14"

// Drafts returns a text for each kind of part that the design has and no release of Kuma up to 2.14, with its first
// place and what such a release makes of it.
func Drafts(ps []Policy) (out []string) {
	for _, d := range drafts {
		var places []string
		for i := range ps {
			places = append(places, d.find(&ps[i])...)
		}
		if len(places) == 0 {
			continue
		}
		at := places[0]
		if more := len(places) - 1; more > 0 {
			at += fmt.Sprintf(" and %d more", more)
		}
		out = append(out, at+": "+d.text())
	}
	return out
}

func (d draft) text() string {
	return fmt.Sprintf("no release of Kuma %s has %s: %s", cmp.Or(d.releases, "up to 2.14"), d.what, d.becomes)
}

// matchers returns the places of the matchers, as paths in the document.
func (p *Policy) matchers() (out []Matcher) {
	for _, r := range p.Rules {
		out = slices.Concat(append([][]Matcher{out}, r.Lists[:]...)...)
	}
	return out
}

func inMatchers(key string) func(p *Policy) []string {
	return func(p *Policy) (out []string) {
		for _, m := range p.matchers() {
			out = append(out, inDocument(m.Field+"."+key)(p)...)
		}
		return out
	}
}

func inDocument(field string) func(p *Policy) []string {
	return func(p *Policy) []string {
		if _, ok := p.Doc.Lookup(field); !ok {
			return nil
		}
		return []string{p.Doc.Place(field)}
	}
}

// endingInSlash returns the places of the prefixes that end in a slash.
func endingInSlash(p *Policy) (out []string) {
	for _, m := range p.matchers() {
		if id := m.Identity; id != nil && id.Kind == policy.Prefix && id.Value[len(id.Value)-1] == '/' {
			out = append(out, p.Doc.Place(m.Field))
		}
	}
	return out
}

func conditions(p *Policy) (out []string) {
	for _, r := range p.Rules {
		if r.Form == FormConditions {
			out = append(out, p.Doc.Place(r.Field))
		}
	}
	return out
}

func emptyTarget(p *Policy) []string {
	var fields map[string]manifest.Document
	ref, ok := p.Doc.Lookup("spec.targetRef")
	if !ok || ref.Decode(&fields) != nil || len(fields) > 0 {
		return nil
	}
	return []string{p.Doc.Place("spec.targetRef")}
}

// inItems returns the places of a field of the items of from, of which the text is one of those.
func inItems(field string, isOne func(text string) bool) func(p *Policy) []string {
	return func(p *Policy) (out []string) {
		for i := range p.From {
			at := fmt.Sprintf("spec.from[%d]%s", i, field)
			var text string
			if value, ok := p.Doc.Lookup(at); ok && value.Decode(&text) == nil && isOne(text) {
				out = append(out, p.Doc.Place(at))
			}
		}
		return out
	}
}

func ofRoute(p *Policy) []string {
	if p.Route() == "" {
		return nil
	}
	return []string{p.Doc.Place("spec.targetRef")}
}
