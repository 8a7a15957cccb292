package networkpolicy

import (
	"net/netip"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// Lint warns, in the order of ps, of policies that select no workload, of rules that let
// no caller in or name no workload, and of fields that may not mean what they seem to. Behind these
// warnings are those of rules that another rule makes moot.
func Lint(ps []Policy, inbounds []policy.Inbound, opts Options) []policy.Warning {
	c := callersOf(opts)
	identities := make([]identity, len(inbounds))
	for i, in := range inbounds {
		identities[i] = identityOf(in.Workload, opts)
	}
	var out []policy.Warning
	for _, p := range ps {
		out = append(out, p.lintReach(inbounds, identities)...)
		for _, s := range p.specs {
			var selected []policy.Inbound
			for i, in := range inbounds {
				if s.subject.selects(identities[i]) {
					selected = append(selected, in)
				}
			}
			if s.idle {
				out = append(out, p.warn(warning.IdleDefaultDeny, s.field+".enableDefaultDeny.ingress", "the spec has no rule of ingress, so that it closes nothing: write ingress: [{}] to close every inbound"))
			}
			for _, r := range slices.Concat(s.deny, s.allow) {
				out = append(out, p.lintPeers(r, c)...)
				out = append(out, p.lintPorts(r, selected)...)
				out = append(out, p.lintHTTP(r)...)
				out = append(out, p.lintAuthentication(r, c)...)
				if s.defaultDeny {
					out = append(out, p.lintHead(r)...)
				}
			}
			out = append(out, p.lintSplit(s.allow)...)
			out = append(out, p.lintBlocks(s)...)
			if !s.defaultDeny && hasHTTP(s.allow) {
				out = append(out, p.warn(warning.OpenHTTP, s.field+".enableDefaultDeny", "no rule of this spec closes anything, so that its HTTP rules refuse no request unless another policy sets default deny"))
			}
		}
	}
	return append(out, lintTogether(ps, inbounds, identities, c, opts)...)
}

// lintReach warns where a policy with endpoints selects no workload.
func (p Policy) lintReach(inbounds []policy.Inbound, identities []identity) []policy.Warning {
	if labels := p.lintSubjects(); labels != nil {
		return labels
	}
	if len(p.specs) == 0 || len(inbounds) == 0 || p.ofEgress() || slices.ContainsFunc(identities, p.selects) {
		return nil
	}
	nearest, reason := p.nearest(inbounds, identities)
	return []policy.Warning{p.warn(warning.SelectsNothing, "", "the policy selects no workload (%s: %s)", nearest.Name, reason)}
}

// leavesOut says why no identity has a label, and what to do.
const (
	leftOut   = "which Cilium leaves out of the identities of pods"
	askForOwn = ": ask for a label of your own"
	leavesOut = leftOut + askForOwn
)

// lintSubjects warns of subjects by a label that no identity has.
func (p Policy) lintSubjects() (out []policy.Warning) {
	for _, s := range p.specs {
		if label := s.subject.wantsOutside(); label != "" {
			out = append(out, p.warn(warning.SelectsNothing, s.subject.field, "the selector selects no workload: it asks for the label %s, %s", label, leavesOut))
		} else if i := slices.IndexFunc(s.subject.requirements, requirement.isOutside); i >= 0 {
			out = append(out, p.warn(warning.NeverMatches, s.subject.field, "the selector leaves no workload out by the label %s, %s", s.subject.requirements[i].key, leavesOut))
		}
	}
	return out
}

func (p Policy) lintPeers(r rule, c callers) (out []policy.Warning) {
	for _, s := range r.peers.endpoints {
		i := slices.IndexFunc(s.requirements, func(of requirement) bool {
			return of.key == namespaceNameLabel && of.source != sourceReserved || of.isOutside()
		})
		if i < 0 {
			continue
		}
		asked := s.requirements[i]
		why, advice := leftOut, askForOwn
		if asked.key == namespaceNameLabel {
			why, advice = "which is one of namespaces", ": ask for "+namespaceLabel
		}
		if asked.meets(identity{}) {
			out = append(out, p.warn(warning.NoPeer, s.field, "no pod has the label %s, %s, so that each pod meets this%s", asked.key, why, advice))
		} else {
			return append(out, p.warn(warning.NoPeer, s.field, "no pod has the label %s, %s%s", asked.key, why, advice))
		}
	}
	workloads, everyWorld, blocks := c.selected(r.peers)
	switch {
	case r.ports == nil && !r.icmp && !r.peers.everyone && r.peers.endpoints == nil && r.peers.entities == nil && r.peers.blocks == nil:
		out = append(out, p.warn(warning.EmptyRule, r.field, "the rule names neither peers nor ports, or an empty list of peers: it lets no caller in, and closes what no other rule allows"))
	case slices.ContainsFunc(r.peers.entities, func(entity string) bool { return !slices.Contains(played, entity) }):
		// It is about nodes, the API server or others that no case describes.
	case len(c.workloads) > 0 && len(workloads) == 0 && !everyWorld && blocks == nil:
		out = append(out, p.warn(warning.NoPeer, r.field, "the rule is about no caller: no workload that is known is among its peers, or the list of them is empty"))
	}
	if r.peers.endpoints != nil && everyWorld {
		out = append(out, p.warn(warning.WorldByLabel, r.field, "the selector is met by what has no labels: the world is among the peers"))
	}
	return out
}

// lintPorts warns of a port that no selected workload has, and of HTTP rules on tcp.
func (p Policy) lintPorts(r rule, selected []policy.Inbound) (out []policy.Warning) {
	for _, entry := range r.ports {
		var on []policy.Inbound
		for _, in := range selected {
			if slices.ContainsFunc(entry.ports, func(of portRange) bool { return of.has(in) }) {
				on = append(on, in)
			}
		}
		tcp := slices.ContainsFunc(entry.ports, func(of portRange) bool { return of.tcp })
		switch {
		case len(entry.ports) == 0:
			out = append(out, p.warn(warning.EmptyRule, entry.field, "the entry has no port, and is about none: leave toPorts out for every port"))
		case len(selected) > 0 && len(on) == 0 && tcp:
			out = append(out, p.warn(warning.PortOfNoInbound, entry.field, "no selected workload has an inbound on the port: a port is the workload's, not that of a Service"))
		case entry.http != nil && slices.ContainsFunc(on, func(in policy.Inbound) bool { return in.Protocol == policy.TCP }):
			out = append(out, p.warn(warning.HTTPOnTCP, entry.field, "the inbound speaks no HTTP: the rule lets no caller in there"))
		}
	}
	return out
}

// lintSplit warns of a rule of callers beside a rule of ports, of which neither bounds the other: their author may have
// meant one rule. Rules of HTTP have a warning of their own, see lintTogether.
func (p Policy) lintSplit(allow []rule) (out []policy.Warning) {
	isOfCallers := func(r rule) bool {
		return (r.peers.endpoints != nil || r.peers.blocks != nil) && r.ports == nil && !r.icmp
	}
	isOfPorts := func(r rule) bool { return r.peers.everyone && r.ports != nil && !hasHTTP([]rule{r}) }
	for i := 1; i < len(allow); i++ {
		callers, ports := allow[i-1], allow[i]
		if isOfPorts(callers) {
			callers, ports = ports, callers
		}
		if isOfCallers(callers) && isOfPorts(ports) {
			out = append(out, p.warn(warning.SplitRule, ports.field, "the rule lets in everybody on its ports, and %s lets in its callers on every port: write peers and toPorts in one item if both have to hold", callers.field))
		}
	}
	return out
}

// private are the blocks that addresses of pods are taken from, as a rule.
var private = []netip.Prefix{
	netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"), netip.MustParsePrefix("192.168.0.0/16"),
	netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("fc00::/7"),
}

// lintBlocks warns of a block of private addresses that is denied beside a rule that lets each pod in: no pod is in a block.
func (p Policy) lintBlocks(s spec) (out []policy.Warning) {
	opens := slices.IndexFunc(s.allow, func(r rule) bool {
		return r.peers.everyone || slices.ContainsFunc(r.peers.entities, func(e string) bool { return e == entityAll || e == entityCluster })
	})
	if opens < 0 {
		return nil
	}
	for _, r := range s.deny {
		if i := slices.IndexFunc(r.peers.blocks, func(b block) bool { return isLeftOut(b.prefix, private) }); i >= 0 {
			out = append(out, p.warn(warning.NoPeer, r.field, "Cilium knows a pod by its labels, so that no pod is in %s, whatever its address: this denies none of the pods that %s lets in; name them with fromEndpoints", r.peers.blocks[i].prefix, s.allow[opens].field))
		}
	}
	return out
}

// lintAuthentication warns of a demand that the callers of the rule cannot meet, and of one that
// a later release of Cilium drops.
func (p Policy) lintAuthentication(r rule, c callers) (out []policy.Warning) {
	if r.auth != authRequired && r.auth != authFail {
		return nil
	}
	if workloads, everyWorld, blocks := c.selected(r.peers); r.auth == authRequired && len(workloads) == 0 && (everyWorld || blocks != nil) {
		out = append(out, p.warn(warning.NoPeer, r.field+".authentication", "the rule demands that callers prove their identity, and the world has none: it lets no caller in"))
	}
	return append(out, p.warn(warning.MutualAuthentication, r.field+".authentication", "Cilium 1.20 deprecates mutual authentication, and its agent has it off (mesh-auth-enabled) unless somebody turns it on: off, this rule lets nobody in, and a later release may let its callers in without a proof"))
}

// lintHTTP warns of expressions that hardly mean what they say.
func (p Policy) lintHTTP(r rule) (out []policy.Warning) {
	for _, entry := range r.ports {
		for _, when := range entry.http {
			for c := range policy.Walk(when) {
				if is, ok := c.(policy.Is); ok && is.Match.Kind == policy.Regex {
					out = append(out, p.lintRegex(entry.field, is)...)
				}
			}
		}
	}
	return out
}

// lintHead warns of HTTP rules that refuse HEAD where they let GET in.
func (p Policy) lintHead(r rule) (out []policy.Warning) {
	for _, entry := range r.ports {
		if takesMethod(entry.http, "GET") && !takesMethod(entry.http, "HEAD") {
			out = append(out, p.warn(warning.GetWithoutHead, entry.field, "GET is let in, and HEAD is not: clients and health checks that ask with HEAD get 403; write GET|HEAD to let both in"))
		}
	}
	return out
}

// takesMethod reports whether one of the HTTP rules takes a method.
func takesMethod(http []policy.Condition, method string) bool {
	return slices.ContainsFunc(http, func(when policy.Condition) bool {
		for c := range policy.Walk(when) {
			if is, ok := c.(policy.Is); ok && is.Attribute == attribute.Method {
				compiled, err := regexp.Compile("^(?:" + is.Match.Value + ")$")
				return err == nil && compiled.MatchString(method)
			}
		}
		return true
	})
}

func (p Policy) lintRegex(field string, is policy.Is) (out []policy.Warning) {
	text := strings.TrimPrefix(is.Match.Value, "^")
	switch {
	case is.Attribute == attribute.Method && text == strings.ToLower(text) && strings.ToUpper(text) != text:
		return []policy.Warning{p.warn(warning.NeverMatches, field, "methods are compared as they stand: write %s", strings.ToUpper(text))}
	case is.Attribute == attribute.Method:
		return nil
	case is.Attribute.Name == "header :path" && isNoPath(text):
		return []policy.Warning{p.warn(warning.NeverMatches, field, "a path begins with a slash, and is compared from its beginning: write /%s", text)}
	case is.Attribute.Name == "header :path" && glob.MatchString(text):
		slashes := glob.FindString(text)
		out = append(out, p.warn(warning.PathWithQuery, field, "the star repeats the slash, so that %s takes no path below it and no query: write %s", is.Match.Value, strings.Replace(is.Match.Value, slashes, "/."+slashes[1:], 1)))
	case is.Attribute.Name == "header :path" && text != "" && text[0] == '/' && !matchesQuery(is):
		out = append(out, p.warn(warning.PathWithQuery, field, "the path is compared with its query: %s does not match a request with one", is.Match.Value))
	}
	if parsed, err := syntax.Parse(is.Match.Value, syntax.Perl); err == nil && hasLoneDot(parsed) {
		out = append(out, p.warn(warning.DotForAny, field, "the dot stands for any character in %s: write \\. for the dot itself", is.Match.Value))
	}
	return out
}

// glob finds a star behind a slash at the end of an expression, or of an alternative.
var glob = regexp.MustCompile(`/\*(\||\$|$)`)

// isNoPath reports whether an expression begins with a character that no path begins with.
func isNoPath(text string) bool {
	compiled, err := regexp.Compile(text)
	if err != nil {
		return false
	}
	prefix, _ := compiled.LiteralPrefix()
	return prefix != "" && prefix[0] != '/' && prefix[0] != '*'
}

// hasLoneDot reports whether an expression has a dot that stands between characters, and for one.
func hasLoneDot(e *syntax.Regexp) bool {
	if e.Op == syntax.OpConcat {
		for i, sub := range e.Sub {
			if i > 0 && i < len(e.Sub)-1 && (sub.Op == syntax.OpAnyChar || sub.Op == syntax.OpAnyCharNotNL) && e.Sub[i-1].Op == syntax.OpLiteral && e.Sub[i+1].Op == syntax.OpLiteral {
				return true
			}
		}
	}
	return slices.ContainsFunc(e.Sub, hasLoneDot)
}

// matchesQuery reports whether an expression that begins with a path takes one with a query.
func matchesQuery(is policy.Is) bool {
	return strings.HasSuffix(strings.TrimSuffix(is.Match.Value, "$"), "*") || strings.Contains(is.Match.Value, "?")
}

func hasHTTP(rules []rule) bool {
	return slices.ContainsFunc(rules, func(r rule) bool {
		return slices.ContainsFunc(r.ports, func(entry portRule) bool { return entry.http != nil })
	})
}
