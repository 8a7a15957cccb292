// Package casewriter writes cases as case files. Package cases reads them.
package casewriter

import (
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/policy/manifest"
)

// YAML returns a file with one case. It leaves out what has its default value. [cases.Parse] reads an equal case from the
// file, apart from Place, Source and the names of callers, if a case file can state the case at all. It can for every case
// that Parse returned.
//
// A caller that needs an entry under callers keeps its name where the entry may have it. Other callers get a name made of
// their certificate. The cases of package cases do not have the workloads without inbounds any more, so requests from such a
// workload come from an entry under callers.
func YAML(c cases.Case) []byte {
	p := printer{c: c, callers: newCallerNames(c)}
	p.head()
	p.workloads()
	p.callerEntries()
	p.policies()
	p.requests()
	p.counters()
	p.field("expectError", text(c.ExpectError))
	switch len(c.ExpectWarnings) {
	case 1:
		p.field("expectWarning", quote(c.ExpectWarnings[0]))
	default:
		p.field("expectWarning", texts(c.ExpectWarnings))
	}
	return []byte(p.b.String())
}

// printer writes one case, field by field.
type printer struct {
	c       cases.Case
	b       strings.Builder
	callers *callerNames
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
	p.field("story", text(c.Story))
	p.field("features", texts(c.Features))
	var gate fields
	gate.add("from", text(c.Gate.From))
	gate.add("before", text(c.Gate.Before))
	p.field("envoy", gate.orNone())
	var names []string
	for _, td := range c.TrustDomains {
		names = append(names, td.Name())
	}
	if !slices.Equal(names, []string{cases.DefaultTrustDomain}) {
		p.field("trustDomains", texts(names))
	}
	p.field("options", p.options())
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
		value, _ := document.At(key)
		options.add(key, value.Flow())
	}
	options.add("pathNormalization", normalization.orNone())
	return options.orNone()
}

func (p *printer) policies() {
	if p.c.Policies == nil {
		return
	}
	if len(p.c.Policies) == 0 {
		p.field("policies", "[]")
		return
	}
	p.line(0, "policies:")
	for _, doc := range p.c.Policies {
		p.item(2, policyLines(doc))
	}
}

// policyLines are the lines of a policy. The YAML of a document has no text over several lines.
func policyLines(doc manifest.Document) []string {
	body := strings.TrimSuffix(string(doc.YAML()), "\n")
	if body == "" {
		body = "null"
	}
	return strings.Split(body, "\n")
}

// item writes lines as an item of a list.
func (p *printer) item(indent int, lines []string) {
	for i, line := range lines {
		if i == 0 {
			p.line(indent, "- "+line)
		} else {
			p.line(indent+2, line)
		}
	}
}

func (p *printer) counters() {
	if len(p.c.Counters) == 0 {
		return
	}
	p.line(0, "counters:")
	for _, c := range p.c.Counters {
		var f fields
		f.add("allowed", number(c.Allowed))
		f.add("denied", number(c.Denied))
		f.add("shadow_allowed", number(c.ShadowAllowed))
		f.add("shadow_denied", number(c.ShadowDenied))
		p.line(2, quote(c.Inbound)+": "+f.flow())
	}
}

// defaultIdentity is the SPIFFE ID of a workload that states none.
func (p *printer) defaultIdentity(namespace, account string) (spiffeid.ID, bool) {
	if len(p.c.TrustDomains) == 0 {
		return spiffeid.ID{}, false
	}
	id, err := casefile.DefaultIdentity(p.c.TrustDomains[0], namespace, account)
	return id, err == nil
}
