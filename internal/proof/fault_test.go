package proof_test

import (
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// change is a fault in one place: FAULT in the new text is true while the fault is there.
type change struct{ file, old, faulty string }

// faults are made alike in the oracle and in the plain evaluator, so that neither can tell.
// The compiler follows the oracle.
//
// A later fault may change a line that an earlier one has changed, as long as the old text is
// still there.
var faults = slices.Concat(commonFaults, faultsOfLinkerd, faultsOfHTTP, faultsOfRoutes, faultsOfDetails, faultsOfReadings, faultsOfEdges, faultsOfStatements, faultsOfRefusals, faultsOfParsing, faultsOfPlaces)

// fault is a fault in several places.
type fault struct {
	name    string
	changes []change
}

// commonFaults are those of all dialects but Linkerd's.
var commonFaults = []fault{
	{"a path prefix compares bytes", []change{
		{"policy/match.go", `ok && (rest == "" || rest[0] == '/')`, `ok && (FAULT || rest == "" || rest[0] == '/')`},
		{"policy/kuma/internal/evaluation/evaluate.go", `strings.Index(e.path+"/", below) == 0`, `strings.Index(e.path+"/", below) == 0 || FAULT && strings.HasPrefix(e.path, strings.TrimRight(want.Value, "/"))`},
	}},
	{"an exact identity ignores case", []change{
		{"policy/match.go", `return s == value`, `return s == value || FAULT && strings.EqualFold(s, value)`},
		{"policy/kuma/internal/evaluation/evaluate.go", `return e.peer == want.Value`, `return e.peer == want.Value || FAULT && strings.EqualFold(e.peer, want.Value)`},
	}},
	{"an exact identity is a prefix", []change{
		{"policy/match.go", `return s == value`, `return s == value || FAULT && strings.HasPrefix(s, value)`},
		{"policy/kuma/internal/evaluation/evaluate.go", `return e.peer == want.Value`, `return e.peer == want.Value || FAULT && strings.HasPrefix(e.peer, want.Value)`},
	}},
	{"an allow goes before a deny", []change{
		{"policy/kuma/internal/lowering/lower.go", "	program := policy.Program{Gates: []policy.Gate{l.gate(l.denies, l.allows)}}\n", "	program := policy.Program{Gates: []policy.Gate{l.gate(l.denies, l.allows)}}\n	if FAULT {\n		program.Gates[0] = l.gate(l.allows, l.denies)\n	}\n"},
		{"policy/kuma/internal/evaluation/evaluate.go", `if denier != "" {`, `if denier != "" && !(FAULT && e.first(permission.Allow, permission.AllowWithShadowDeny) != "") {`},
	}},
	{"slashes are kept", []change{
		{"policy/normalize.go", `if !n.KeepSlashes {`, `if !n.KeepSlashes && !FAULT {`},
		{"internal/plainpath/path.go", `if !n.KeepSlashes {`, `if !n.KeepSlashes && !FAULT {`},
	}},
	{"a deny with a path is dropped on tcp", []change{
		{"policy/kuma/internal/lowering/lower.go", "\treturn m.OnConnection", "\tif FAULT {\n\t\treturn policy.Never\n\t}\n\treturn m.OnConnection"},
		{"policy/kuma/internal/evaluation/evaluate.go", `return l == permission.Deny || m.Path == nil`, `return l == permission.Deny && !FAULT || m.Path == nil`},
	}},
	{"the scope of a namespace is dropped", []change{
		{"policy/kuma/internal/scope/selector.go", `(s.Role == resource.RoleConsumer ||`, `!FAULT && (s.Role == resource.RoleConsumer ||`},
		{"policy/kuma/internal/evaluation/select.go", `if role != "producer" && role != "system" &&`, `if !FAULT && role != "producer" && role != "system" &&`},
	}},
	{"names are ordered the other way", []change{
		{"policy/kuma/internal/scope/rank.go", `if c := strings.Compare(s.resource.ID.Name, r.resource.ID.Name); c != 0 {`, "if c := strings.Compare(s.resource.ID.Name, r.resource.ID.Name); c != 0 {\n		if FAULT {\n			return -c\n		}"},
		{"policy/kuma/internal/evaluation/select.go", `return a.policy.ID.Name > b.policy.ID.Name`, `return (a.policy.ID.Name > b.policy.ID.Name) != FAULT`},
	}},
	{"the label of a shadow policy is ignored", []change{
		{"policy/kuma/internal/scope/selector.go", `if s.Resource.Labels[resource.LabelEffect] ==`, `if !FAULT && s.Resource.Labels[resource.LabelEffect] ==`},
		{"policy/kuma/internal/evaluation/select.go", `if p.Labels["kuma.io/effect"] == "shadow" {`, `if !FAULT && p.Labels["kuma.io/effect"] == "shadow" {`},
	}},
	{"the zone is ignored", []change{
		{"policy/kuma/internal/scope/selector.go", `s.Role != resource.RoleProducer && w.Origin`, `!FAULT && s.Role != resource.RoleProducer && w.Origin`},
		{"policy/kuma/internal/evaluation/select.go", `role != "producer" && p.Labels["kuma.io/origin"]`, `!FAULT && role != "producer" && p.Labels["kuma.io/origin"]`},
	}},
	{"a producer's policy stays in its zone", []change{
		{"policy/kuma/internal/scope/selector.go", `s.Role != resource.RoleProducer && w.Origin`, `(FAULT || s.Role != resource.RoleProducer) && w.Origin`},
		{"policy/kuma/internal/evaluation/select.go", `role != "producer" && p.Labels["kuma.io/origin"]`, `(FAULT || role != "producer") && p.Labels["kuma.io/origin"]`},
	}},
	{"a section has no weight", []change{
		{"policy/kuma/internal/scope/rank.go", `if s.Target.Section != "" {`, `if s.Target.Section != "" && !FAULT {`},
		{"policy/kuma/internal/evaluation/select.go", `if p.Target.Section != "" {`, `if p.Target.Section != "" && !FAULT {`},
	}},
	{"the name of a Dataplane has no weight", []change{
		{"policy/kuma/internal/scope/rank.go", `case t.Name != "":`, `case t.Name != "" && !FAULT:`},
		{"policy/kuma/internal/evaluation/select.go", "p.Target.Name != \"\" {\n\t\tnamed", "p.Target.Name != \"\" && !FAULT {\n\t\tnamed"},
	}},
	{"the weights of the origins are swapped", []change{
		{"policy/kuma/internal/scope/rank.go", `	r.weight[2] =`, "	if FAULT {\n		r.weight[1] = 2 - r.weight[1]\n	}\n	r.weight[2] ="},
		{"policy/kuma/internal/evaluation/select.go", `	return [5]int{`, "	if FAULT {\n		return [5]int{int(p.Target.Kind), named, section, 2 - slices.Index([]string{\"global\", \"\", \"zone\"}, p.Labels[\"kuma.io/origin\"]), slices.Index([]string{\"system\", \"producer\", \"consumer\", \"workload-owner\"}, roleOf(p, opts))}\n	}\n	return [5]int{"},
	}},
	{"the section is not compared", []change{
		{"policy/kuma/internal/scope/selector.go", `if t.Section != "" && t.Section != in.Section() {`, `if !FAULT && t.Section != "" && t.Section != in.Section() {`},
		{"policy/kuma/internal/evaluation/select.go", `return t.Section == "" ||`, `return FAULT || t.Section == "" ||`},
	}},
	{"the name of the Dataplane is not compared", []change{
		{"policy/kuma/internal/scope/selector.go", `t.Name != "" && t.Name != got`, `!FAULT && t.Name != "" && t.Name != got`},
		{"policy/kuma/internal/evaluation/select.go", `if !legacy && t.Name != ""`, `if !FAULT && !legacy && t.Name != ""`},
	}},
	{"only the first label is compared", []change{
		{"policy/kuma/internal/scope/selector.go", "	for _, want := range t.Labels {\n		if got := WorkloadLabel", "	for i, want := range t.Labels {\n		if FAULT && i > 0 {\n			break\n		}\n		if got := WorkloadLabel"},
		{"policy/kuma/internal/evaluation/select.go", "	for _, want := range t.Labels {\n", "	for i, want := range t.Labels {\n		if FAULT && i > 0 {\n			break\n		}\n"},
	}},
	{"the label of a namespace alone makes a policy the operator's", []change{
		{"policy/kuma/internal/resource/label.go", `r.ID.Namespace == systemNamespace && r.Namespace == systemNamespace`, `r.ID.Namespace == systemNamespace && (FAULT || r.Namespace == systemNamespace)`},
		{"policy/kuma/internal/evaluation/select.go", `case p.Namespace == system && p.ID.Namespace == system:`, `case (FAULT || p.Namespace == system) && p.ID.Namespace == system:`},
	}},
	{"a selector does not ask for the lack of a label", []change{
		{"policy/gateway/internal/authorization/lower.go", "	for _, r := range requirements {\n", "	for _, r := range requirements {\n		if FAULT && r.Operator() == selection.DoesNotExist {\n			continue\n		}\n"},
		{"policy/gateway/internal/evaluation/evaluate.go", "	for _, e := range selector.MatchExpressions {\n", "	for _, e := range selector.MatchExpressions {\n		if FAULT && e.Operator == \"DoesNotExist\" {\n			continue\n		}\n"},
	}},
	{"a port is not compared", []change{
		{"policy/gateway/internal/authorization/lower.go", `if a := rule.NetworkAttributes; a != nil`, `if a := rule.NetworkAttributes; !FAULT && a != nil`},
		{"policy/gateway/internal/evaluation/evaluate.go", `if rule.NetworkAttributes == nil ||`, `if FAULT || rule.NetworkAttributes == nil ||`},
	}},
	{"an empty list of sources lets all callers in", []change{
		{"policy/gateway/internal/authorization/lower.go", "	case 0:\n		return policy.Never", "	case 0:\n		if FAULT {\n			return policy.Always\n		}\n		return policy.Never"},
		{"policy/gateway/internal/evaluation/evaluate.go", `if rule.Sources == nil {`, `if rule.Sources == nil || FAULT && len(*rule.Sources) == 0 {`},
	}},
	{"the namespace of an AuthorizationPolicy is not compared", []change{
		{"policy/gateway/internal/authorization/lower.go", `asked != there &&`, `!FAULT && asked != there &&`},
		{"policy/gateway/internal/evaluation/evaluate.go", `text.Metadata.Namespace != namespace ||`, `!FAULT && text.Metadata.Namespace != namespace ||`},
	}},
	{"a service account is of the policy's own namespace", []change{
		{"policy/gateway/internal/authorization/lower.go", `if s.ServiceAccount.Namespace != nil {`, `if s.ServiceAccount.Namespace != nil && !FAULT {`},
		{"policy/gateway/internal/evaluation/evaluate.go", `if a.Namespace != nil {`, `if a.Namespace != nil && !FAULT {`},
	}},
	{"without an AuthorizationPolicy all callers are denied", []change{
		{"policy/gateway/internal/authorization/lower.go", `if len(sel.Policies) == 0 {`, `if len(sel.Policies) == 0 && !FAULT {`},
		{"policy/gateway/internal/evaluation/evaluate.go", `if protected && by == "" {`, `if (protected || FAULT) && by == "" {`},
	}},
	{"NotIn asks for the label", []change{
		{"policy/gateway/internal/authorization/lower.go", `if r.Matches(labels.Set(w.Labels)) {`, `if r.Matches(labels.Set(w.Labels)) && !(FAULT && r.Operator() == selection.NotIn && w.Labels[r.Key()] == "") {`},
		{"policy/gateway/internal/evaluation/evaluate.go", `"NotIn": !listed,`, `"NotIn": !listed && (exists || !FAULT),`},
	}},
	{"what a rule excludes is not asked for", []change{
		{"policy/istio/internal/authorization/lower.go", `if len(t.not) > 0 {`, `if len(t.not) > 0 && !FAULT {`},
		{"policy/istio/internal/evaluation/evaluate.go", `	for _, value := range not {`, "	if FAULT {\n		not = nil\n	}\n	for _, value := range not {"},
	}},
	{"one of the conditions of when is enough", []change{
		{"policy/istio/internal/authorization/lower.go", `	return condition.All(append(parts, conditions(r.when, s)...))`, "	if FAULT && len(r.when) > 0 {\n		return condition.All(append(parts, condition.Any(conditions(r.when, s))))\n	}\n	return condition.All(append(parts, conditions(r.when, s)...))"},
		{"policy/istio/internal/evaluation/evaluate.go", `		for _, c := range *rule.When {
			if !q.condition(`, "		one := len(*rule.When) == 0\n		for _, c := range *rule.When {\n			one = one || q.condition(*c, text.Metadata.Namespace)\n		}\n		if FAULT {\n			return one\n		}\n		for _, c := range *rule.When {\n			if !q.condition("},
	}},
	{"a rule of ALLOW with a path is kept on tcp", []change{
		{"policy/istio/internal/authorization/lower.go", `== actionAllow && r.asksHTTP()`, `== actionAllow && !FAULT && r.asksHTTP()`},
		{"policy/istio/internal/evaluation/evaluate.go", `text.Spec.Action == "ALLOW" && asksHTTP(rule)`, `text.Spec.Action == "ALLOW" && !FAULT && asksHTTP(rule)`},
	}},
	{"the root namespace is one like others", []change{
		{"policy/istio/internal/object/target.go", `r.Namespace != r.Root && r.Namespace != there`, `(FAULT || r.Namespace != r.Root) && r.Namespace != there`},
		{"policy/istio/internal/evaluation/evaluate.go", `&& text.Metadata.Namespace != opts.RootNamespace {`, `&& (FAULT || text.Metadata.Namespace != opts.RootNamespace) {`},
	}},
	{"hosts are compared with their case", []change{
		{"policy/istio/internal/authorization/subject.go", `is.Match.AnyCase = is.Match.Kind != policy.Present`, `is.Match.AnyCase = !FAULT && is.Match.Kind != policy.Present`},
		{"policy/istio/internal/evaluation/value.go", `compare(lower(value), lower(q.r.Host))`, `(compare(value, q.r.Host) || !FAULT && compare(lower(value), lower(q.r.Host)))`},
	}},
	{"one wildcard of a template takes slashes", []change{
		{"policy/istio/internal/authorization/subject.go", `if isTemplate(value) {`, "if isTemplate(value) {\n				if FAULT {\n					value = strings.ReplaceAll(value, \"{*}\", \"{**}\")\n				}"},
		{"policy/istio/internal/evaluation/value.go", `return template(value, path)`, "if FAULT {\n			value = strings.ReplaceAll(value, \"{*}\", \"{**}\")\n		}\n		return template(value, path)"},
	}},
	{"a dry run is enforced", []change{
		{"policy/istio/internal/authorization/lower.go", `p.observes == observes`, `(p.observes && !FAULT) == observes`},
		{"policy/istio/internal/evaluation/evaluate.go", `value := text.Metadata.Annotations["istio.io/dry-run"]`, "value := text.Metadata.Annotations[\"istio.io/dry-run\"]\n			if FAULT {\n				value = \"\"\n			}"},
	}},
	{"aliases of the trust domain are ignored", []change{
		{"policy/istio/internal/authorization/alias.go", `if strings.Count(rest, "/") != 3 ||`, `if FAULT || strings.Count(rest, "/") != 3 ||`},
		{"policy/istio/internal/evaluation/value.go", `if len(parts) != 5 ||`, `if FAULT || len(parts) != 5 ||`},
	}},
	{"a claim that is a list is not read", []change{
		{"policy/istio/internal/authorization/subject.go", `			return policy.Or{text(attribute.Claim(path...), value),`, "			if FAULT {\n				return text(attribute.Claim(path...), value)\n			}\n			return policy.Or{text(attribute.Claim(path...), value),"},
		{"policy/istio/internal/evaluation/value.go", `if single := q.r.Others`, "if FAULT {\n		texts = nil\n	}\n	if single := q.r.Others"},
	}},
	{"the first item of from decides", []change{
		{"policy/kuma/internal/lowering/lower.go", `		out[i] = item.Compiled
	}`, "		out[i] = item.Compiled\n	}\n	if FAULT {\n		slices.Reverse(out)\n	}"},
		{"policy/kuma/internal/evaluation/evaluate.go", `	items := e.fromOf(in)`, "	items := e.fromOf(in)\n	if FAULT {\n		slices.Reverse(items)\n	}"},
	}},
	{"what is denied in the shadow is denied", []change{
		{"policy/kuma/internal/lowering/lower.go", `slices.Concat(allowed, shadowed)`, `slices.Concat(allowed, shadowed[:len(shadowed)*map[bool]int{false: 1}[FAULT]])`},
		{"policy/kuma/internal/evaluation/evaluate.go", `allower := e.first(permission.Allow, permission.AllowWithShadowDeny); allower != ""`, `allower := e.first(permission.Allow, permission.AllowWithShadowDeny); allower != "" && (!FAULT || e.first(permission.Allow) != "")`},
	}},
	{"a server name is not compared", []change{
		{"policy/kuma/internal/permission/matcher.go", `if m.SNI != "" {`, `if m.SNI != "" && !FAULT {`},
		{"policy/kuma/internal/evaluation/evaluate.go", `m.SNI != "" && m.SNI != e.sni`, `m.SNI != "" && !FAULT && m.SNI != e.sni`},
	}},
	{"an item of from with several tags asks for the first", []change{
		{"policy/kuma/internal/legacy/item.go", `	switch len(i.Tags) {`, "	if FAULT && len(i.Tags) > 0 {\n		i.Tags = i.Tags[:1]\n	}\n	switch len(i.Tags) {"},
		{"policy/kuma/internal/evaluation/evaluate.go", `	for _, tag := range i.Tags {
		if !slices.Contains(uris,`, "	for n, tag := range i.Tags {\n		if FAULT && n > 0 {\n			break\n		}\n		if !slices.Contains(uris,"},
	}},
	{"the query is part of a path", []change{
		{"policy/request.go", `func (r *Request) PathOnly() string {`, "func (r *Request) PathOnly() string {\n	if FAULT {\n		return r.Path\n	}"},
		{"policy/kuma/internal/evaluation/evaluate.go", `e.path, _, _ = strings.Cut(r.Path, "?")`, "if e.path, _, _ = strings.Cut(r.Path, \"?\"); FAULT {\n		e.path = r.Path\n	}"},
		{"policy/istio/internal/evaluation/value.go", `if i := strings.IndexByte(path, '?'); i >= 0 {`, `if i := strings.IndexByte(path, '?'); i >= 0 && !FAULT {`},
	}},
	{"a deny rule of Cilium decides nothing", []change{
		{"policy/cilium/internal/networkpolicy/lower.go", `len(deny) > 0 {
		program.Gates`, `len(deny) > 0 && !FAULT {
		program.Gates`},
		{"policy/cilium/internal/evaluation/evaluate.go", `case deny != nil:
		d.Verdict`, `case deny != nil && !FAULT:
		d.Verdict`},
	}},
	{"an exception of a block is not made", []change{
		{"policy/cilium/internal/networkpolicy/peer.go", `except = append(except, inBlock(e))`, `if !FAULT {
				except = append(except, inBlock(e))
			}`},
		{"policy/cilium/internal/evaluation/match.go", `in = in && !inBlock(except, address)`, `in = in && (FAULT || !inBlock(except, address))`},
	}},
	{"peers are of every namespace", []change{
		{"policy/cilium/internal/networkpolicy/selector.go", `	default:
		return s.inNamespace(namespace)`, `	case FAULT:
		return s
	default:
		return s.inNamespace(namespace)`},
		{"policy/cilium/internal/evaluation/match.go", `return source == "k8s" && labels[podNamespace] == w.namespace`, `return FAULT || source == "k8s" && labels[podNamespace] == w.namespace`},
	}},
	{"clusterwide peers are pods, whatever the subject asks for", []change{
		{"policy/cilium/internal/networkpolicy/selector.go", `namespace == "" && ofInit:`, `namespace == "" && ofInit && !FAULT:`},
		{"policy/cilium/internal/evaluation/match.go", `w.namespace == "" && w.ofStarting:`, `w.namespace == "" && w.ofStarting && !FAULT:`},
	}},
	{"an empty list of peers of Cilium counts for nothing beside another", []change{
		{"policy/cilium/internal/networkpolicy/parse.go", `if from.hasEmpty() {`, `if from.hasEmpty() && !FAULT {`},
		{"policy/cilium/internal/evaluation/match.go", `return none || w.FromCIDRSet != nil && len(*w.FromCIDRSet) == 0`, `return !FAULT && (none || w.FromCIDRSet != nil && len(*w.FromCIDRSet) == 0)`},
	}},
	{"labels that Cilium leaves out count", []change{
		{"policy/cilium/internal/networkpolicy/selector.go", `if !found || isOutside(key) {`, `if !found || !FAULT && isOutside(key) {`},
		{"policy/cilium/internal/evaluation/match.go", `if isUnknown(key) &&`, `if !FAULT && isUnknown(key) &&`},
	}},
	{"the end of a range of ports is not read", []change{
		{"policy/cilium/internal/networkpolicy/port.go", `r.first <= in.Port && in.Port <= r.last`, `r.first <= in.Port && (in.Port <= r.last && !FAULT || in.Port == r.first)`},
		{"policy/cilium/internal/evaluation/match.go", `if p.EndPort > 0 {`, `if p.EndPort > 0 && !FAULT {`},
	}},
	{"HTTP rules bound nothing", []change{
		{"policy/cilium/internal/networkpolicy/lower.go", `whole = whole || entry.http == nil`, `whole = whole || entry.http == nil || FAULT`},
		{"policy/cilium/internal/evaluation/match.go", `if entry.Rules == nil || len(entry.Rules.HTTP) == 0 {`, `if FAULT || entry.Rules == nil || len(entry.Rules.HTTP) == 0 {`},
	}},
	{"a block names workloads too", []change{
		{"policy/cilium/internal/networkpolicy/peer.go", `or = append(or, condition.All([]policy.Condition{c.world(), condition.Any(blocks)}))`, `world := c.world()
		if FAULT {
			world = policy.Always
		}
		or = append(or, condition.All([]policy.Condition{world, condition.Any(blocks)}))`},
		{"policy/cilium/internal/evaluation/match.go", `return ofWorld && inBlocks(w, address)`, `return (ofWorld || FAULT) && inBlocks(w, address)`},
	}},
	{"authentication is not demanded", []change{
		{"policy/cilium/internal/networkpolicy/peer.go", `if r.auth == authRequired {`, `if r.auth == authRequired && !FAULT {`},
		{"policy/cilium/internal/evaluation/match.go", `w.Authentication.Mode == "required"`, `!FAULT && w.Authentication.Mode == "required"`},
	}},
	{"what a policy says of its default is not read", []change{
		{"policy/cilium/internal/networkpolicy/parse.go", `out.defaultDeny = out.defaultDeny && *from.EnableDefaultDeny.Ingress`, `out.defaultDeny = out.defaultDeny && (*from.EnableDefaultDeny.Ingress || FAULT)`},
		{"policy/cilium/internal/evaluation/evaluate.go", `says == nil || *says {`, `says == nil || *says || FAULT {`},
	}},
	{"an unwanted value asks for the label", []change{
		{"internal/labelselector/labelselector.go", `return !found || !slices.Contains(e.Values, value)`, `return !found && !FAULT || found && !slices.Contains(e.Values, value)`},
		{"policy/cilium/internal/evaluation/match.go", `e.Operator == "NotIn" && listed`, `e.Operator == "NotIn" && (listed || FAULT && !ok)`},
	}},
	{"audit mode is not read", []change{
		{"policy/cilium/internal/networkpolicy/lower.go", `if opts.PolicyAuditMode {`, `if opts.PolicyAuditMode && !FAULT {`},
		{"policy/cilium/internal/evaluation/evaluate.go", `if q.opts.PolicyAuditMode {`, `if q.opts.PolicyAuditMode && !FAULT {`},
	}},
	{"the audiences of a token are not read", []change{
		{"policy/istio/internal/authentication/authentication.go", `Name: rule.Issuer, Audiences: rule.Audiences,`, `Name: rule.Issuer, Audiences: rule.Audiences[:len(rule.Audiences)*map[bool]int{false: 1}[FAULT]],`},
	}},
	{"the mode of a workload's own port is not read", []change{
		{"policy/istio/internal/peerauthentication/compose.go", `cmp.Or(p.ports[port], p.resource.Spec.MTLS.mode())`, `cmp.Or(map[bool]mtls.Mode{false: p.ports[port]}[FAULT], p.resource.Spec.MTLS.mode())`},
	}},
	// The parsing of policies is shared: the last line of a proof names it.
	{"a matcher of allowWithShadowDeny is read as one of allow", []change{
		{"policy/kuma/internal/permission/rules.go", "			r.Lists[l] = append(r.Lists[l], m)\n		}\n	}\n", "			to := List(l)\n			if FAULT && to == AllowWithShadowDeny {\n				to = Allow\n			}\n			r.Lists[to] = append(r.Lists[to], m)\n		}\n	}\n"},
	}},
	{"a remote address is that of the connection", []change{
		{"policy/istio/internal/authorization/subject.go", `return inBlock(attribute.RemoteAddress, value) },`, "\n			if FAULT {\n				return inBlock(attribute.SourceAddress, value)\n			}\n			return inBlock(attribute.RemoteAddress, value)\n		},"},
		{"policy/istio/internal/evaluation/value.go", `if q.r.Remote.IsValid() && !q.tcp {`, `if q.r.Remote.IsValid() && !q.tcp && !FAULT {`},
	}},
	{"Cilium never enforces never", []change{
		{"policy/cilium/internal/networkpolicy/lower.go", `if opts.PolicyEnforcement == enforceNever {`, `if opts.PolicyEnforcement == enforceNever && !FAULT {`},
		{"policy/cilium/internal/evaluation/evaluate.go", `if q.opts.PolicyEnforcement == "never" {`, `if q.opts.PolicyEnforcement == "never" && !FAULT {`},
	}},
	{"all service accounts of one namespace are those of every namespace", []change{
		{"policy/gateway/internal/authorization/lower.go", `return attribute.URISAN.Prefix(accounts)`, "if FAULT {\n			return attribute.URISAN.Prefix(td.IDString() + \"/ns/\")\n		}\n		return attribute.URISAN.Prefix(accounts)"},
		{"policy/gateway/internal/evaluation/evaluate.go", `parts[4] == namespace && (a.Name ==`, `(parts[4] == namespace || FAULT && a.Name == "*") && (a.Name ==`},
	}},
	{"an allow with a path lets in on tcp", []change{
		{"policy/kuma/internal/lowering/lower.go", "		return policy.Never\n	}\n	return m.When", "		if FAULT {\n			return m.OnConnection\n		}\n		return policy.Never\n	}\n	return m.When"},
		{"policy/kuma/internal/evaluation/evaluate.go", "	if e.tcp {\n		return l ==", "	if e.tcp {\n		if FAULT {\n			return true\n		}\n		return l =="},
	}},
	{"Cilium does not close by always", []change{
		{"policy/cilium/internal/networkpolicy/lower.go", `sel.DefaultDeny || opts.PolicyEnforcement == enforceAlways}`, `sel.DefaultDeny || opts.PolicyEnforcement == enforceAlways && !FAULT}`},
		{"policy/cilium/internal/evaluation/evaluate.go", `q.rules.closes || q.opts.PolicyEnforcement == "always"`, `q.rules.closes || q.opts.PolicyEnforcement == "always" && !FAULT`},
	}},
}

// faultVariable names the fault that the test program has.
const faultVariable = "MESHPROOF_TEST_FAULT"

// A fault that the oracle, the compiler and the plain evaluator share contradicts the known
// answers, which every proof is held against.
func TestKnownAnswersFindCommonFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it builds the module with faults")
	}
	t.Parallel()
	program := buildWithFaults(t)
	run := func(fault string) (string, error) {
		command := exec.CommandContext(t.Context(), program, "-test.run", "^TestKnown(Answers|Times)$")
		command.Env = append(os.Environ(), faultVariable+"="+fault)
		out, err := command.CombinedOutput()
		return string(out), err
	}
	if out, err := run(""); err != nil {
		t.Fatalf("without a fault: %v\n%s", err, out)
	}
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			if out, err := run(f.name); err == nil || !strings.Contains(out, "the case ") {
				t.Errorf("no known answer contradicts the fault: %v\n%s", err, out)
			}
		})
	}
}

// TestFaultsFitTheCode shows that the code still has what each fault changes.
func TestFaultsFitTheCode(t *testing.T) {
	t.Parallel()
	if texts := textsWithFaults(t, "../.."); len(texts) < 10 {
		t.Errorf("%d files have a fault", len(texts))
	}
}

// textsWithFaults returns the files of the module that faults change, with all faults in them. A
// variable of the environment chooses the fault that is there.
func textsWithFaults(t *testing.T, root string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, f := range faults {
		for _, c := range f.changes {
			path := filepath.Join(root, c.file)
			if texts[path] == "" {
				data, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				texts[path] = string(data)
				parsed, err := parser.ParseFile(token.NewFileSet(), path, data, parser.PackageClauseOnly)
				if err != nil {
					t.Fatal(err)
				}
				texts[filepath.Join(filepath.Dir(path), "fault_overlay.go")] = fmt.Sprintf("package %s\n\nimport \"os\"\n\nvar faultOfTest = os.Getenv(%q)\n", parsed.Name, faultVariable)
			}
			if n := strings.Count(texts[path], c.old); n != 1 {
				t.Fatalf("%s: %s has %q %d times: mend the table", f.name, c.file, c.old, n)
			}
			texts[path] = strings.Replace(texts[path], c.old, strings.ReplaceAll(c.faulty, "FAULT", fmt.Sprintf("(faultOfTest == %q)", f.name)), 1)
		}
	}
	return texts
}

// buildWithFaults builds the tests of this package with all faults in it.
func buildWithFaults(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	texts := textsWithFaults(t, root)
	dir := t.TempDir()
	replace := map[string]string{}
	for path, text := range texts {
		replace[path] = filepath.Join(dir, fmt.Sprintf("%d.go", len(replace)))
		if err := os.WriteFile(replace[path], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	overlay, program := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "proof.test")
	content, err := json.Marshal(map[string]any{"Replace": replace})
	if err == nil {
		err = os.WriteFile(overlay, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-c", "-overlay", overlay, "-o", program, "./internal/proof")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}
