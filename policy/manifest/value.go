package manifest

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// value returns the node as plain Go values: nil, bool, int64, uint64, float64,
// string, []any, map[string]any.
func (n *node) value() any {
	switch n.kind {
	case boolean:
		return n.scalar == "true"
	case integer:
		if i, err := strconv.ParseInt(n.scalar, 10, 64); err == nil {
			return i
		}
		u, _ := strconv.ParseUint(n.scalar, 10, 64)
		return u
	case float:
		f, _ := n.float()
		return f
	case text:
		return n.scalar
	case list:
		out := make([]any, len(n.items))
		for i, item := range n.items {
			out[i] = item.value()
		}
		return out
	case mapping:
		out := make(map[string]any, len(n.entries))
		for _, e := range n.entries {
			out[e.key] = e.value.value()
		}
		return out
	}
	return nil
}

func (n *node) float() (float64, error) {
	if n.kind != integer && n.kind != float {
		return 0, fmt.Errorf("%s is no number", n.describe())
	}
	s := strings.ReplaceAll(n.scalar, "_", "")
	switch strings.ToLower(s) {
	case ".nan":
		return math.NaN(), nil
	case ".inf", "+.inf":
		return math.Inf(1), nil
	case "-.inf":
		return math.Inf(-1), nil
	}
	return strconv.ParseFloat(s, 64)
}
