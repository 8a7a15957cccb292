package inspect

import (
	"fmt"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/lowering"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
)

// question is what the page is asked: who may call an inbound.
type question struct {
	// Identity are the URI SANs of the caller's certificate with white space between
	// them: one SPIFFE ID, and under the legacy form a URI for each tag; empty for a
	// TLS caller without any.
	Identity string
	Method   string
	// Path is as sent; it is judged as the listener normalizes it by default.
	Path string
}

// tagURI is how the URI of a tag begins in a certificate of the legacy form.
const tagURI = "kuma://"

// answer is what becomes of one request.
type answer struct {
	// Refused says why the question has no answer, or why the listener answers it
	// before any policy does.
	Refused  string
	Decision policy.Decision
	// Deciding is the condition of the rule that decided, empty for the default.
	Deciding string
	// Seen is the request as the rules see it.
	Seen string
}

// group is a set of identities that decide alike, because the same matchers of
// the rules meet them.
type group struct {
	// Pattern is an identity, or the beginning of one with "…" behind it; empty for
	// everybody whom no pattern meets.
	Pattern string
	// Others is true where some that begin so form groups of their own.
	Others   bool
	Decision policy.Decision
}

// most is how many groups a page shows.
const most = 500

// who answers one question about an inbound to which the selection applies.
func (q question) who(sel selection.Selection, in policy.Inbound, opts permission.Options) answer {
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
	a := answer{Decision: decision, Seen: strings.TrimSpace(request.Method + " " + request.Path)}
	for _, t := range traces {
		if !t.Shadow && t.Decisive >= 0 {
			a.Deciding = deciding(t.Gate.Rules, request)
		}
	}
	return a
}

// deciding returns the condition of the rule that decides; of a nested one, with
// those around it.
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

// request is the question less its caller, or why no policy ever judges it.
func (q question) request(in policy.Inbound) (policy.Request, string) {
	if in.Protocol.Layer() == policy.L4 {
		return policy.Request{}, ""
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
	return policy.Request{Method: q.Method, Path: path}, ""
}

// nobody is a byte that no pattern contains: a text that ends in it is met by the
// prefixes in front of it and by nothing else.
const nobody = "\x00"

// everyone splits all identities by the longest pattern of the rules that meets
// them, and judges each group. That is exact: two identities of a group are met
// by the same matchers. Only the first groups, in the order of their patterns,
// are returned; total counts all. There are none where the rules look at each URI
// SAN by itself, as the legacy form does: certificates combine those freely.
func (q question) everyone(sel selection.Selection, in policy.Inbound, opts permission.Options) (groups []group, total int) {
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
	for i, p := range patterns[:min(len(patterns), most-1)] {
		if p.Kind == policy.Exact {
			judge(group{Pattern: p.Value}, p.Value)
			continue
		}
		// What begins alike comes next in the order.
		others := i+1 < len(patterns) && strings.HasPrefix(patterns[i+1].Value, p.Value)
		judge(group{Pattern: p.Value + "…", Others: others}, p.Value+nobody)
	}
	judge(group{}, nobody)
	return groups, total
}
