package matrix

import (
	"encoding/json"
	"fmt"
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
		"a workload of 22 labels": func(q question) bool { return len(ownWorkload(q).Labels) > 21 },
	},
	feature.GEP3779: {
		"two accounts whose namespace and name are one text": joined(accountsOf(`"serviceAccount":{"name":"([^"]*)","namespace":"([^"]*)"`, true)),
		"a selector of four labels":                          labelsOfSelector(4),
	},
	feature.IstioAuthz: {
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
	},
	feature.CiliumIngress: {"a selector of four labels": labelsOfSelector(4)},
}

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
