package examination_test

import "strings"

// mistakesOfFrom are those of compilers of policies with from, where the order of the policies decides: with rules, the same
// mistake changes names alone.
var mistakesOfFrom = map[string]map[string]mistaken{
	"kuma": {
		"from: the name that an annotation displays": ofFrom(func(p object) { deleteIn(p, "annotations", "kuma.io/display-name") }),
		"from: the role that a label states":         ofFrom(func(p object) { deleteIn(p, "labels", "kuma.io/policy-role") }),
		"from: the origin that a label states":       ofFrom(func(p object) { deleteIn(p, "labels", "kuma.io/origin") }),
		"from: the namespace of the cluster is the system's": ofFrom(func(p object) {
			if of, ok := p["metadata"].(object); ok && of["namespace"] == "kube-system" {
				of["namespace"] = "kuma-system"
			}
		}),
		"from: the namespace that a label states is the policy's": ofFrom(func(p object) {
			of, _ := p["metadata"].(object)
			if labels, ok := of["labels"].(object); ok && labels["k8s.kuma.io/namespace"] != nil {
				of["namespace"] = labels["k8s.kuma.io/namespace"]
			}
		}),
		"from: a dash sorts behind letters": ofFrom(func(p object) {
			of, _ := p["metadata"].(object)
			if name, ok := of["name"].(string); ok {
				of["name"] = strings.ReplaceAll(name, "-", "z")
			}
		}),
		"from: the section of a Dataplane":                 ofTarget("sectionName", ""),
		"from: the section beside the name of a Dataplane": ofTarget("sectionName", "name"),
		"from: the section beside labels":                  ofTarget("sectionName", "labels"),
		"from: labels beside a section":                    ofTarget("labels", "sectionName"),
		"from: the service beside other tags of a subset": ofFrom(func(p object) {
			each("", p["spec"], func(_ string, of object) {
				if tags, ok := of["tags"].(object); ok && len(tags) > 1 {
					delete(tags, "kuma.io/service")
				}
			})
		}),
		"from: rules without an allow leave it its effect": {reads: func(p object) {
			allows := false
			each("", p["spec"], func(_ string, of object) { allows = allows || of["allow"] != nil })
			if spec, ok := p["spec"].(object); ok && spec["from"] == nil && !allows {
				delete(spec, "rules")
			}
		}},
	},
}

// ofFrom changes policies with from alone.
func ofFrom(change func(p object)) mistaken {
	return mistaken{reads: func(p object) {
		if spec, ok := p["spec"].(object); ok && spec["from"] != nil {
			change(p)
		}
	}}
}

// ofTarget leaves out a field of the target of a policy with from, where another one stands beside it.
func ofTarget(field, beside string) mistaken {
	return ofFrom(func(p object) {
		if of, ok := p["spec"].(object)["targetRef"].(object); ok && of["kind"] == "Dataplane" && (beside == "" || of[beside] != nil) {
			delete(of, field)
		}
	})
}

// deleteIn leaves out a key of the labels or the annotations of a policy in either form.
func deleteIn(p object, field, key string) {
	for _, of := range []any{p, p["metadata"]} {
		if of, ok := of.(object); ok {
			if keys, ok := of[field].(object); ok {
				delete(keys, key)
			}
		}
	}
}
