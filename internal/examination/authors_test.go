package examination_test

import (
	"cmp"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// each visits the mappings of a value with the keys under which they stand.
func each(key string, v any, visit func(key string, of object)) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			each(key, item, visit)
		}
	case object:
		visit(key, v)
		for inner, value := range v {
			each(inner, value, visit)
		}
	}
}

// drops leaves fields out wherever they stand.
func drops(fields ...string) mistaken {
	return mistaken{reads: func(p object) {
		each("", p["spec"], func(_ string, of object) {
			for _, field := range fields {
				delete(of, field)
			}
		})
	}}
}

// firstOf reads the first item of lists alone.
func firstOf(fields ...string) mistaken {
	return mistaken{reads: func(p object) {
		each("", p["spec"], func(_ string, of object) {
			for _, field := range fields {
				if items, ok := of[field].([]any); ok && len(items) > 1 {
					of[field] = items[:1]
				}
			}
		})
	}}
}

// lastOf reads the last item of lists alone, as a program does that writes each over the one before.
func lastOf(fields ...string) mistaken {
	return mistaken{reads: func(p object) {
		each("", p["spec"], func(_ string, of object) {
			for _, field := range fields {
				if items, ok := of[field].([]any); ok && len(items) > 1 {
					of[field] = items[len(items)-1:]
				}
			}
		})
	}}
}

// firstKeyOf reads one entry of a mapping alone, the first in the order of letters.
func firstKeyOf(fields ...string) mistaken {
	return mistaken{reads: func(p object) {
		each("", p["spec"], func(_ string, of object) {
			for _, field := range fields {
				entries, _ := of[field].(object)
				for len(entries) > 1 {
					last := ""
					for key := range entries {
						last = max(last, key)
					}
					delete(entries, last)
				}
			}
		})
	}}
}

// emptyIsAbsent leaves a field out whose list is empty.
func emptyIsAbsent(fields ...string) mistaken {
	return mistaken{reads: func(p object) {
		each("", p["spec"], func(_ string, of object) {
			for _, field := range fields {
				if items, ok := of[field].([]any); ok && len(items) == 0 {
					delete(of, field)
				}
			}
		})
	}}
}

// absentIsEmpty takes a field that is not there for an empty list, in the items of a list.
func absentIsEmpty(list, field string) mistaken {
	return mistaken{reads: func(p object) {
		each("", p["spec"], func(key string, of object) {
			if _, has := of[field]; key == list && !has {
				of[field] = []any{}
			}
		})
	}}
}

// renames takes one field for another.
func renames(from, to string) mistaken {
	return mistaken{reads: func(p object) {
		each("", p["spec"], func(_ string, of object) {
			if v, ok := of[from]; ok && of[to] == nil {
				of[to] = v
				delete(of, from)
			}
		})
	}}
}

// sets writes a value over a field that is there.
func sets(field string, value any) mistaken {
	return mistaken{reads: func(p object) {
		each("", p["spec"], func(_ string, of object) {
			if _, ok := of[field]; ok {
				of[field] = value
			}
		})
	}}
}

// texts changes the texts of a field, or of its list.
func texts(change func(string) string, fields ...string) mistaken {
	return mistaken{reads: func(p object) {
		each("", p["spec"], func(_ string, of object) {
			for _, field := range fields {
				switch v := of[field].(type) {
				case string:
					of[field] = change(v)
				case []any:
					for i := range v {
						if text, ok := v[i].(string); ok {
							v[i] = change(text)
						}
					}
				}
			}
		})
	}}
}

// split makes a rule of each of two parts that one rule asks for together.
func split(list, one, other string) mistaken {
	return mistaken{reads: func(p object) {
		each("", p["spec"], func(_ string, of object) {
			items, _ := of[list].([]any)
			var out []any
			for _, item := range items {
				rule, _ := item.(object)
				if rule[one] == nil || rule[other] == nil {
					out = append(out, item)
					continue
				}
				first, second := object{}, object{}
				for key, v := range rule {
					if key != other {
						first[key] = v
					}
					if key != one {
						second[key] = v
					}
				}
				out = append(out, first, second)
			}
			if out != nil {
				of[list] = out
			}
		})
	}}
}

// compares changes the comparisons of a kind.
func compares(kind policy.MatchKind, change func(is policy.Is) policy.Condition) mistaken {
	return mistaken{compares: func(is policy.Is) policy.Condition {
		if is.Match.Kind != kind {
			return is
		}
		return change(is)
	}}
}

// comparesAs compares in another way with the same value.
func comparesAs(from, to policy.MatchKind) mistaken {
	return compares(from, func(is policy.Is) policy.Condition {
		for _, kind := range is.Attribute.Kinds {
			if kind == to {
				is.Match.Kind = to
			}
		}
		return is
	})
}

// metadataOf changes the metadata of policies, or the policy itself where it is none of Kubernetes.
func metadataOf(change func(metadata object)) mistaken {
	return mistaken{reads: func(p object) {
		if metadata, ok := p["metadata"].(object); ok {
			change(metadata)
		} else {
			change(p)
		}
	}}
}

// deletes leaves fields of the metadata out.
func deletes(fields ...string) mistaken {
	return metadataOf(func(metadata object) {
		for _, field := range fields {
			delete(metadata, field)
		}
	})
}

// mapped writes addresses of IPv4 as those of IPv6 that hold them.
func mapped(is policy.Is) policy.Condition {
	block, err := netip.ParsePrefix(is.Match.Value)
	if err != nil || !block.Addr().Is4() {
		return is
	}
	is.Match.Value = "::ffff:" + block.Addr().String() + "/" + strconv.Itoa(96+block.Bits())
	return is
}

// withoutMask takes a block for its first address.
func withoutMask(text string) string {
	address, _, _ := strings.Cut(text, "/")
	return address
}

// hostBits takes the mask of a block for one of the host.
func hostBits(is policy.Is) policy.Condition {
	block, err := netip.ParsePrefix(is.Match.Value)
	if err != nil || !block.Addr().Is4() {
		return is
	}
	is.Match.Value = netip.PrefixFrom(block.Addr(), 32-block.Bits()).Masked().String()
	return is
}

// onPort has comparisons of the port ask for another one, as a Service has it.
func onPort(is policy.Is) policy.Condition {
	if port, err := strconv.Atoi(is.Match.Value); err == nil && is.Attribute == attribute.DestinationPort {
		is.Match.Value = strconv.Itoa(port%65_535 + 1)
	}
	return is
}

// inAnyCase compares without the case of letters.
func inAnyCase(of ...*policy.Attribute) mistaken {
	return mistaken{compares: func(is policy.Is) policy.Condition {
		for _, a := range of {
			if is.Attribute == a && (is.Match.Kind == policy.Exact || is.Match.Kind == policy.Prefix || is.Match.Kind == policy.Suffix) && is.Match.Value != "" {
				is.Match.AnyCase = true
			}
		}
		return is
	}}
}

// otherInbound selects policies as for an inbound at another port, without a name.
func otherInbound(in *policy.Inbound) { in.Name, in.Port = "", in.Port%65_535+1 }

// allowsFirst tries the rules that allow in front of those that deny.
func allowsFirst(p *policy.Program) {
	for _, gate := range p.Gates {
		slices.SortStableFunc(gate.Rules, func(a, b policy.Rule) int { return cmp.Compare(b.Effect, a.Effect) })
	}
}

// allowsOutweigh lets pass what some rule allows, whatever another one denies.
func allowsOutweigh(p *policy.Program) {
	var allowed policy.Or
	for _, gate := range p.Gates {
		for _, rule := range gate.Rules {
			if rule.Effect == policy.Allow && rule.When != nil {
				allowed = append(allowed, rule.When)
			}
		}
	}
	for _, gate := range p.Gates {
		for i, rule := range gate.Rules {
			if rule.Effect == policy.Deny && rule.When != nil && len(allowed) > 0 {
				gate.Rules[i].When = policy.And{rule.When, policy.Not{Condition: allowed}}
			}
		}
	}
}

// denialsAlone leaves out that a list of rules that allow closes.
func denialsAlone(p *policy.Program) {
	p.Gates = slices.DeleteFunc(p.Gates, func(g policy.Gate) bool {
		return !slices.ContainsFunc(g.Rules, func(r policy.Rule) bool { return r.Effect == policy.Deny })
	})
}

// firstPolicy reads the first policy alone.
func firstPolicy(c *cases.Case) { c.Policies = c.Policies[:min(1, len(c.Policies))] }

// lastPolicy reads the last policy alone, as a program does that writes each over the one before.
func lastPolicy(c *cases.Case) { c.Policies = c.Policies[max(0, len(c.Policies)-1):] }

// withoutOptions takes the defaults of a dialect.
func withoutOptions(key string) func(c *cases.Case) {
	return func(c *cases.Case) { c.Options.Document = c.Options.Document.WithoutKey(key) }
}

// withoutLabel does not compare a label of a selector.
func withoutLabel(part string) mistaken {
	return mistaken{reads: func(p object) {
		each("", p["spec"], func(_ string, of object) {
			for key := range of {
				if strings.Contains(key, part) {
					delete(of, key)
				}
			}
		})
	}}
}

// inMiddle takes a star in the middle of a value for any text.
func inMiddle(is policy.Is) policy.Condition {
	if !strings.Contains(is.Match.Value, "*") {
		return is
	}
	is.Match = policy.Match{Kind: policy.Regex, Value: strings.ReplaceAll(regexp.QuoteMeta(is.Match.Value), `\*`, ".*")}
	return is
}

// unescaped takes escaped characters of a value for those that they stand for.
func unescaped(is policy.Is) policy.Condition {
	if text, err := url.PathUnescape(is.Match.Value); err == nil {
		is.Match.Value = text
	}
	return is
}
