package inspect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/servername"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/kuma/internal/lowering"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
)

// question is a question to the page: may this caller send this request?
type question struct {
	// Identity has the URI SANs of the caller's certificate, with white space between
	// them: one SPIFFE ID, and under the legacy form a URI for each tag. It is empty for a
	// TLS caller without a URI SAN.
	Identity string
	// SNI is the server name of the caller's handshake, empty for none.
	SNI    string
	Method string
	// Path is the path as sent. The listener normalizes it before it is judged.
	Path string
}

// tagURI is how the URI of a tag begins in a certificate of the legacy form.
const tagURI = "kuma://"

// answer is the answer to a question.
type answer struct {
	// Refused says why the question has no answer, or why the listener answers it
	// before any policy does.
	Refused  string
	Decision policy.Decision
	// Deciding is the condition of the rule that decided. It is empty for the default.
	Deciding string
	// Seen is the request as the rules see it.
	Seen string
}

// group is a set of identities that meet the same matchers of the rules, so that the
// rules decide alike for them.
type group struct {
	// Pattern is an identity, or the beginning of one with "…" behind it. It is empty for
	// the identities that meet no pattern.
	Pattern string
	// Others is true where some identities of that beginning are groups of their own.
	Others   bool
	Decision policy.Decision
}

// maxGroups is the number of groups that a page shows.
const maxGroups = 500

// answer answers the question about the inbound of the selection.
func (q question) answer(sel selection.Selection, in policy.Inbound, opts permission.Options) answer {
	request, refused := q.request(in)
	if refused != "" {
		return answer{Refused: refused}
	}
	for _, uri := range strings.Fields(q.Identity) {
		if _, err := spiffeid.FromString(uri); err != nil && !strings.HasPrefix(uri, tagURI) {
			return answer{Refused: fmt.Sprintf("%q is neither a SPIFFE ID nor a tag as in %senv/dev: %v", uri, tagURI, err)}
		}
		request.URIs = append(request.URIs, uri)
	}
	if err := lowering.Check(sel, in, opts); err != nil {
		return answer{Refused: err.Error()}
	}
	program := lowering.Lower(sel, in, opts)
	decision, traces := policy.Explain(program, request)
	a := answer{Decision: decision, Seen: strings.TrimSpace(request.Method + " " + request.Path + servername.Clause(request.SNI))}
	for _, t := range traces {
		if !t.Shadow && t.Decisive >= 0 {
			a.Deciding = deciding(t.Gate.Rules, request)
		}
	}
	return a
}

// deciding returns the condition of the rule that decides. Around a nested rule there
// are other rules, whose conditions come first.
func deciding(rules []policy.Rule, r policy.Request) string {
	for _, rule := range rules {
		if !rule.Matches(&r) {
			continue
		}
		if inner := deciding(rule.Then, r); inner != "" {
			return rule.When.String() + ", and there " + inner
		}
		return rule.When.String()
	}
	return ""
}

// request returns the request without its caller, or says why no policy judges it.
func (q question) request(in policy.Inbound) (policy.Request, string) {
	if err := servername.Check(q.SNI); err != nil {
		return policy.Request{}, err.Error()
	}
	sni := servername.Kept(q.SNI)
	if in.Protocol.Layer() == policy.L4 {
		return policy.Request{SNI: sni}, ""
	}
	if q.Method == "" {
		return policy.Request{}, "a request has a method: write one, such as GET"
	}
	if q.Path == "" || q.Path[0] != '/' && q.Path != "*" {
		return policy.Request{}, fmt.Sprintf("path %q does not begin with /", q.Path)
	}
	path, err := (policy.PathNormalization{}).Apply(q.Path)
	if err != nil {
		return policy.Request{}, "the listener answers 400 before any policy is asked: " + err.Error()
	}
	return policy.Request{SNI: sni, Method: q.Method, Path: path}, ""
}

// unmatched is a byte that no pattern has. A text that ends in it meets no pattern but
// the prefixes before the byte.
const unmatched = "\x00"

// groups splits all identities by the longest pattern that they meet, and judges each
// group. That is exact: all identities of a group meet the same matchers. It returns
// the first groups in the order of their patterns, and the total number. There is no
// group where the rules compare single URI SANs, as the legacy form does, for a
// certificate can have any combination of them.
func (q question) groups(sel selection.Selection, in policy.Inbound, opts permission.Options) (groups []group, total int) {
	request, refused := q.request(in)
	if refused != "" {
		return nil, 0
	}
	program := lowering.Lower(sel, in, opts)
	patterns, ok := identities(program)
	if !ok {
		return nil, 0
	}
	total = len(patterns) + 1
	judge := func(g group, witness string) {
		request.URIs = []string{witness}
		g.Decision = policy.Decide(program, request)
		groups = append(groups, g)
	}
	for i, p := range patterns[:min(len(patterns), maxGroups-1)] {
		if p.Kind == policy.Exact {
			judge(group{Pattern: p.Value}, p.Value)
			continue
		}
		// The patterns are sorted: those with this beginning come next.
		others := i+1 < len(patterns) && strings.HasPrefix(patterns[i+1].Value, p.Value)
		judge(group{Pattern: p.Value + "…", Others: others}, p.Value+unmatched)
	}
	judge(group{}, unmatched)
	return groups, total
}

// identities returns the texts that a program compares the peer's identity with, each
// once, and a prefix before the texts that begin with it. It reports false for a
// program that compares single URI SANs.
func identities(p policy.Program) ([]policy.Match, bool) {
	f := finder{seen: make(map[policy.Match]bool)}
	f.gates(p.Gates)
	f.gates(p.Shadows)
	out := make([]policy.Match, 0, len(f.seen))
	for m := range f.seen {
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b policy.Match) int {
		if c := strings.Compare(a.Value, b.Value); c != 0 {
			return c
		}
		return int(b.Kind) - int(a.Kind)
	})
	return out, !f.uris
}

type finder struct {
	seen map[policy.Match]bool
	uris bool
}

func (f *finder) gates(gates []policy.Gate) {
	for _, gate := range gates {
		f.rules(gate.Rules)
	}
}

func (f *finder) rules(rules []policy.Rule) {
	for _, rule := range rules {
		f.condition(rule.When)
		f.rules(rule.Then)
	}
}

func (f *finder) condition(c policy.Condition) {
	for c := range policy.Walk(c) {
		is, _ := c.(policy.Is)
		switch is.Attribute {
		case attribute.Identity:
			f.seen[is.Match] = true
		case attribute.URISAN:
			f.uris = true
		}
	}
}
