package casewriter

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
)

func (p *printer) requests() {
	all := p.c.Requests
	if len(all) == 0 {
		return
	}
	p.line(0, "requests:")
	for len(all) > 0 {
		n := p.crossed(all)
		p.line(2, "- "+p.request(all[:n]))
		all = all[n:]
	}
}

// crossed counts the requests at the front that differ in their path only: they become one item with a list of paths.
func (p *printer) crossed(all []cases.Request) int {
	first := all[0]
	if first.Path == "" {
		return 1
	}
	line := p.request(all[:1])
	n := slices.IndexFunc(all, func(q cases.Request) bool {
		return q.Path == "" || p.request([]cases.Request{withPath(q, first.Path)}) != line
	})
	if n < 0 {
		return len(all)
	}
	return n
}

func withPath(q cases.Request, path string) cases.Request {
	q.Path = path
	return q
}

// request writes requests that differ in their path only, as one item.
func (p *printer) request(some []cases.Request) string {
	q := some[0]
	var f fields
	f.add("from", quote(p.callers.name(q.From)))
	f.add("to", quote(q.To))
	f.add("method", text(q.Method))
	if len(some) == 1 {
		f.add("path", text(q.Path))
	} else {
		paths := make([]string, len(some))
		for i, q := range some {
			paths[i] = q.Path
		}
		f.add("path", texts(paths))
	}
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
func headerLines(lines []cases.Header) string {
	if len(lines) == 0 {
		return ""
	}
	var f fields
	ordered := true
	for i, h := range lines {
		f.add(quote(h.Name), quote(h.Value))
		ordered = ordered && (i == 0 || lines[i-1].Name < h.Name)
	}
	if ordered {
		return f.flow()
	}
	return "[{" + strings.Join(f, "}, {") + "}]"
}

// stated is the text in quotes, and no value where none is stated.
func stated(s *string) string {
	if s == nil {
		return ""
	}
	return quote(*s)
}
