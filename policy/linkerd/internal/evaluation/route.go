package evaluation

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/meshproof/meshproof/internal/plainheader"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/linkerd/internal/route"
)

// cover is how much of a request a match covers. More is better, the first number first.
type cover [7]int

func (c cover) better(than cover) bool {
	for i := range c {
		if c[i] != than[i] {
			return c[i] > than[i]
		}
	}
	return false
}

// pick returns the route that covers most of a request. Of several it is the oldest one, where the age of each route is
// stated, or else the one whose name sorts first; nil where none takes it.
func (q question) pick(r policy.Request) *route.Route {
	var found *route.Route
	var most cover
	stated := 0
	for _, own := range q.routes {
		if !own.Created.IsZero() {
			stated++
		}
	}
	first := func(a, b *route.Route) bool {
		if stated == len(q.routes) && !a.Created.Equal(b.Created) {
			return a.Created.Before(b.Created)
		}
		return slices.Compare(nameOf(a), nameOf(b)) < 0
	}
	for i := range q.routes {
		own := &q.routes[i]
		c, ok := covers(own, r)
		if ok && (found == nil || c.better(most) || c == most && first(own, found)) {
			found, most = own, c
		}
	}
	return found
}

// nameOf has the parts of a name in the order in which they count.
func nameOf(r *route.Route) []string {
	group, _, _ := strings.Cut(r.Head.APIVersion, "/")
	return []string{r.Head.Metadata.Name, group, r.Head.Kind}
}

func covers(of *route.Route, r policy.Request) (most cover, ok bool) {
	kind, length, ok := hostCover(of.Hosts, r.Host)
	if !ok {
		return most, false
	}
	ok = false
	for _, rule := range of.Rules {
		if len(rule.Matches) == 0 {
			all := cover{0: kind, 1: length, 2: 1}
			if of.Head.Kind == "GRPCRoute" {
				all[2] = 0
			}
			if !ok || all.better(most) {
				most, ok = all, true
			}
		}
		for _, m := range rule.Matches {
			c, takes := matchCover(m, r)
			if c[0], c[1] = kind, length; takes && (!ok || c.better(most)) {
				most, ok = c, true
			}
		}
	}
	return most, ok
}

// hostCover compares the host without its port and without a dot at its end.
func hostCover(hosts []string, host string) (kind, length int, ok bool) {
	if len(hosts) == 0 {
		return 0, 0, true
	}
	host, port, found := strings.Cut(host, ":")
	if found && strings.Trim(port, "0123456789") != "" {
		return 0, 0, false
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	for _, of := range hosts {
		if suffix, wild := strings.CutPrefix(of, "*"); wild {
			if strings.HasSuffix(host, suffix) && (kind < 2 && len(suffix) > length) {
				kind, length, ok = 1, len(suffix), true
			}
		} else if of == host {
			kind, length, ok = 2, len(of), true
		}
	}
	return kind, length, ok
}

func matchCover(m route.Match, r policy.Request) (c cover, ok bool) {
	path, _, _ := strings.Cut(r.Path, "?")
	if m.RPC != nil {
		parts := strings.Split(path, "/")
		if !isCall(r) || m.RPC.Service != "" && m.RPC.Service != parts[1] || m.RPC.Method != "" && m.RPC.Method != parts[2] {
			return c, false
		}
		c[2], c[3], c[4] = len(m.RPC.Service), len(m.RPC.Method), len(m.Headers)
	} else {
		if c[2], ok = pathCover(m.Path, path, r); !ok || m.Method != "" && m.Method != r.Method {
			return c, false
		}
		c[3], c[4] = len(m.Headers), len(m.Query)
		if m.Method != "" {
			c[5] = 1
		}
	}
	for _, h := range m.Headers {
		if !hasHeader(h, r) {
			return c, false
		}
	}
	for _, p := range m.Query {
		if !hasParameter(p, r) {
			return c, false
		}
	}
	return c, true
}

// isCall reports whether a request may be a call of gRPC: a POST to a service and a method.
func isCall(r policy.Request) bool {
	path, _, _ := strings.Cut(r.Path, "?")
	return r.Method == "POST" && strings.HasPrefix(path, "/") && strings.Count(path, "/") > 1
}

// pathCover returns how many bytes of a path are matched.
func pathCover(of route.Value, path string, r policy.Request) (int, bool) {
	switch of.Type {
	case "Exact":
		return len(path), of.Value == path
	case "RegularExpression":
		return len(path), spans(of.Value, path, r)
	}
	if of.Type == "" || of.Value == "/" {
		return 1, true
	}
	prefix := strings.TrimRight(of.Value, "/")
	rest, ok := strings.CutPrefix(strings.TrimRight(path, "/"), prefix)
	return len(prefix), ok && (rest == "" || rest[0] == '/')
}

// spans reports whether the first match from the left is the whole text.
func spans(expression, text string, r policy.Request) bool {
	if r.UTF8 && !utf8.ValidString(text) {
		return false
	}
	if !r.UTF8 {
		characters := make([]rune, len(text))
		for i := range characters {
			characters[i] = rune(text[i])
		}
		text = string(characters)
	}
	re, err := regexp.Compile(expression)
	if err != nil {
		return false
	}
	at := re.FindStringIndex(text)
	return at != nil && at[0] == 0 && at[1] == len(text)
}

// hasHeader compares each line of a header, or all of them as one text where Envoy does so.
func hasHeader(of route.Value, r policy.Request) bool {
	for _, line := range plainheader.Lines(r, of.Name, r.RoutesJoinLines) {
		if of.Type == "RegularExpression" && spans(of.Value, line, r) || of.Type != "RegularExpression" && line == of.Value {
			return true
		}
	}
	return false
}

// hasParameter decodes the query as a form, and compares each parameter.
func hasParameter(of route.Value, r policy.Request) bool {
	_, query, _ := strings.Cut(r.Path, "?")
	if r.UTF8 && !utf8.ValidString(r.Path) {
		return false
	}
	for part := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(part, "=")
		if part != "" && decoded(name) == of.Name && decoded(value) == of.Value {
			return true
		}
	}
	return false
}

// decoded reads a plus sign as a space, and a percent sign with two digits as a byte. Another percent
// sign stays as it is.
func decoded(text string) string {
	var out []byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '+' {
			c = ' '
		} else if c == '%' && i+2 < len(text) {
			if n, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil && text[i+1] != '+' && text[i+1] != '_' && text[i+2] != '_' {
				c, i = byte(n), i+2
			}
		}
		out = append(out, c)
	}
	return string(out)
}
