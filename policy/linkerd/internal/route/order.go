package route

import (
	"cmp"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/condition"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// Alternative is one way to take a route.
type Alternative struct {
	Route Route
	// Name is that of the route, with the numbers of rule and match.
	Name string
	When policy.Condition
	rank rank
}

// rank says how close a match is. The proxy compares the parts in order: the kind of the host, its
// length, the length of the path, the numbers of headers and of parameters, and whether a method is asked for (RequestMatch of
// linkerd2-proxy, linkerd/http/route). Gateway API has the method in front of the headers. A call of gRPC has the
// lengths of service and method in the place of the path.
type rank [7]int

// Ties yields the pairs of alternatives of different routes that are equally close and take the same
// requests: then the age of the routes decides. The second of a pair stands in front of the first.
// A route that takes the same requests again, by the same way, is in no pair again: a list of a thousand matches may be one match.
// Where the files say which of the two counts ([AreSettled]), it yields them too.
func Ties(routes []Route) iter.Seq2[Alternative, Alternative] {
	type way struct {
		rank rank
		when string
	}
	return func(yield func(a, b Alternative) bool) {
		known := map[way][]Alternative{}
		for _, a := range Alternatives(routes, "") {
			of, key := way{a.rank, a.When.String()}, a.Route.Key()
			if slices.ContainsFunc(known[of], func(b Alternative) bool { return b.Route.Key() == key }) {
				continue
			}
			for _, b := range known[of] {
				if !yield(a, b) {
					return
				}
			}
			known[of] = append(known[of], a)
		}
	}
}

// Alternatives returns all ways to take one of the routes, the closest first. Of equally close ones,
// that of the oldest route stands first, which has the key that is given, then that of the older route where all routes state
// their ages, and then that of the route whose name, group and kind sort first. The key is empty where no route is taken for the
// oldest.
//
// The proxy measures how much of a path a match covers. An Exact and a RegularExpression cover the
// whole path, and a PathPrefix does where the path is the prefix itself. So a prefix beside them
// stands there twice.
func Alternatives(routes []Route, oldest string) []Alternative {
	routes = slices.Clone(routes)
	aged := AreSettled(routes)
	slices.SortStableFunc(routes, func(a, b Route) int {
		switch is := a.Key() == oldest; {
		case is == (b.Key() == oldest) && aged && !a.Created.Equal(b.Created):
			return a.Created.Compare(b.Created)
		case is == (b.Key() == oldest):
			return compareNames(a, b)
		case is:
			return -1
		default:
			return 1
		}
	})
	whole := slices.ContainsFunc(routes, func(r Route) bool {
		return slices.ContainsFunc(r.Rules, func(rule Rule) bool {
			return slices.ContainsFunc(rule.Matches, func(m Match) bool { return m.Path.Type == Exact || m.Path.Type == RegularExpression })
		})
	})
	var out []Alternative
	for _, r := range routes {
		for i, rule := range r.Rules {
			for k, m := range rule.AllMatches() {
				ways := m.alternatives(whole)
				if r.Head.Kind == GRPC && m.RPC == nil {
					ways = []Alternative{{When: policy.Always}}
				}
				for _, a := range ways {
					a.Route, a.Name = r, fmt.Sprintf("%s/%d/%d", r.Key(), i, k)
					out = append(out, a.onHosts(r.Hosts)...)
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Alternative) int { return slices.Compare(b.rank[:], a.rank[:]) })
	return out
}

// compareNames orders routes of one namespace as the controller does (GroupKindName of linkerd2, policy-controller/core).
func compareNames(a, b Route) int {
	return cmp.Or(strings.Compare(a.Head.Metadata.Name, b.Head.Metadata.Name), strings.Compare(a.Head.Group(), b.Head.Group()), strings.Compare(a.Head.Kind, b.Head.Kind))
}

// AreSettled reports whether all routes state their ages, so that the files say which of two counts: the older one, and of one age the
// one whose name sorts first. Where one route states none, no age counts: the others would have no order.
func AreSettled(routes []Route) bool {
	return !slices.ContainsFunc(routes, func(r Route) bool { return r.Created.IsZero() })
}

// onHosts returns the alternative for each host.
func (a Alternative) onHosts(hosts []string) (out []Alternative) {
	if len(hosts) == 0 {
		if a.When == policy.Condition(policy.Always) {
			a.When = attribute.Path.Segments("/")
		}
		return []Alternative{a}
	}
	for _, host := range hosts {
		own := a
		suffix, wild := strings.CutPrefix(host, "*.")
		before := ""
		own.rank[0], own.rank[1] = 2, len(host)
		if wild {
			before, own.rank[0], own.rank[1] = `[^:]*\.`, 1, len(suffix)+1
		}
		both := []policy.Condition{policy.Is{Attribute: attribute.Host, Match: policy.Match{
			Kind: policy.Regex, Value: before + anyCase(suffix) + `\.?(:[0-9]*)?`,
		}}}
		if a.When != policy.Condition(policy.Always) {
			both = append(both, a.When)
		}
		own.When = condition.All(both)
		out = append(out, own)
	}
	return out
}

var letter = regexp.MustCompile(`[a-zA-Z]`)

// anyCase returns an expression of the text in any case.
func anyCase(text string) string {
	return letter.ReplaceAllStringFunc(regexp.QuoteMeta(text), func(c string) string { return "[" + strings.ToLower(c) + strings.ToUpper(c) + "]" })
}

// alternatives returns the match, once for each length of path that it covers.
func (m Match) alternatives(whole bool) []Alternative {
	if m.RPC != nil {
		return []Alternative{{When: condition.All(append(m.RPC.conditions(), m.otherConditions()...)), rank: rank{2: len(m.RPC.Service), 3: len(m.RPC.Method), 4: len(m.Headers)}}}
	}
	a := Alternative{rank: rank{4: len(m.Headers), 5: len(m.Query)}}
	if m.Method != "" {
		a.rank[6] = 1
	}
	with := func(path ...policy.Condition) Alternative {
		own := a
		own.When = condition.All(append(path, m.otherConditions()...))
		return own
	}
	switch m.Path.Type {
	case Exact:
		a.rank[2] = 1
		return []Alternative{with(attribute.Path.Exact(m.Path.Value))}
	case RegularExpression:
		a.rank[2] = 1
		return []Alternative{with(policy.Is{Attribute: attribute.Path, Match: policy.Match{Kind: policy.Regex, Value: m.Path.Value}})}
	}
	prefix := strings.TrimRight(m.Path.Value, "/")
	a.rank[3] = max(len(prefix), 1)
	var out []Alternative
	switch {
	case prefix != "":
		out = append(out, with(attribute.Path.Segments(prefix)))
	default:
		out = append(out, with())
	}
	if whole {
		a.rank[2], a.rank[3] = 1, 0
		if prefix == "" {
			prefix = "/"
		}
		out = append(out, with(attribute.Path.Exact(prefix)))
	}
	return out
}

// otherConditions returns what the match asks for beside the path.
func (m Match) otherConditions() (out []policy.Condition) {
	if m.Method != "" {
		out = append(out, attribute.Method.Exact(m.Method))
	}
	for _, h := range m.Headers {
		is := header(h.Name).Exact(h.Value)
		if h.Type == RegularExpression {
			is.Match.Kind = policy.Regex
		}
		out = append(out, is)
	}
	for _, q := range m.Query {
		out = append(out, policy.Is{Attribute: header(":path"), Match: policy.Match{Kind: policy.Regex, Value: parameter(q)}})
	}
	return out
}

func header(name string) *policy.Attribute { return attribute.Header(name) }

// conditions returns what a GRPCRoute asks for. The proxy splits the path at its slashes, and looks
// at the first two parts.
func (c RPC) conditions() []policy.Condition {
	path := attribute.Path.Segments("/" + c.Service + "/" + c.Method)
	switch {
	case c.Service != "" && c.Method == "":
		path = attribute.Path.Prefix("/" + c.Service + "/")
	case c.Service == "":
		text := "/[^/]*/.*"
		if c.Method != "" {
			text = "/[^/]*/" + regexp.QuoteMeta(c.Method) + "(/.*)?"
		}
		path = policy.Is{Attribute: attribute.Path, Match: policy.Match{Kind: policy.Regex, Value: text}}
	}
	return []policy.Condition{path, attribute.Method.Exact("POST")}
}

// parameter returns an expression of the header :path with a parameter. The proxy decodes names and
// values, and takes any parameter of the name.
func parameter(v Value) string {
	value := "=" + encoded(v.Value, "%+&")
	if v.Value == "" {
		value = "=?"
	}
	return `[^?]*\?(.*&)?` + encoded(v.Name, "%+&=") + value + `(&.*)?`
}

// encoded returns an expression of a text, each character of which may stand as it is, unless it is
// one of those given, or as a percent sign with two digits. A plus sign is a space.
func encoded(text, special string) string {
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		percent := "%" + regexp.MustCompile(`[A-F]`).ReplaceAllStringFunc(fmt.Sprintf("%02X", c), func(digit string) string {
			return "[" + strings.ToLower(digit) + digit + "]"
		})
		plain := regexp.QuoteMeta(string(c))
		if c == ' ' {
			plain = `\+`
		}
		if strings.IndexByte(special, c) >= 0 {
			b.WriteString(percent)
		} else {
			b.WriteString("(" + plain + "|" + percent + ")")
		}
	}
	return b.String()
}
