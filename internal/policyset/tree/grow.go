package tree

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/policyset/choice"
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

// Grow makes one list of the policies a long one, or the list of all policies: with items like
// those it has, which are about other callers.
func Grow(c *choice.Chooser, policies []any) []any {
	byKey := ByKey(Lists(policies), func(key string) bool { return growing[key] > 0 })
	if len(policies) > 0 && (len(byKey) == 0 || c.OneIn(4)) {
		for range size(c, mostPolicies) {
			policies = append(policies, AnotherPolicy(c, choice.Pick(c, policies...)))
		}
	} else if len(byKey) > 0 {
		// Some lists are few, and policies have many of others. One time in four it is a list of callers.
		keys := Keys(byKey)
		if ofCallers := slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return growing[key] < mostCallersMore }); len(ofCallers) > 0 && c.OneIn(4) {
			keys = ofCallers
		}
		of := choice.Pick(c, byKey[choice.Pick(c, keys...)]...)
		items := of.Items()
		for range size(c, growing[of.Key]) {
			items = append(items, Another(c, of.Key, choice.Pick(c, items...)))
		}
		of.Set(items)
	}
	return policies
}

// MostName is the length of the longest name in characters: of a Kubernetes object, and of a SPIFFE ID in Gateway API.
const MostName = 253

// numbered returns a name with a number at its end, and the name itself where that would be too long.
func numbered(name any, number int) string {
	text := fmt.Sprint(name)
	if longer := fmt.Sprintf("%s%d", text, number); len(longer) <= MostName {
		return longer
	}
	return text
}

// size chooses a number up to most, two times in three a large one.
func size(c *choice.Chooser, most int) int {
	if c.OneIn(3) {
		return c.UpTo(most)
	}
	return c.Number(most/2, most)
}

// AnotherPolicy returns the policy under another name, or in another namespace. It has no uid: no two objects have one.
func AnotherPolicy(c *choice.Chooser, p any) any {
	policy := Clone(p)
	metadata := Metadata(policy)
	key := "name"
	if metadata["namespace"] != nil && c.OneIn(3) {
		key = "namespace"
	}
	metadata[key] = fmt.Sprintf("%v%d", metadata[key], c.Choose(1<<20))
	ForgetDisplayName(metadata)
	delete(metadata, "uid")
	return policy
}

// Another returns an item about other callers. An item that names no caller is the same again.
func Another(c *choice.Chooser, key string, item any) any {
	number := c.Choose(1 << 20)
	text, isText := item.(string)
	switch {
	case key == "ports" && isText:
		return fmt.Sprint(1 + number%65_535)
	case key == "ports":
		return 1 + number%65_535
	case isText && strings.Contains(text, "*"):
		return item
	case isText:
		return numbered(text, number)
	default:
		return OtherCallers(Clone(item), number)
	}
}

// OtherCallers gives each caller in a value another name.
func OtherCallers(v any, number int) any {
	switch v := v.(type) {
	case string:
		if id, ok := strings.CutPrefix(v, SPIFFEScheme); ok && strings.Contains(id, "/") && !strings.HasSuffix(id, "/") {
			return numbered(v, number)
		}
	case []any:
		for i := range v {
			v[i] = OtherCallers(v[i], number)
		}
	case map[string]any:
		for key := range v {
			v[key] = OtherCallers(v[key], number)
		}
		if labels, ok := v["matchLabels"].(map[string]any); ok && labels["app"] != nil {
			labels["app"] = fmt.Sprintf("%s%d", labels["app"], number)
		}
		if account, ok := v["serviceAccount"].(map[string]any); ok && account["name"] != "*" {
			account["name"] = numbered(account["name"], number)
		}
	}
	return v
}
