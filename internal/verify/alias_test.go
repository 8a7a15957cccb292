package verify

import (
	"strings"
	"testing"
)

// withAliases gives each chain of Istio's sidecar the SANs of more trust domains, and each whole principal of its rules the same one there, as
// istiod does for trustDomainAliases of the mesh config.
func withAliases(domains ...string) edit { return aliased(domains, domains) }

// aliased has domains of its own for the SANs, and for the principals.
func aliased(sans, principals []string) edit {
	const own = "cluster.local"
	var walk func(part any) any
	walk = func(part any) any {
		switch part := part.(type) {
		case []any:
			for i := range part {
				part[i] = walk(part[i])
			}
		case map[string]any:
			for key, of := range part {
				switch list, _ := of.([]any); key {
				case "match_subject_alt_names":
					for _, domain := range sans {
						list = append(list, value(`{"prefix": "spiffe://`+domain+`/"}`))
					}
					part[key] = list
				case "ids":
					for _, id := range list[:len(list):len(list)] {
						authenticated, _ := id.(map[string]any)["authenticated"].(map[string]any)
						name, _ := authenticated["principal_name"].(map[string]any)
						if exact, ok := name["exact"].(string); ok {
							for _, domain := range principals {
								list = append(list, value(`{"authenticated": {"principal_name": {"exact": "`+strings.Replace(exact, own, domain, 1)+`"}}}`))
							}
						}
					}
					part[key] = walk(list)
				default:
					part[key] = walk(of)
				}
			}
		}
		return part
	}
	return func(dump any) any { return walk(dump) }
}

// TestAliases has the sidecar of a mesh whose trust domain has aliases. One list of CAs is for all of them, as the mesh config says; without
// it, or with other names in it, each CA might give the names of a mesh that the policies do not know.
func TestAliases(t *testing.T) {
	t.Parallel()
	const policies = "../../examples/istio/policies"
	both := []string{"old.example", "older.example"}
	for name, tt := range map[string]struct {
		want   outcome
		config string
		edits  []edit
	}{
		"an alias, and the mesh config has it":                    {verified, "{trustDomainAliases: [old.example]}", []edit{withAliases("old.example")}},
		"two aliases":                                             {verified, "{trustDomainAliases: [old.example, older.example]}", []edit{withAliases(both...)}},
		"two aliases, in another order":                           {verified, "{trustDomainAliases: [older.example, old.example]}", []edit{withAliases(both...)}},
		"an alias, and nothing states it":                         {unverified, "", []edit{withAliases("old.example")}},
		"two aliases, and one is stated":                          {unverified, "{trustDomainAliases: [old.example]}", []edit{withAliases(both...)}},
		"another alias is stated":                                 {unverified, "{trustDomainAliases: [old.example.org]}", []edit{withAliases("old.example")}},
		"SANs alone, and nothing states it":                       {unverified, "", []edit{aliased(both, nil)}},
		"SANs alone: the rules lack callers":                      {differs, "{trustDomainAliases: [old.example]}", []edit{aliased([]string{"old.example"}, nil)}},
		"a rule more, for an alias that is not stated":            {differs, "", []edit{aliased(nil, []string{"old.example"})}},
		"a rule more, beside an alias that is stated":             {differs, "{trustDomainAliases: [old.example]}", []edit{aliased([]string{"old.example"}, both)}},
		"an alias is stated, and the sidecar does not take it":    {verified, "{trustDomainAliases: [old.example]}", []edit{aliased(nil, []string{"old.example"})}},
		"the trust domain itself is not the mesh's":               {unverified, "{trustDomain: new.example, trustDomainAliases: [old.example]}", []edit{withAliases("old.example")}},
		"a SAN of every trust domain beside":                      {unverified, "{trustDomainAliases: [old.example]}", []edit{withAliases("old.example"), add(untyped, `{"prefix": "spiffe://"}`)}},
		"a SAN without a slash beside, of each longer one":        {unverified, "{trustDomainAliases: [old.example]}", []edit{withAliases("old.example"), add(untyped, `{"prefix": "spiffe://old.example"}`)}},
		"a SAN with a type beside, of another trust domain":       {verified, "{trustDomainAliases: [old.example]}", []edit{withAliases("old.example"), put(typedSANs, `[{"san_type": "URI", "matcher": {"prefix": "spiffe://old.example/"}}]`)}},
		"SANs with a type, of the mesh and of another mesh":       {unverified, "{trustDomainAliases: [old.example]}", []edit{withAliases("old.example"), put(typedSANs, `[{"san_type": "URI", "matcher": {"prefix": "spiffe://cluster.local/"}}, {"san_type": "URI", "matcher": {"prefix": "spiffe://other/"}}]`)}},
		"an alias is stated, and the CAs are not control plane's": {unverified, "{trustDomainAliases: [old.example]}", []edit{withAliases("old.example"), put(validations+".name", `"mine"`)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := matchedSidecar(t, tt.config, policies, tt.edits...)
			if got := outcomeOf(v); got != tt.want {
				t.Errorf("%s, want %s: %q, unknown %q", got, tt.want, lines(v.Unverified), lines(v.sidecar.Unknown))
			}
		})
	}
	v := matchedSidecar(t, "", policies, withAliases("old.example"))
	if got := strings.Join(lines(v.Unverified), "\n"); !strings.Contains(got, "--istio 'trustDomainAliases: [old.example]'") {
		t.Errorf("the reason does not say what to state: %s", got)
	}
}
