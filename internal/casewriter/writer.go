// Package casewriter writes cases as case files. Package cases reads them.
package casewriter

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

// YAML returns a file with one case. It leaves out what has its default value. [cases.Parse] reads an equal case from the
// file, apart from Place, Source and the names of callers, if a case file can state the case at all. It can for every case
// that Parse returned.
//
// A caller that needs an entry under callers keeps its name where the entry may have it. Other callers get a name made of
// their certificate.
func YAML(c cases.Case) []byte {
	p := printer{c: c, callers: newCallerNames(c), tokens: newTokenNames(c)}
	p.head()
	p.workloads()
	p.callerEntries()
	p.tokenEntries()
	outbounds, routes := p.routing()
	p.documents("outbounds", outbounds)
	p.policies(routes)
	p.requests()
	p.counters()
	p.field("expectError", text(c.ExpectError))
	if len(c.ExpectWarnings) == 1 {
		p.field("expectWarning", quote(c.ExpectWarnings[0]))
	} else {
		p.field("expectWarning", texts(c.ExpectWarnings))
	}
	return []byte(p.b.String())
}

// printer writes one case, field by field.
type printer struct {
	c       cases.Case
	b       strings.Builder
	callers *callerNames
	tokens  *tokenNames
}

// field writes a line at the top, unless the value is "".
func (p *printer) field(key, value string) {
	if value != "" {
		p.line(0, key+": "+value)
	}
}

func (p *printer) line(indent int, text string) {
	p.b.WriteString(strings.Repeat(" ", indent))
	p.b.WriteString(text)
	p.b.WriteByte('\n')
}

func (p *printer) head() {
	c := p.c
	p.field("case", sentence(c.Name))
	p.field("advisory", advisoryText(c.Advisory))
	p.field("story", text(c.Story))
	p.field("features", texts(c.Features))
	p.field("envoy", gateText(c.Gate))
	var names []string
	for _, td := range c.TrustDomains {
		names = append(names, td.Name())
	}
	if !slices.Equal(names, []string{casefile.DefaultTrustDomain}) {
		p.field("trustDomains", texts(names))
	}
	p.field("options", p.options())
}

// advisoryText is an advisory; "" for none.
func advisoryText(a *cases.Advisory) string {
	if a == nil {
		return ""
	}
	var advisory fields
	advisory.add("id", text(a.ID))
	advisory.add("aliases", texts(a.Aliases))
	advisory.add("product", text(a.Product))
	advisory.add("loses", text(a.Loses))
	advisory.add("fixed", texts(a.Fixed))
	return advisory.flow()
}

func (p *printer) options() string {
	n := p.c.Normalization
	var normalization fields
	if n.Raw {
		normalization.add("normalizePath", "false")
	}
	if n.KeepSlashes {
		normalization.add("mergeSlashes", "false")
	}
	if n.EscapedSlashes != 0 {
		normalization.add("escapedSlashes", n.EscapedSlashes.String())
	}
	var options fields
	document := p.c.Options.Document
	for _, key := range document.Keys() {
		value, _ := document.Lookup(key)
		options.add(key, value.Flow())
	}
	options.add("pathNormalization", normalization.orNone())
	return options.orNone()
}

// policies writes the policies, and behind them the routes and timeouts.
func (p *printer) policies(routes []manifest.Document) {
	if p.c.Policies != nil && len(p.c.Policies)+len(routes) == 0 {
		p.field("policies", "[]")
		return
	}
	p.documents("policies", slices.Concat(p.c.Policies, routes))
}

func (p *printer) documents(key string, docs []manifest.Document) {
	if len(docs) == 0 {
		return
	}
	p.line(0, key+":")
	for _, doc := range docs {
		// The YAML of a document has no text over several lines.
		p.item(strings.Split(cmp.Or(strings.TrimSuffix(string(doc.YAML()), "\n"), "null"), "\n"))
	}
}

// item writes lines as an item of a list at the top.
func (p *printer) item(lines []string) {
	for i, line := range lines {
		if i == 0 {
			line = "- " + line
		} else {
			line = "  " + line
		}
		p.line(2, line)
	}
}

// gateText is a gate, or a list of gates; at least one of them has to admit. It is "" for the zero value.
func gateText(g cases.Gate) string {
	if len(g.AnyOf) > 0 {
		all := make([]string, len(g.AnyOf))
		for i, one := range g.AnyOf {
			all[i] = gateText(one)
		}
		return "[" + strings.Join(all, ", ") + "]"
	}
	var gate, behaves fields
	gate.add("from", text(g.From))
	gate.add("before", text(g.Before))
	for _, c := range g.Behaves {
		behaves.add(c.Behavior.String(), c.Answer())
	}
	gate.add("behaves", behaves.orNone())
	return gate.orNone()
}

func (p *printer) counters() {
	if len(p.c.Counters) == 0 {
		return
	}
	p.line(0, "counters:")
	// The counters of the rules stand behind those of their inbound.
	for i := 0; i < len(p.c.Counters); {
		var inbound, rules fields
		name := p.c.Counters[i].Inbound
		for ; i < len(p.c.Counters) && p.c.Counters[i].Inbound == name; i++ {
			c, of := p.c.Counters[i], &inbound
			if c.Rule != "" {
				of = new(fields)
			}
			of.add("allowed", number(c.Allowed))
			of.add("denied", number(c.Denied))
			of.add("shadow_allowed", number(c.ShadowAllowed))
			of.add("shadow_denied", number(c.ShadowDenied))
			if c.Rule != "" {
				rules.add(quote(c.Rule), of.flow())
			}
		}
		inbound.add("rules", rules.orNone())
		p.line(2, quote(name)+": "+inbound.flow())
	}
}

func (p *printer) requests() {
	if len(p.c.Requests)+len(p.c.RoutedRequests) == 0 {
		return
	}
	p.line(0, "requests:")
	items(p, p.c.Requests, func(q *cases.Request) *string { return &q.Path }, p.request)
	items(p, p.c.RoutedRequests, func(r *casefile.RoutedRequest) *string { return &r.Path }, routedRequest)
}

// items writes requests. Those that differ in their path only become one item with a list of paths.
func items[R any](p *printer, all []R, path func(*R) *string, item func([]R) string) {
	for len(all) > 0 {
		n := 1
		if first := *path(&all[0]); first != "" {
			line := item(all[:1])
			for ; n < len(all); n++ {
				next := all[n]
				if *path(&next) == "" {
					break
				}
				if *path(&next) = first; item([]R{next}) != line {
					break
				}
			}
		}
		p.line(2, "- "+item(all[:n]))
		all = all[n:]
	}
}

// paths is the path of requests that differ in nothing else.
func paths[R any](some []R, path func(R) string) string {
	if len(some) == 1 && path(some[0]) == "" {
		return ""
	}
	all := make([]string, len(some))
	for i, one := range some {
		all[i] = bytesText(path(one))
	}
	if len(all) == 1 {
		return all[0]
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// request writes requests that differ in their path only, as one item.
func (p *printer) request(some []cases.Request) string {
	q := some[0]
	var f fields
	f.add("from", quote(p.callers.name(q.From)))
	f.add("to", quote(q.To))
	f.add("method", text(q.Method))
	f.add("path", paths(some, func(q cases.Request) string { return q.Path }))
	f.add("sni", text(q.SNI))
	f.add("token", p.tokens.name(q.Token))
	f.add("authority", text(q.Authority))
	f.add("headers", headerLines(q.Headers))
	f.add("grpc", text(q.GRPC))
	if q.SourceIP.IsValid() && q.SourceIP != q.From.SourceIP {
		f.add("sourceIP", quote(q.SourceIP.String()))
	}
	f.add("want", q.Want.String())
	f.add("by", stated(q.By))
	if q.Shadow != nil {
		f.add("shadow", q.Shadow.String())
	}
	f.add("shadowBy", stated(q.ShadowBy))
	return f.flow()
}

// headerLines is a mapping, or a list where the lines are not in the order of their names.
func headerLines(lines []policy.Header) string {
	if len(lines) == 0 {
		return ""
	}
	var f fields
	ordered := true
	for i, h := range lines {
		f.add(quote(h.Name), bytesText(h.Value))
		ordered = ordered && (i == 0 || lines[i-1].Name < h.Name)
	}
	if ordered {
		return f.flow()
	}
	return "[{" + strings.Join(f, "}, {") + "}]"
}

// bytesText is a text, or what stands for bytes that are no UTF-8.
func bytesText(s string) string {
	if utf8.ValidString(s) {
		return quote(s)
	}
	return "{base64: " + quote(base64.StdEncoding.EncodeToString([]byte(s))) + "}"
}

// stated is the text in quotes, and no value where none is stated.
func stated(s *string) string {
	if s == nil {
		return ""
	}
	return quote(*s)
}
