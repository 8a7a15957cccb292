package policyset_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/policyset"
	"github.com/meshproof/meshproof/internal/verdict"
)

// TestDrawnFieldsStandBesideOthers says which forms of two fields are drawn, of which a compiler may forget one: what a source of Istio
// excludes beside what it asks for, an exception of one address, and the name or every port of another protocol.
func TestDrawnFieldsStandBesideOthers(t *testing.T) {
	t.Parallel()
	const sets = 400
	wanted := map[policyset.Form][]string{
		policyset.Istio: {
			"notTrustDomains beside another", "notIpBlocks beside another", "notRemoteIpBlocks beside another",
			"notServiceAccounts beside another", "notPrincipals beside another", "notNamespaces beside another",
		},
		policyset.Cilium:  {"an exception of one address", "a name of UDP", "every port of UDP", "every port of TCP"},
		policyset.Linkerd: {"an exception of one address"},
	}
	for form, forms := range wanted {
		found := map[string]bool{}
		for number := range uint64(sets) {
			c := policyset.Draw(1, number, form)
			if _, err := verdict.Read(c); err != nil {
				t.Fatalf("%v, set %d: %v", form, number, err)
			}
			for _, doc := range c.Policies {
				var whole any
				if err := doc.Decode(&whole); err != nil {
					t.Fatal(err)
				}
				visitObjects(whole, func(of map[string]any) { addForms(of, found) })
			}
		}
		for _, want := range forms {
			if !found[want] {
				t.Errorf("%v: none of %d sets has %s", form, sets, want)
			}
		}
	}
}

func visitObjects(v any, visit func(map[string]any)) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			visitObjects(item, visit)
		}
	case map[string]any:
		visit(v)
		for _, inner := range v {
			visitObjects(inner, visit)
		}
	}
}

// addForms adds the forms that an object has.
func addForms(of map[string]any, found map[string]bool) {
	if source, ok := of["source"].(map[string]any); ok && len(source) > 1 {
		for field := range source {
			positive := strings.ToLower(strings.TrimPrefix(field, "not")[:1]) + strings.TrimPrefix(field, "not")[1:]
			if _, own := source[positive]; strings.HasPrefix(field, "not") && (!own || len(source) > 2) {
				found[field+" beside another"] = true
			}
		}
	}
	if except, ok := of["except"].([]any); ok {
		found["an exception of one address"] = found["an exception of one address"] || slices.ContainsFunc(except, func(text any) bool {
			block, err := netip.ParsePrefix(fmt.Sprint(text))
			return err == nil && block.IsSingleIP()
		})
	}
	port, protocol := fmt.Sprint(of["port"]), fmt.Sprint(of["protocol"])
	switch {
	case port == "0":
		found["every port of "+protocol] = true
	case strings.HasSuffix(port, "-port"):
		found["a name of "+protocol] = true
	}
}
