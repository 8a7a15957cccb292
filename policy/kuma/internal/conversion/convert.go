// Package conversion rewrites MeshTrafficPermissions for another of their three
// options.
//
// It guarantees that the rewritten policies let in and refuse the same requests on
// every inbound. The names in Envoy's evidence, and what the shadow says of a plain
// allow, differ by design; the notes of a conversion say so.
package conversion

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/lowering"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Convert rewrites policies for an option. Everything but the rules is kept, and each
// matcher is kept as it is written. Lists without a matcher have no effect and are
// dropped.
//
// It refuses what the option cannot say: the legacy form in any option, and in Options
// 1 and 2 an allow without conditions, for no matcher meets every caller. All errors
// are joined, one line each.
func Convert(ps []permission.Policy, to permission.Option) (capability.Conversion, error) {
	var out bytes.Buffer
	var errs []error
	seen := features{}
	for i := range ps {
		spec, err := convert(&ps[i], to)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		seen.add(&ps[i])
		out.WriteString("---\n")
		print(&ps[i], &out, spec)
	}
	if err := errors.Join(errs...); err != nil {
		return capability.Conversion{}, err
	}
	return capability.Conversion{YAML: bytes.TrimPrefix(out.Bytes(), []byte("---\n")), Notes: seen.notes(to)}, nil
}

// convert returns the rules of the policy in the form of the option.
func convert(p *permission.Policy, to permission.Option) (block, error) {
	if p.IsFrom() {
		return nil, p.Doc.Errorf("spec.from", "%s cannot say it: the legacy form names services and tags instead of SPIFFE IDs", to)
	}
	merged := lowering.MergeLists([]permission.Policy{*p})
	if to == permission.Option3 {
		return toConditions(p, merged), nil
	}
	return toLists(p, merged, to)
}

// toConditions writes an item for each list.
func toConditions(p *permission.Policy, lists *[3][]permission.Matcher) block {
	var rules block
	for l, matchers := range lists {
		if len(matchers) == 0 {
			continue
		}
		var item block
		// A matcher that meets every request takes the place of all others: no conditions.
		if !meetsEverybody(matchers) {
			item.key("conditions", written(p, matchers))
		}
		item.key("default", block{"action: " + permission.Actions[l].String()})
		rules.item(item)
	}
	return nest("rules", rules)
}

// nest returns a mapping with one entry, and an empty mapping for an empty value.
func nest(key string, value block) block {
	var out block
	if len(value) > 0 {
		out.key(key, value)
	}
	return out
}

func meetsEverybody(matchers []permission.Matcher) bool {
	for _, m := range matchers {
		if m.When == policy.Always {
			return true
		}
	}
	return false
}

// toLists writes a single item, in the short spelling.
func toLists(p *permission.Policy, lists *[3][]permission.Matcher, to permission.Option) (block, error) {
	var conf block
	for l, matchers := range lists {
		switch {
		case len(matchers) == 0:
			continue
		case !meetsEverybody(matchers):
			conf.key(permission.ListNames[l], written(p, matchers))
		case permission.List(l) == permission.Deny:
			// On tcp a deny of a path denies everybody too.
			conf.key(permission.ListNames[l], block{"- path:", "    type: Prefix", "    value: /"})
		default:
			for _, m := range matchers {
				if m.When == policy.Always {
					return nil, p.Doc.Errorf(m.Field, "%s cannot say it: no matcher meets every caller; add conditions, such as a Prefix for each trust domain", to)
				}
			}
		}
	}
	return nest("default", conf), nil
}

// written returns the matchers as they are written in the policy.
func written(p *permission.Policy, matchers []permission.Matcher) block {
	var out block
	for _, m := range matchers {
		if doc, ok := p.Doc.Lookup(m.Field); ok {
			out.item(blockOf(doc))
		}
	}
	return out
}

// print writes the policy with other rules.
func print(p *permission.Policy, out *bytes.Buffer, rules block) {
	scalars, mappings := []string{"apiVersion", "kind"}, []string{"metadata"}
	if p.Universal {
		scalars, mappings = []string{"type", "mesh", "name"}, []string{"labels"}
	}
	var all, spec block
	for _, key := range scalars {
		if doc, ok := p.Doc.Lookup(key); ok {
			all.scalar(key, blockOf(doc)[0])
		}
	}
	for _, key := range mappings {
		if doc, ok := p.Doc.Lookup(key); ok {
			all.key(key, blockOf(doc))
		}
	}
	if target, ok := p.Doc.Lookup("spec.targetRef"); ok {
		spec.key("targetRef", blockOf(target))
	}
	all.key("spec", append(spec, rules...))
	for _, line := range all {
		fmt.Fprintln(out, line)
	}
}

// features say which parts a set of policies has that the options treat differently.
type features struct {
	conditions, shadowed, everybody bool
	policies                        int
}

func (f *features) add(p *permission.Policy) {
	f.policies++
	for _, r := range p.Rules {
		f.conditions = f.conditions || r.Form == permission.FormConditions
		f.shadowed = f.shadowed || len(r.Lists[permission.AllowWithShadowDeny]) > 0
		f.everybody = f.everybody || meetsEverybody(r.Lists[permission.Deny])
	}
}

// notes says what differs by design in the option.
func (f *features) notes(to permission.Option) []string {
	if f.policies == 0 {
		return nil
	}
	out := []string{to.Attribution()}
	if f.shadowed && to == permission.Option3 {
		out = append(out, "the shadow allows what is plainly allowed; in the other options it does so with shadowForm precise only")
	}
	if f.shadowed && f.conditions && to != permission.Option3 {
		out = append(out, "the shadow denies what is plainly allowed, unless shadowForm is precise; in option3 it allows that")
	}
	if f.everybody && to != permission.Option3 {
		out = append(out, "a deny for every request is written as a deny of the path /, which every path is under")
	}
	return out
}

// block is a YAML mapping or list in block style, line by line.
type block []string

// blockOf returns a part of a document; no value in it takes several lines.
func blockOf(d manifest.Document) block {
	return strings.Split(strings.TrimSuffix(string(d.YAML()), "\n"), "\n")
}

// key adds an entry to a mapping, whose value is a mapping or a list.
func (b *block) key(key string, value block) {
	switch {
	case len(value) == 0:
		b.scalar(key, "{}")
	case len(value) == 1 && (value[0] == "{}" || value[0] == "null"):
		b.scalar(key, value[0])
	default:
		*b = append(*b, key+":")
		for _, line := range value {
			*b = append(*b, "  "+line)
		}
	}
}

// scalar adds an entry to a mapping, whose value takes one line.
func (b *block) scalar(key, value string) { *b = append(*b, key+": "+value) }

// item adds an item to a list.
func (b *block) item(value block) {
	lead := "- "
	for _, line := range value {
		*b = append(*b, lead+line)
		lead = "  "
	}
}
