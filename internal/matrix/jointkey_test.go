package matrix

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/feature"
)

// jointKeys are questions in which a compiler that makes one key of several texts takes two things for one.
var jointKeys = map[feature.Profile]map[string]is{
	"": {
		"two policies whose namespace and name are one text": joined(func(q question) (out [][2]string) {
			for _, p := range q.Policies {
				m := metadata(p)
				scope := m["namespace"]
				if scope == nil {
					scope = m["mesh"]
				}
				out = append(out, [2]string{fmt.Sprint(scope), fmt.Sprint(m["name"])})
			}
			return out
		}),
		"a workload of 22 labels":                       func(q question) bool { return len(ownWorkload(q).Labels) > 21 },
		"two policies that a dot and a dash tell apart": alikeNames(func(name string) string { return strings.ReplaceAll(name, ".", "-") }),
		"two policies that 63 characters take for one":  alikeNames(func(name string) string { return name[:min(len(name), 63)] }),
		"two items that one field tells apart":          inSpecs(func(_ question, _ string, v any) bool { return differInOneField(v) }),
	},
	feature.GEP3779: {
		"two accounts whose namespace and name are one text": joined(accountsOf(`"serviceAccount":{"name":"([^"]*)","namespace":"([^"]*)"`, true)),
		"a selector of four labels":                          labelsOfSelector(4),
		"the last one of four labels decides":                lastLabelDecides(4),
		"the first one of two expressions decides":           firstExpressionDecides,
	},
	feature.IstioAuthz: {
		"an excluded account of two namespaces": inSpecs(func(_ question, key string, v any) bool {
			items, _ := v.([]any)
			names := textsOf(items)
			for i, name := range names {
				_, names[i], _ = strings.Cut(name, "/")
			}
			return key == "notServiceAccounts" && !repeated(textsOf(items)) && repeated(names)
		}),
		"the last one of four labels decides":                lastLabelDecides(4),
		"two accounts whose namespace and name are one text": joined(accountsOf(`/ns/([a-z0-9-]*)/sa/([a-z0-9-]*)`, false)),
		"one name of two kinds": func(q question) bool {
			return slices.ContainsFunc(q.Policies, func(p map[string]any) bool {
				return slices.ContainsFunc(q.Policies, func(o map[string]any) bool {
					a, b := metadata(p), metadata(o)
					return p["kind"] != o["kind"] && a["name"] == b["name"] && a["namespace"] == b["namespace"]
				})
			})
		},
		"a selector of four labels":       labelsOfSelector(4),
		"a path in letters of both cases": bothCases("paths"),
		"sorted values":                   inAnOrder("values"),
	},
	feature.LinkerdAuthz: {
		"two accounts whose namespace and name are one text": joined(accountsOf(`"name":"([^"]*)","namespace":"([^"]*)"`, true)),
		"a selector of four labels":                          labelsOfSelector(4),
		"the last one of four labels decides":                lastLabelDecides(4),
		"the first one of two expressions decides":           firstExpressionDecides,
	},
	feature.CiliumIngress: {
		"a selector of four labels":                labelsOfSelector(4),
		"the first one of two expressions decides": firstExpressionDecides,
	},
}

// alikeNames finds two policies of one kind and namespace whose names are one where a compiler writes them so.
func alikeNames(written func(string) string) is {
	return func(q question) bool {
		return slices.ContainsFunc(q.Policies, func(p map[string]any) bool {
			return slices.ContainsFunc(q.Policies, func(o map[string]any) bool {
				a, b := metadata(p), metadata(o)
				one, other := fmt.Sprint(a["name"]), fmt.Sprint(b["name"])
				return p["kind"] == o["kind"] && a["namespace"] == b["namespace"] && one != other && written(one) == written(other)
			})
		})
	}
}

// differInOneField reports whether two objects of a list have the same fields, and differ in one of them.
func differInOneField(v any) bool {
	items, _ := v.([]any)
	for i, item := range items {
		for _, other := range items[:i] {
			a, ok := item.(map[string]any)
			b, both := other.(map[string]any)
			differ := 0
			for key := range a {
				if !reflect.DeepEqual(a[key], b[key]) {
					differ++
				}
			}
			if ok && both && len(a) > 1 && len(a) == len(b) && differ == 1 {
				return true
			}
		}
	}
	return false
}

// lastLabelDecides finds a selector of so many labels, of which the workload lacks the last one alone.
func lastLabelDecides(least int) is {
	return inSpecs(func(q question, key string, v any) bool {
		labels, ok := v.(map[string]any)
		if !ok || key != "matchLabels" || len(labels) < least {
			return false
		}
		keys := slices.Sorted(maps.Keys(labels))
		missing := slices.IndexFunc(keys, func(key string) bool { return ownWorkload(q).Labels[key] != labels[key] })
		return missing == len(keys)-1
	})
}

// firstExpressionDecides finds a selector with two expressions of one key, of which the workload does not meet the first one, which asks
// for a value, and meets the second one, which asks for the label alone, or for no other value.
var firstExpressionDecides = inSpecs(func(q question, key string, v any) bool {
	items, _ := v.([]any)
	for i, item := range items {
		for _, later := range items[i+1:] {
			first, _ := item.(map[string]any)
			second, _ := later.(map[string]any)
			label, _ := first["key"].(string)
			values, _ := first["values"].([]any)
			value, has := ownWorkload(q).Labels[strings.TrimPrefix(label, "any:")]
			if key == "matchExpressions" && label == second["key"] && has && first["operator"] == "In" && !slices.Contains(textsOf(values), value) && second["operator"] != "DoesNotExist" && !reflect.DeepEqual(first, second) {
				return true
			}
		}
	}
	return false
})

// joined finds two pairs of texts that are one text when they are joined by a dash.
func joined(of func(question) [][2]string) is {
	return func(q question) bool {
		known := map[string][2]string{}
		for _, pair := range of(q) {
			for _, key := range []string{pair[0] + "-" + pair[1], pair[1] + "-" + pair[0]} {
				key += fmt.Sprint(" ", strings.HasPrefix(key, pair[0]))
				if other, ok := known[key]; ok && other != pair {
					return true
				}
				known[key] = pair
			}
		}
		return false
	}
}

// accountsOf finds accounts by an expression of the text of the policies. Turned, the name stands first.
func accountsOf(expression string, turned bool) func(question) [][2]string {
	pattern := regexp.MustCompile(expression)
	return func(q question) (out [][2]string) {
		text, err := json.Marshal(q.Policies)
		if err != nil {
			return nil
		}
		for _, found := range pattern.FindAllStringSubmatch(string(text), -1) {
			pair := [2]string{found[1], found[2]}
			if turned {
				pair = [2]string{found[2], found[1]}
			}
			out = append(out, pair)
		}
		return out
	}
}

func labelsOfSelector(least int) is {
	return inSpecs(func(_ question, key string, v any) bool {
		labels, ok := v.(map[string]any)
		return ok && key == "matchLabels" && len(labels) >= least
	})
}

func bothCases(field string) is {
	return inSpecs(func(_ question, key string, v any) bool {
		items, ok := v.([]any)
		texts := textsOf(items)
		return ok && key == field && slices.ContainsFunc(texts, func(s string) bool { return s != strings.ToUpper(s) && slices.Contains(texts, strings.ToUpper(s)) })
	})
}

func inAnOrder(field string) is {
	return inSpecs(func(_ question, key string, v any) bool {
		items, ok := v.([]any)
		return ok && key == field && len(items) > 4 && slices.IsSorted(textsOf(items))
	})
}
