package diff

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// drawnPair is two sets of policies, each policy a text, and the workloads that are asked for them.
type drawnPair struct {
	old, recent []string
	options     language.Options
	workloads   []policy.Inbound
	// opened are those of the workloads that NEW opens.
	opened []openedWorkload
}

// openedWorkload is a workload with a request that only NEW lets in.
type openedWorkload struct {
	policy.Inbound
	request policy.Request
}

func (o openedWorkload) String() string {
	return fmt.Sprintf("port %d (%s) of %+v with tags %v to %+v", o.Port, o.Protocol, o.Workload, o.Tags, o.request)
}

func (p drawnPair) String() string {
	return "OLD\n" + strings.Join(p.old, "\n---\n") + "\nNEW\n" + strings.Join(p.recent, "\n---\n") + "\noptions " + p.options.Document.Flow()
}

// The bounds of a pair. Hiding are the policies of which some hide what NEW opens.
const (
	mostDrawnPolicies  = 4
	mostDrawnEdits     = 3
	mostDrawnHiding    = 24
	mostDrawnWorkloads = 200
)

// pair draws OLD, and makes NEW of it by one edit or two. Then it adds policies to both that hide what NEW opens, as long as one workload
// stays open.
func (d drawnDialect) pair(t *testing.T, c *choice.Chooser) drawnPair {
	t.Helper()
	p := drawnPair{workloads: d.space.workloads(c), options: language.Options{Dialect: d.dialect, Peers: d.space.callers(t)}}
	if d.options != nil {
		if text := choice.Pick(c, d.options...); text != "" {
			docs, err := manifest.Parse("options", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			p.options.Document = docs[0]
		}
	}
	if d.base != nil {
		p.old = d.base(c)
	}
	for i := range c.Number(1, mostDrawnPolicies) {
		p.old = withPolicy(p.old, d.policy(c, fmt.Sprint("p", i)))
	}
	for range mostDrawnEdits {
		p.recent = d.edit(c, p.old)
		if p.opened = p.findOpened(t); len(p.opened) > 0 {
			break
		}
	}
	for i := range mostDrawnHiding {
		if len(p.opened) < 2 {
			break
		}
		hidden, hiding := p, d.policy(c, fmt.Sprint("h", i))
		hidden.old, hidden.recent, hidden.workloads = withPolicy(p.old, hiding), withPolicy(p.recent, hiding), nil
		for _, o := range p.opened {
			hidden.workloads = append(hidden.workloads, o.Inbound)
		}
		if len(hidden.old) == len(p.old) || len(hidden.recent) == len(p.recent) {
			continue
		}
		if hidden.opened = hidden.findOpened(t); len(hidden.opened) > 0 && len(hidden.opened) < len(p.opened) {
			p = hidden
		}
	}
	return p
}

// edit changes a set by one edit or two.
func (d drawnDialect) edit(c *choice.Chooser, old []string) []string {
	recent := slices.Clone(old)
	for range c.Number(1, 2) {
		i := c.Choose(len(recent) + 1)
		switch {
		case i == len(recent):
			recent = withPolicy(recent, d.policy(c, fmt.Sprint("n", i)))
		case c.OneIn(3):
			recent = slices.Delete(recent, i, i+1)
		default:
			rest := slices.Delete(slices.Clone(recent), i, i+1)
			recent = withPolicy(rest, d.edited(c, recent[i]))
		}
	}
	return recent
}

// edited returns another policy in the place of one: of some drawn ones, the one that differs in the fewest words.
func (d drawnDialect) edited(c *choice.Chooser, of string) string {
	_, after, _ := strings.Cut(of, "name: ")
	name := after[:strings.IndexAny(after, ",}")]
	best := of
	for range 12 {
		other := d.policy(c, name)
		if other != of && (best == of || wordsApart(of, other) < wordsApart(of, best)) {
			best = other
		}
	}
	return best
}

// wordsApart counts the words that only one of two texts has.
func wordsApart(a, b string) (n int) {
	count := map[string]int{}
	for i, text := range []string{a, b} {
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,{}[]:", r) }) {
			count[word] += 1 - 2*i
		}
	}
	for _, more := range count {
		n += max(more, -more)
	}
	return n
}

// withPolicy adds a policy, unless the set has one of that kind and name.
func withPolicy(to []string, one string) []string {
	head := func(text string) string {
		before, _, _ := strings.Cut(text, "spec: ")
		return before
	}
	if slices.ContainsFunc(to, func(other string) bool { return head(other) == head(one) }) {
		return to
	}
	return append(slices.Clone(to), one)
}

// drawnRequests are what callers ask for. The names of the paths are those of the drawn policies.
var drawnRequests = []policy.Request{
	{Method: "GET", Path: "/", Host: "web.example"}, {Method: "GET", Path: "/a", Host: "web.example"}, {Method: "POST", Path: "/a", Host: "web.example"},
	{Method: "GET", Path: "/a/b", Host: "web.example"}, {Method: "GET", Path: "/orders", Host: "web.example"},
}

// strangers are the addresses of callers in plaintext.
var strangers = []netip.Addr{netip.MustParseAddr("10.66.0.2"), netip.MustParseAddr("192.0.2.7")}

// findOpened asks each workload for each request of each caller. It leaves out the workloads that the policies of one side refuse.
func (p drawnPair) findOpened(t *testing.T) (out []openedWorkload) {
	t.Helper()
	old, recent := p.parse(t, p.old), p.parse(t, p.recent)
	for _, in := range p.workloads {
		was, is := decider(old, in), decider(recent, in)
		if was == nil || is == nil {
			continue
		}
		if r, opens := firstOf(p.requestsTo(in), func(r policy.Request) bool { return !was(r) && is(r) }); opens {
			out = append(out, openedWorkload{in, r})
		}
	}
	return out
}

func firstOf(all []policy.Request, wanted func(policy.Request) bool) (policy.Request, bool) {
	i := slices.IndexFunc(all, wanted)
	if i < 0 {
		return policy.Request{}, false
	}
	return all[i], true
}

func (p drawnPair) parse(t *testing.T, texts []string) language.Policies {
	t.Helper()
	docs, err := manifest.Parse("p.yaml", []byte(strings.Join(texts, "\n---\n")))
	if err != nil {
		t.Fatal(err)
	}
	set, err := dialect.Parse(docs, p.options)
	if err != nil {
		t.Fatalf("%v\n%s", err, p)
	}
	return set
}

// requestsTo are the requests of each caller, and of two without a name.
func (p drawnPair) requestsTo(in policy.Inbound) (out []policy.Request) {
	all := drawnRequests
	if in.Protocol.Layer() == policy.L4 {
		all = []policy.Request{{}}
	}
	for _, r := range all {
		r.Port, r.Destination = in.Port, in.Workload.IP
		for _, ip := range strangers {
			r.Source = ip
			out = append(out, r)
		}
		for _, caller := range p.options.Peers {
			r.URIs, r.Source = []string{caller.Identity.String()}, caller.IP
			out = append(out, r)
		}
	}
	return out
}

// decider returns what a set lets in at an inbound, by its text. It is nil where the set refuses the inbound, or where no file says which of
// two policies decides.
func decider(set language.Policies, in policy.Inbound) func(policy.Request) bool {
	sole := 0
	for _, target := range set.(capability.Targeter).Targets() {
		if target.Sole && target.Elsewhere == "" && target.Selects(in) {
			sole++
		}
	}
	if sole > 1 || set.Check(in) != nil {
		return nil
	}
	program, evaluate := set.Program(in), set.Evaluate(in)
	mode := program.MTLS
	if mode == mtls.Unset {
		mode = program.DefaultMTLS
	}
	return func(r policy.Request) bool {
		switch {
		case len(r.URIs) > 0 && !mode.TakesTLS(), len(r.URIs) == 0 && !mode.TakesPlaintext():
			return false
		case len(r.URIs) == 0 && !program.JudgesPlaintext:
			return true
		default:
			return evaluate(r).Effect == policy.Allow
		}
	}
}
