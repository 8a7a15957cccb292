package authorization

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/rendering"
	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
)

// Lint warns, in the order of ps, of empty lists, of rules that Istio widens or leaves out on
// tcp, of values that no request has, of tokens that an inbound does not read, of negative sources that a
// caller without a name meets, of policies that select no workload, of ports that no
// selected workload has, and of rules without effect on every inbound. Demand says what an
// inbound demands of tokens.
func Lint(ps []Policy, inbounds []policy.Inbound, opts Options, demand func(policy.Inbound) token.Demand) []policy.Warning {
	var out []policy.Warning
	survey := survey{ps, opts, demand, map[string]surveyed{}}
	readsTokens := func(in policy.Inbound) bool { return demand(in).Reads() }
	for _, p := range ps {
		var selected []policy.Inbound
		for _, in := range inbounds {
			if p.missReason(in.Workload, opts) == nil {
				selected = append(selected, in)
			}
		}
		if len(inbounds) > 0 && len(selected) == 0 {
			nearest, reason := capability.Nearest(inbounds, func(in policy.Inbound) iter.Seq[capability.Miss] { return p.reach(opts).Misses(in.Workload) })
			out = append(out, p.warn(warning.SelectsNothing, "", "the policy selects no workload (%s: %s)", nearest.Workload.Name, reason))
		}
		ambient := inAmbient(selected)
		if ambient {
			out = append(out, p.lintAmbient()...)
		}
		out = append(out, p.lintCustom(ps, selected, opts)...)
		for i, r := range p.rules {
			if ambient {
				out = append(out, p.lintAmbientRule(r, opts)...)
			}
			out = append(out, p.lintEmpty(r.field, (*p.resource.Spec.Rules)[i])...)
			before := len(out)
			out = append(out, p.lintTCP(r, selected)...)
			out = append(out, p.lintNegative(r)...)
			out = append(out, p.lintLines(r)...)
			out = append(out, p.lintServerNames(r)...)
			out = append(out, p.lintForwarded(r, selected)...)
			out = append(out, p.lintTokens(r, selected, readsTokens)...)
			out = append(out, p.lintValues(r, selected, opts)...)
			// A rule that also takes longer names may be without effect all the same.
			warned := slices.ContainsFunc(out[before:], func(w policy.Warning) bool { return !isInsideName(w.Kind) })
			out = append(out, survey.lintFate(p, i, selected, warned)...)
			if !ambient {
				out = append(out, survey.lintSpelling(p, i, selected)...)
			}
		}
		out = append(out, p.lintSplit()...)
		out = append(out, p.lintOpen()...)
	}
	return out
}

// lintValues warns of values that do not mean what their author may think.
func (p Policy) lintValues(r rule, selected []policy.Inbound, opts Options) (out []policy.Warning) {
	for t := range r.terms {
		for field, values := range t.lists {
			for i, value := range values {
				if rendering.PlaceholderIn(value) != "" {
					continue // there is a warning of its own, and what is applied is unknown
				}
				kind, reason := t.subject.lint(value, values, selected, opts)
				// Here a star keeps longer names out, and without it they would be let in.
				keepsOut := isInsideName(kind) && (p.resource.Spec.Action == actionDeny) != isNegative(field)
				if kind != "" && !keepsOut {
					out = append(out, p.warn(kind, item(field, i), "%s", reason))
				}
			}
		}
	}
	return out
}

// lintEmpty warns of a list that is empty.
func (p Policy) lintEmpty(field string, r *Rule) (out []policy.Warning) {
	if r.From != nil && len(*r.From) == 0 {
		out = append(out, p.warn(warning.EmptyList, field+".from", "Istio reads the empty list as an absent one, which every caller meets: leave the field out, or name callers"))
	}
	if r.To != nil && len(*r.To) == 0 {
		out = append(out, p.warn(warning.EmptyList, field+".to", "Istio reads the empty list as an absent one, which every request meets: leave the field out, or name operations"))
	}
	return out
}

// lintTCP warns of the first field of a rule that a selected tcp inbound does not have.
func (p Policy) lintTCP(r rule, selected []policy.Inbound) []policy.Warning {
	i := slices.IndexFunc(selected, func(in policy.Inbound) bool { return in.Protocol.Layer() == policy.L4 && r.reaches(in.Port) })
	if i < 0 || !r.asksHTTP() {
		return nil
	}
	field := ""
	for t := range r.terms {
		if t.subject.http {
			t.lists(func(at string, _ []string) bool { field = at; return false })
			break
		}
	}
	if p.resource.Spec.Action == actionAllow {
		return []policy.Warning{p.warn(warning.HTTPOnTCP, field, "tcp inbound %s has no field of HTTP: there Istio leaves the whole rule out, and it allows nothing", selected[i])}
	}
	return []policy.Warning{p.warn(warning.HTTPOnTCP, field, "tcp inbound %s has no field of HTTP: there Istio leaves this field out, and the rule matches more: name the ports of HTTP", selected[i])}
}

// reaches reports whether the rule can match on a port.
func (r rule) reaches(port uint16) bool {
	names := func(values []string) bool {
		return slices.ContainsFunc(values, func(value string) bool { return portOf(value) == uint64(port) })
	}
	admits := func(terms []term) bool {
		return !slices.ContainsFunc(terms, func(t term) bool {
			return t.subject.name == "ports" && (len(t.values) > 0 && !names(t.values) || names(t.not))
		})
	}
	return admits(r.when) && (r.to == nil || slices.ContainsFunc(r.to, admits))
}

// lintTokens warns of the first field about a token where an inbound reads none.
func (p Policy) lintTokens(r rule, selected []policy.Inbound, readsTokens func(policy.Inbound) bool) []policy.Warning {
	for t := range r.terms {
		if t.subject.name != "requestPrincipals" && !strings.HasPrefix(t.subject.name, "request.auth.") {
			continue
		}
		blind := func(in policy.Inbound) bool { return in.Protocol.Layer() == policy.L7 && !readsTokens(in) }
		if i := slices.IndexFunc(selected, blind); i >= 0 {
			field := ""
			t.lists(func(at string, _ []string) bool { field = at; return false })
			return []policy.Warning{p.warn(warning.NoTokenIsRead, field, "no RequestAuthentication applies to inbound %s, so that no request has a principal or a claim there", selected[i])}
		}
	}
	return nil
}

// lintLines warns of a value of a header that a rule refuses: a caller writes another value beside
// it, into the same line or, where Envoy joins the lines, into another one.
func (p Policy) lintLines(r rule) (out []policy.Warning) {
	for _, t := range r.when {
		name, path, _ := cutBrackets(t.subject.name)
		if name != "request.headers" || strings.HasPrefix(path[0], ":") {
			continue
		}
		field, refused := p.refused(t)
		other := "notValues"
		if p.resource.Spec.Action == actionAllow {
			other = "values"
		}
		kind, how := warning.OneLineOfMany, "the value is compared with a whole line, and a caller may write several values into one line"
		if requestline.IsOneLine(strings.ToLower(path[0])) {
			kind, how = warning.LinesJoined, fmt.Sprintf("Envoy joins all lines of %s to one text, and a caller may send the header twice", path[0])
		}
		for i, value := range refused {
			if value != "*" {
				out = append(out, p.warn(kind, item(field, i), "%s: name what is allowed in %s", how, other))
			}
		}
	}
	return out
}

// refused returns the values of a term that keep callers out, with the field of their list: those of a DENY, and the excluded ones of an ALLOW.
func (p Policy) refused(t term) (field string, values []string) {
	switch p.resource.Spec.Action {
	case actionDeny:
		return t.field, t.values
	case actionAllow:
		return t.notField, t.not
	default:
		return "", nil
	}
}

// endsInName reports whether the beginning of a path breaks off inside a name, or behind a whole one.
func endsInName(begin string) bool {
	last, _ := utf8.DecodeLastRuneInString(begin)
	return unicode.IsLetter(last) || unicode.IsDigit(last)
}

// startsInName reports whether the end of a name breaks off inside it.
func startsInName(end string) bool {
	first, _ := utf8.DecodeRuneInString(end)
	return unicode.IsLetter(first) || unicode.IsDigit(first)
}

// isInsideName reports whether a warning is about a star behind the beginning of a name.
func isInsideName(kind warning.Kind) bool {
	return kind == warning.PathInsideName || kind == warning.PrefixInsideName
}

// isNegative reports whether a field lists what must not be, such as notPaths.
func isNegative(field string) bool {
	return strings.HasPrefix(field[strings.LastIndexByte(field, '.')+1:], "not")
}

// lintTokenPrincipal says why no token has a principal; the kind is "" where one may.
func lintTokenPrincipal(value string) (kind warning.Kind, reason string) {
	issuer, subject, _ := cutLast(value)
	if strings.Contains(value, "*") || subject != "" && !strings.HasSuffix(issuer, ":/") {
		return "", ""
	}
	return warning.NeverMatches, fmt.Sprintf("a principal of a token is ISSUER/SUBJECT: write %s/* for all subjects of an issuer", value)
}

// lint says why a value does not do what its author may mean; the kind is "" where it may. The
// values are all of its list.
func (s *subject) lint(value string, values []string, selected []policy.Inbound, opts Options) (kind warning.Kind, reason string) {
	// A star at the start makes one at the end the character itself.
	rest, starts := strings.CutPrefix(value, "*")
	if !starts {
		rest = strings.TrimSuffix(value, "*")
	}
	switch s.name {
	case "principals", "namespaces", "trustDomains":
		if kind, reason := lintName(s.name, value); kind != "" {
			return kind, reason
		}
	case "serviceAccounts":
		return lintAccount(s.name, value)
	case "requestPrincipals":
		return lintTokenPrincipal(value)
	case "connection.sni":
		if kind, reason := lintServerName(value); kind != "" {
			return kind, reason
		}
	case "methods":
		if strings.ContainsAny(value, "|,; ") {
			return warning.NeverMatches, "a value is one method, and is compared as a whole: write each method as a value of its own"
		}
		if value != strings.ToUpper(value) {
			return warning.NeverMatches, "methods are compared as they stand: write " + strings.ToUpper(value)
		}
	case "paths":
		if isTemplate(value) {
			return "", ""
		}
		if strings.ContainsAny(value, "?#") {
			return warning.NeverMatches, "a path is compared without its query and fragment"
		}
		if value[0] != '/' && value[0] != '*' {
			return warning.NeverMatches, "every path begins with a slash: write /" + value
		}
		if reason := opts.rewritten(value); reason != "" {
			return warning.NeverMatches, reason
		}
		if begin, ends := strings.CutSuffix(value, "*"); ends && !starts && endsInName(begin) {
			return warning.PathInsideName, fmt.Sprintf("the star also stands for the rest of a longer name, as in %s-internal: write %s and %s/*", begin, begin, begin)
		}
	case "hosts":
		name := func(other string) bool { return strings.HasPrefix(other, value+":") }
		if _, bare, schemed := strings.Cut(value, "://"); strings.ContainsAny(value, "/?#") {
			if !schemed {
				bare = value
			}
			if end := strings.IndexAny(bare, "/?#"); end >= 0 {
				bare = bare[:end]
			}
			advice := ""
			if bare != "" {
				advice = ": write " + bare
			}
			return warning.NeverMatches, "a host has neither a scheme nor a path, and Envoy refuses a request with such a host" + advice
		}
		switch {
		case strings.Contains(value, ":"), value == "*", !starts && rest != value, slices.ContainsFunc(values, name):
		case starts:
			return warning.HostWithoutPort, "a caller may send the port too, which is compared as part of the host, and no value has a star at both ends: add each port, as in " + value + ":8080"
		default:
			return warning.HostWithoutPort, "a caller may send the port too, which is compared as part of the host: add " + value + ":*"
		}
	case "ports":
		if len(selected) > 0 && !slices.ContainsFunc(selected, func(in policy.Inbound) bool { return uint64(in.Port) == portOf(value) }) {
			return warning.PortOfNoInbound, "no selected workload has an inbound on the port: a port is the workload's, not that of a Service"
		}
	}
	if s.name != "namespaces" && strings.Contains(rest, "*") {
		return warning.StarInTheMiddle, "a star inside a value is the character itself: only one at the start or the end stands for other text"
	}
	return "", ""
}
