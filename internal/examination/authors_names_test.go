package examination_test

import (
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v2"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

// firstItems reads so many items of each list.
func firstItems(most int) mistaken {
	return mistaken{reads: func(p object) {
		each("", p["spec"], func(_ string, of object) {
			for field, v := range of {
				if items, ok := v.([]any); ok && len(items) > most {
					of[field] = items[:most]
				}
			}
		})
	}}
}

// keyedBy keeps one object of those with one key, as a program does that has a map of them: the first one, or the last one.
func keyedBy(last bool, fields ...string) mistaken {
	return mistaken{knows: func(c *cases.Case) {
		at := map[string]int{}
		keys := make([]string, len(c.Policies))
		for i, doc := range c.Policies {
			of := object{}
			var read any
			if err := yaml.Unmarshal(doc.YAML(), &read); err == nil {
				of = mapping(jsonTree(read))
			}
			if metadata := mapping(of["metadata"]); metadata != nil {
				metadata["kind"] = of["kind"]
				of = metadata
			}
			for _, field := range fields {
				keys[i] += fmt.Sprint(of[field], "\n")
			}
			if _, known := at[keys[i]]; !known || last {
				at[keys[i]] = i
			}
		}
		var kept []manifest.Document
		for i, doc := range c.Policies {
			if at[keys[i]] == i {
				kept = append(kept, doc)
			}
		}
		c.Policies = kept
	}}
}

// inSpecs changes each spec of a policy of Cilium that has several.
func inSpecs(change func(spec object)) mistaken {
	return mistaken{reads: func(p object) {
		for _, spec := range items(p["specs"]) {
			change(mapping(spec))
		}
	}}
}

// excludesAllNamespaces takes a star of excluded namespaces for the name of one.
func excludesAllNamespaces(of object) {
	if text, err := json.Marshal(of["notNamespaces"]); err == nil && string(text) == `["*"]` {
		of["notNamespaces"] = []any{"star"}
	}
}

// mistakesAboutNames are those about objects that share a name, and about parts that few policies have, by the dialect.
var mistakesAboutNames = map[string]map[string]mistaken{
	"istio": {
		"the first object of a name in a namespace": keyedBy(false, "namespace", "name"),
		"the last object of a name in a namespace":  keyedBy(true, "namespace", "name"),
		"the first object of a name":                keyedBy(false, "kind", "name"),
		"the last object of a name":                 keyedBy(true, "kind", "name"),
		"a star of excluded namespaces":             changesUnder("", "source", excludesAllNamespaces),
		"a star of excluded namespaces is no field": changesUnder("", "source", func(of object) {
			if excludesAllNamespaces(of); fmt.Sprint(of["notNamespaces"]) == "[star]" {
				delete(of, "notNamespaces")
				of["notPrincipals"] = []any{"*"}
			}
		}),
	},
	"cilium": {
		"the first 256 items of a list":       firstItems(256),
		"the first object of a name":          keyedBy(false, "name"),
		"the last object of a name":           keyedBy(true, "name"),
		"the default of one of several specs": inSpecs(func(spec object) { delete(spec, "enableDefaultDeny") }),
		"denies of one of several specs":      inSpecs(func(spec object) { delete(spec, "ingressDeny") }),
	},
	"linkerd": {
		"the first object of a name in a namespace": keyedBy(false, "namespace", "name"),
		"the first object of a name":                keyedBy(false, "kind", "name"),
		"the first four policies of a Server": {orders: func(p *policy.Program) {
			for i := range p.Gates {
				p.Gates[i].Rules = p.Gates[i].Rules[:min(4, len(p.Gates[i].Rules))]
			}
		}},
		"the first 256 items of a list": firstItems(256),
	},
	"gateway": {"the first object of a name": keyedBy(false, "name"), "the last object of a name": keyedBy(true, "name")},
	"kuma":    {"the first object of a name": keyedBy(false, "name"), "the last object of a name": keyedBy(true, "name")},
}
