package policyset_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/policyset"
)

// fieldsOf adds the paths of all fields in a value: spec.ingress.fromCIDR. The keys of labels are
// no fields.
func fieldsOf(at string, v any, out map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			fieldsOf(at, item, out)
		}
	case map[string]any:
		for key, inner := range v {
			out[at+"."+key] = true
			if key != "matchLabels" && key != "labels" && key != "metadata" && key != "namespaceLabels" {
				fieldsOf(at+"."+key, inner, out)
			}
		}
	}
}

// TestEveryFieldOfCiliumIsDrawn compares the fields of drawn sets with all that the dialect reads
// and can judge. A field that it refuses is none.
func TestEveryFieldOfCiliumIsDrawn(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: the rarest field needs a thousand sets; TestEveryFieldOfLinkerdIsDrawn runs with -short too")
	}
	selector := []string{"matchLabels", "matchExpressions.key", "matchExpressions.operator", "matchExpressions.values"}
	var want []string
	add := func(at string, fields ...string) {
		for _, f := range fields {
			want = append(want, at+f)
		}
	}
	for _, spec := range []string{".spec.", ".specs."} {
		add(spec, "description", "labels", "log", "enableDefaultDeny.ingress", "enableDefaultDeny.egress")
		add(spec+"endpointSelector.", selector...)
		add(spec+"nodeSelector.", "matchLabels")
		for rules, verb := range map[string]string{"ingress": "from", "ingressDeny": "from", "egress": "to", "egressDeny": "to"} {
			at := spec + rules + "." + verb
			add(at, "Entities", "CIDR", "CIDRSet.cidr", "CIDRSet.except")
			add(at+"Endpoints.", selector...)
		}
		add(spec+"ingress.", "icmps", "authentication.mode")
		add(spec+"ingressDeny.toPorts.ports.", "port", "endPort", "protocol")
		add(spec+"ingress.toPorts.ports.", "port", "endPort", "protocol")
		add(spec+"ingress.toPorts.rules.http.", "path", "method", "host", "headers", "headerMatches.name", "headerMatches.value")
		add(spec+"egress.", "icmps", "authentication.mode", "toFQDNs", "toServices", "toGroups")
		add(spec+"egress.toPorts.", "rules.dns", "rules.http.path", "serverNames", "terminatingTLS", "originatingTLS", "listener")
	}
	add(".cilium.", "policyEnforcement", "policyAuditMode", "clusterName", "namespaceLabels")
	drawFields(t, policyset.Cilium, append(want, fieldsOfCases(t, "CiliumSelection")...))
}

// drawFields draws sets until they have all wanted fields, and reports each field that 1,500 sets
// do not have.
func drawFields(t *testing.T, form policyset.Form, want []string) {
	t.Helper()
	drawn := map[string]bool{}
	isDrawn := func(field string) bool { return drawn[field] }
	for number := uint64(0); number < 1500 && len(want) > 0; number++ {
		c := policyset.Draw(5, number, form)
		for _, doc := range append(c.Policies, c.Options.Document) {
			var v any
			if err := doc.Decode(&v); err != nil {
				t.Fatal(err)
			}
			fieldsOf("", v, drawn)
		}
		want = slices.DeleteFunc(want, isDrawn)
	}
	for _, field := range want {
		t.Errorf("no set has the field %s", field[1:])
	}
}

// fieldsOfCases returns the fields of the accepted cases with the core of a profile.
func fieldsOfCases(t *testing.T, core feature.Name) []string {
	t.Helper()
	written := map[string]bool{}
	for _, c := range casetest.Stories(t) {
		if c.ExpectError != "" || len(policyset.Needs(c)) == 0 || policyset.Needs(c)[0] != core {
			continue
		}
		for _, doc := range c.Policies {
			var v any
			if err := doc.Decode(&v); err != nil {
				t.Fatal(err)
			}
			fieldsOf("", v, written)
		}
	}
	if len(written) < 40 {
		t.Fatalf("the cases have only %d fields: that proves nothing", len(written))
	}
	return slices.Collect(maps.Keys(written))
}
