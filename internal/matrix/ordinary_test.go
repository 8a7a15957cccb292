package matrix

import (
	"regexp"
	"strings"

	"github.com/meshproof/meshproof/internal/feature"
)

// ordinaryForms are questions as people ask them that no case has: several of what usually stands alone.
var ordinaryForms = map[feature.Profile]map[string]is{
	feature.GEP3779: {
		"callers of three trust domains":      trustDomains(3),
		"a trust domain below the own domain": domainBelow,
	},
	feature.KumaMTP: {
		"callers of three trust domains":      trustDomains(3),
		"a trust domain below the own domain": domainBelow,
	},
	feature.IstioAuthz: {
		"an operation of four fields": inSpecs(func(_ question, key string, v any) bool {
			of, _ := v.(map[string]any)
			return key == "operation" && of["hosts"] != nil && of["ports"] != nil && of["methods"] != nil && of["paths"] != nil
		}),
		"three sources and three operations": inSpecs(func(_ question, key string, v any) bool {
			rule, _ := v.(map[string]any)
			from, _ := rule["from"].([]any)
			to, _ := rule["to"].([]any)
			return key == "rules" && len(from) > 2 && len(to) > 2
		}),
		"an empty selector": inSpecs(func(_ question, key string, v any) bool {
			selector, _ := v.(map[string]any)
			labels, stated := selector["matchLabels"].(map[string]any)
			return key == "selector" && stated && len(labels) == 0
		}),
		"a template of two segments": text("paths", `\{\*\}.*\{\*\}`),
		"a claim of three names":     text("key", `claims(\[[^]]+\]){3}$`),
	},
}

var domainOfCaller = regexp.MustCompile(`^spiffe://([^/]+)/`)

// domainsOf returns the trust domains of the callers that policies name.
func domainsOf(q question) map[string]bool {
	out := map[string]bool{}
	inSpecs(func(_ question, _ string, v any) bool {
		text, _ := v.(string)
		if found := domainOfCaller.FindStringSubmatch(text); found != nil {
			out[found[1]] = true
		}
		return false
	})(q)
	return out
}

func trustDomains(least int) is {
	return func(q question) bool { return len(domainsOf(q)) >= least }
}

func domainBelow(q question) bool {
	own := domainOfCaller.FindStringSubmatch(ownIdentity(q))
	for domain := range domainsOf(q) {
		if own != nil && strings.HasSuffix(domain, "."+own[1]) {
			return true
		}
	}
	return false
}
