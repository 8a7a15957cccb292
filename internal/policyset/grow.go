package policyset

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The most items that a list grows by. A caller more is a class more, and a rule more is not.
const (
	mostCallersMore = 400
	mostMore        = 120
	mostPolicies    = 200
)

// growing are the lists that may have any number of items, with the most items more.
var growing = map[string]int{
	"sources": mostCallersMore, "allow": mostCallersMore, "deny": mostCallersMore, "allowWithShadowDeny": mostCallersMore, "conditions": mostCallersMore,
	"principals": mostCallersMore, "fromEndpoints": mostCallersMore,
	"rules": mostMore, "ingress": mostMore, "ingressDeny": mostMore, "from": mostMore, "values": mostMore, "ports": mostMore,
}

// grow makes one list of the policies a long one, or the list of all policies: with items like
// those it has, which are about other callers.
func grow(c *chooser, policies []any) []any {
	byKey := listsByKey(listsIn(policies), func(key string) bool { return growing[key] > 0 })
	if len(policies) > 0 && (len(byKey) == 0 || c.oneIn(4)) {
		for range c.size(mostPolicies) {
			policies = append(policies, anotherPolicy(c, pick(c, policies...)))
		}
	} else if len(byKey) > 0 {
		// Some lists are few, and policies have many of others. One time in four it is a list of callers.
		keys := slices.Sorted(maps.Keys(byKey))
		if ofCallers := slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return growing[key] < mostCallersMore }); len(ofCallers) > 0 && c.oneIn(4) {
			keys = ofCallers
		}
		of := pick(c, byKey[pick(c, keys...)]...)
		items := of.items()
		for range c.size(growing[of.key]) {
			items = append(items, another(c, of.key, pick(c, items...)))
		}
		of.object[of.key] = items
	}
	return policies
}

// size chooses a number up to most, two times in three a large one.
func (c *chooser) size(most int) int {
	if c.oneIn(3) {
		return c.upTo(most)
	}
	return c.number(most/2, most)
}

// anotherPolicy returns the policy under another name, or in another namespace.
func anotherPolicy(c *chooser, p any) any {
	policy, _ := clone(p).(map[string]any)
	metadata, ok := policy["metadata"].(map[string]any)
	if !ok {
		metadata = policy
	}
	key := "name"
	if metadata["namespace"] != nil && c.oneIn(3) {
		key = "namespace"
	}
	metadata[key] = fmt.Sprintf("%v%d", metadata[key], c.choose(1<<20))
	if labels, ok := metadata["labels"].(map[string]any); ok {
		delete(labels, "kuma.io/display-name")
	}
	return policy
}

func clone(v any) (out any) {
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		panic(fmt.Sprintf("policyset: %v", err))
	}
	return out
}

// another returns an item about other callers. An item that names no caller is the same again.
func another(c *chooser, key string, item any) any {
	number := c.choose(1 << 20)
	text, isText := item.(string)
	switch {
	case key == "ports" && isText:
		return fmt.Sprint(1 + number%65_535)
	case key == "ports":
		return 1 + number%65_535
	case isText && strings.Contains(text, "*"):
		return item
	case isText:
		return fmt.Sprintf("%s%d", text, number)
	default:
		return otherCallers(clone(item), number)
	}
}

// otherCallers gives each caller in a value another name.
func otherCallers(v any, number int) any {
	switch v := v.(type) {
	case string:
		if id, ok := strings.CutPrefix(v, spiffeScheme); ok && strings.Contains(id, "/") && !strings.HasSuffix(id, "/") {
			return fmt.Sprintf("%s%d", v, number)
		}
	case []any:
		for i := range v {
			v[i] = otherCallers(v[i], number)
		}
	case map[string]any:
		for key := range v {
			v[key] = otherCallers(v[key], number)
		}
		if labels, ok := v["matchLabels"].(map[string]any); ok && labels["app"] != nil {
			labels["app"] = fmt.Sprintf("%s%d", labels["app"], number)
		}
		if account, ok := v["serviceAccount"].(map[string]any); ok && account["name"] != "*" {
			account["name"] = fmt.Sprintf("%s%d", account["name"], number)
		}
	}
	return v
}
