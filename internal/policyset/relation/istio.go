package relation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/internal/policyset/tree"
)

// istioFields are the policies and options of Istio into which fields are written that stand together.
type istioFields struct {
	*relation
	drawn *cases.Case
	// protected is the inbound that the relations are about.
	protected cases.Inbound
	policies  []any
	// byField has the objects of the policies by the fields that they stand in.
	byField map[string][]map[string]any
	options map[string]any
}

func (m *relation) newIstioFields(c *cases.Case, policies []any, options map[string]any) *istioFields {
	return &istioFields{
		relation: m, drawn: c, protected: c.Inbounds[m.inbound], policies: policies,
		byField: tree.Objects(policies), options: m.optionsOf(options, "istio"),
	}
}

// istioTurns take turns.
var istioTurns = []func(*istioFields){
	(*istioFields).addBlocks,
	(*istioFields).addRemoteBlocks,
	(*istioFields).askForOwnAccount,
	(*istioFields).askForOwnHost,
	(*istioFields).askForRootNamespace,
	(*istioFields).moveIntoRootNamespace,
	(*istioFields).addAliases,
	func(t *istioFields) { t.manyOfRules(t.byField["rules"]) },
	(*istioFields).emptySelectors,
	(*istioFields).addTemplates,
	(*istioFields).askForDeepClaim,
	(*istioFields).fillOperations,
	func(t *istioFields) { t.policies = t.tokensTogether(t.drawn, t.policies, 0) },
	func(t *istioFields) { t.policies = t.tokensTogether(t.drawn, t.policies, 1) },
	func(t *istioFields) { t.policies = t.tokensTogether(t.drawn, t.policies, 2) },
	(*istioFields).addStars,
	(*istioFields).addStars,
	func(t *istioFields) { t.dottedTemplates(t.policies) },
	func(t *istioFields) { t.policies = t.tokensTogether(t.drawn, t.policies, 0) },
}

// addTo adds values to the list at a field of an object.
func addTo(object map[string]any, field string, values ...any) {
	items, _ := object[field].([]any)
	object[field] = append(slices.Clone(items), values...)
}

// addToRules adds a condition to each rule that asks for something.
func (t *istioFields) addToRules(condition func() any) {
	for _, rule := range t.byField["rules"] {
		if rule["from"] != nil || rule["to"] != nil || rule["when"] != nil {
			addTo(rule, "when", condition())
		}
	}
}

// blocks has the address of the workload, and a block.
func (t *istioFields) blocks() []any {
	return []any{t.protected.IP.String(), t.Address().String() + "/16"}
}

// addBlocks has sources ask for blocks beside names.
func (t *istioFields) addBlocks() {
	for _, source := range t.byField["source"] {
		addTo(source, "ipBlocks", t.blocks()...)
	}
}

// addRemoteBlocks has sources ask for blocks of both addresses of a caller.
func (t *istioFields) addRemoteBlocks() {
	for _, source := range t.byField["source"] {
		addTo(source, "remoteIpBlocks", t.blocks()...)
		addTo(source, "ipBlocks", t.blocks()...)
	}
}

// askForOwnAccount has rules ask for the account or the namespace of the workload itself.
func (t *istioFields) askForOwnAccount() {
	condition := choice.Pick(t.Chooser, map[string]any{"key": "source.principal", "values": []any{strings.TrimPrefix(t.protected.Identity.String(), tree.SPIFFEScheme)}},
		map[string]any{"key": "source.namespace", "values": []any{t.protected.Workload.Namespace}})
	t.addToRules(func() any { return tree.Clone(condition) })
}

// askForOwnHost has operations ask for the host of the workload, or for every path.
func (t *istioFields) askForOwnHost() {
	w := t.protected.Workload
	for _, operation := range t.byField["operation"] {
		if t.OneIn(2) {
			addTo(operation, "paths", "/*")
		} else {
			addTo(operation, "hosts", w.Name, w.Name+"."+w.Namespace+".svc.cluster.local")
		}
	}
}

// askForRootNamespace has sources ask for callers of the root namespace.
func (t *istioFields) askForRootNamespace() {
	root, _ := t.options["rootNamespace"].(string)
	if root == "" {
		root = "istio-system"
	}
	for _, source := range t.byField["source"] {
		if source["serviceAccounts"] == nil && source["notServiceAccounts"] == nil {
			addTo(source, "namespaces", root)
		}
	}
}

// moveIntoRootNamespace makes the namespace of the workload the root namespace.
func (t *istioFields) moveIntoRootNamespace() {
	t.options["rootNamespace"] = t.protected.Workload.Namespace
}

// addAliases gives the trust domain several aliases, itself among them.
func (t *istioFields) addAliases() {
	own := t.protected.Identity.TrustDomain().Name()
	t.options["trustDomainAliases"] = []any{"old." + own, own, "older.example"}
}

// emptySelectors has some selectors ask for nothing.
func (t *istioFields) emptySelectors() {
	for _, selector := range t.byField["selector"] {
		if t.OneIn(2) {
			selector["matchLabels"] = map[string]any{}
		}
	}
}

// addTemplates has operations ask for templates of paths with several wildcards.
func (t *istioFields) addTemplates() {
	for _, operation := range t.byField["operation"] {
		addTo(operation, "paths", "/"+t.Letters(4)+"/{*}/"+t.Letters(5)+"/{*}", "/"+t.Letters(3)+"/{*}/{**}")
	}
}

// askForDeepClaim has rules ask for a claim within claims.
func (t *istioFields) askForDeepClaim() {
	t.addToRules(func() any {
		return map[string]any{"key": "request.auth.claims[" + t.Letters(5) + "][" + t.Letters(4) + "][" + t.Letters(5) + "]", "values": []any{t.Letters(5)}}
	})
}

// fillOperations has operations ask for each thing that they can ask for.
func (t *istioFields) fillOperations() {
	for _, operation := range t.byField["operation"] {
		for field, value := range map[string]any{"hosts": t.Letters(4) + ".example", "ports": fmt.Sprint(t.protected.Port), "methods": "GET", "paths": "/" + t.Letters(4) + "*"} {
			if operation[field] == nil {
				operation[field] = []any{value}
			}
		}
	}
}

// addStars has values with stars, about half of them beside demands for tokens.
func (t *istioFields) addStars() {
	if t.OneIn(2) {
		_, t.policies = t.tokenRules(t.drawn, t.policies)
	}
	t.stars(t.drawn, t.policies)
}

// manyOfRules has rules with three and more sources, operations and conditions.
func (m *relation) manyOfRules(rules []map[string]any) {
	for _, rule := range rules {
		for _, key := range []string{"from", "to", "when"} {
			items, _ := rule[key].([]any)
			for least := m.Number(3, 5); len(items) > 0 && len(items) < least; {
				items = append(items[:len(items):len(items)], tree.Another(m.Chooser, key, items[0]))
			}
			if len(items) > 0 {
				rule[key] = items
			}
		}
	}
}
