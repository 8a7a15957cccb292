package permission

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/meshproof/meshproof/policy"
)

// Conversion is a set of policies, rewritten for another option.
type Conversion struct {
	// YAML has one document for each policy, in order, without comments.
	YAML []byte
	// Notes say what differs by design once the other option is chosen, one line
	// each.
	Notes []string
}

// Convert rewrites policies for an option. Everything but the rules is kept, and
// each matcher is kept as it is written; lists without a matcher, which have no
// effect, are dropped. Whom a request is let in by, and whom it is refused by, may
// change; whether it is let in does not, on any inbound.
//
// What the option cannot say is an error with its place: the legacy form in any of
// them, and in Options 1 and 2 an allow without conditions, for no matcher meets
// every caller. All errors are joined, one line each.
func Convert(ps []Policy, to Option) (Conversion, error) {
	var out bytes.Buffer
	var errs []error
	seen := features{}
	for i := range ps {
		spec, err := ps[i].convert(to)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		seen.add(&ps[i])
		out.WriteString("---\n")
		ps[i].print(&out, spec)
	}
	if err := errors.Join(errs...); err != nil {
		return Conversion{}, err
	}
	return Conversion{YAML: bytes.TrimPrefix(out.Bytes(), []byte("---\n")), Notes: seen.notes(to)}, nil
}

// convert returns the policy's rules as they are written for the option.
func (p *Policy) convert(to Option) (block, error) {
	if p.isFrom() {
		return nil, p.doc.Errorf("spec.from", "%s cannot say it: the legacy form names services and tags instead of SPIFFE IDs", to)
	}
	merged := mergeLists([]Policy{*p})
	if to == Option3 {
		return p.toConditions(merged), nil
	}
	return p.toLists(merged, to)
}

// toConditions writes an item for each list.
func (p *Policy) toConditions(lists *[3][]matcher) block {
	var rules block
	for l, matchers := range lists {
		if len(matchers) == 0 {
			continue
		}
		var item block
		// One matcher that meets everybody makes the others superfluous, and cannot
		// stand beside them.
		if !meetsEverybody(matchers) {
			item.key("conditions", p.written(matchers))
		}
		item.key("default", block{"action: " + actions[l].String()})
		rules.item(item)
	}
	return under("rules", rules)
}

// under is a mapping of one entry, or an empty one where there is nothing to say.
func under(key string, value block) block {
	var out block
	if len(value) > 0 {
		out.key(key, value)
	}
	return out
}

func meetsEverybody(matchers []matcher) bool {
	for _, m := range matchers {
		if m.when == policy.Always {
			return true
		}
	}
	return false
}

// toLists writes a single item, in the short spelling.
func (p *Policy) toLists(lists *[3][]matcher, to Option) (block, error) {
	var conf block
	for l, matchers := range lists {
		switch {
		case len(matchers) == 0:
			continue
		case !meetsEverybody(matchers):
			conf.key(listNames[l], p.written(matchers))
		case list(l) == deny:
			// Where a path cannot be seen, a deny that asks for one denies everybody too.
			conf.key(listNames[l], block{"- path:", "    type: Prefix", "    value: /"})
		default:
			for _, m := range matchers {
				if m.when == policy.Always {
					return nil, p.doc.Errorf(m.field, "%s cannot say it: no matcher meets every caller; add conditions, such as a Prefix for each trust domain", to)
				}
			}
		}
	}
	return under("default", conf), nil
}

// written returns the matchers as they stand in the policy.
func (p *Policy) written(matchers []matcher) block {
	var out block
	for _, m := range matchers {
		if doc, ok := p.doc.At(m.field); ok {
			out.item(blockOf(doc))
		}
	}
	return out
}

// print writes the policy with other rules.
func (p *Policy) print(out *bytes.Buffer, rules block) {
	scalars, mappings := []string{"apiVersion", "kind"}, []string{"metadata"}
	if p.universal {
		scalars, mappings = []string{"type", "mesh", "name"}, []string{"labels"}
	}
	var all, spec block
	for _, key := range scalars {
		if doc, ok := p.doc.At(key); ok {
			all.scalar(key, blockOf(doc)[0])
		}
	}
	for _, key := range mappings {
		if doc, ok := p.doc.At(key); ok {
			all.key(key, blockOf(doc))
		}
	}
	if target, ok := p.doc.At("spec.targetRef"); ok {
		spec.key("targetRef", blockOf(target))
	}
	all.key("spec", append(spec, rules...))
	for _, line := range all {
		fmt.Fprintln(out, line)
	}
}
