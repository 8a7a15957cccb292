package tree_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/kuma/internal/tree"
)

func exact(name string) policy.Condition {
	return attribute.Identity.Exact("spiffe://td/ns/" + name)
}

func prefix(value string) policy.Condition {
	return attribute.Identity.Prefix("spiffe://td/" + value)
}

func rule(a tree.Action, when ...policy.Condition) tree.Rule { return tree.Rule{Action: a, When: when} }

// drawn are the trees of the archives in testdata, full, pruned and drawn.
var drawn = map[string][]tree.Rule{
	// The two policies of the design's example: seven questions become four.
	"design": {
		rule(tree.Deny, exact("default/sa/frontend")), rule(tree.Deny, exact("default/sa/api-gateway")),
		rule(tree.Allow, prefix("")), rule(tree.AllowWithShadowDeny, prefix("ns/legacy")),
	},
	"nothing":   nil,
	"deny":      {rule(tree.Deny, exact("a"))},
	"no-shadow": {rule(tree.Allow, prefix("")), rule(tree.Deny, exact("a"), exact("b")), rule(tree.Allow, exact("c"))},
	// A caller that matches the shadow deny is not asked for the allow.
	"shadow-first": {rule(tree.AllowWithShadowDeny, prefix("ns/legacy")), rule(tree.Allow, prefix("")), rule(tree.Deny, exact("a"))},
	"everybody":    {rule(tree.Allow, exact("a"), policy.Always), rule(tree.Deny, exact("b"))},
	"escaped":      {rule(tree.Deny, attribute.Path.Exact(`/<a>&"b"`)), rule(tree.Allow, attribute.Path.Exact("/"+strings.Repeat("long", 40)))},
	"many":         {many(20)},
}

func many(n int) tree.Rule {
	r := tree.Rule{Action: tree.Allow}
	for i := range n {
		r.When = append(r.When, exact(fmt.Sprint("sa-", i)))
	}
	return r
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, rules := range drawn {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			full := tree.Build(tree.Groups(rules))
			before := full.String()
			pruned := full.Prune()
			svg := pruned.SVG("backend/http-port: " + name + " <&>")
			if full.String() != before {
				t.Error("pruning changed the full tree")
			}
			golden.Compare(t, name+".txtar", txtar.Format(&txtar.Archive{Files: []txtar.File{
				{Name: "full", Data: []byte(before)}, {Name: "pruned", Data: []byte(pruned.String())}, {Name: "pruned.svg", Data: []byte(svg)},
			}}))
		})
	}
}

// TestNodes counts the nodes of the design's example.
func TestNodes(t *testing.T) {
	t.Parallel()
	full := tree.Build(tree.Groups(drawn["design"]))
	for _, tt := range []struct {
		name          string
		tree          *tree.Node
		asks, answers int
	}{{"full", full, 7, 8}, {"pruned", full.Prune(), 4, 5}} {
		if asks, answers := count(tt.tree); asks != tt.asks || answers != tt.answers {
			t.Errorf("%s: %d questions and %d answers, want %d and %d", tt.name, asks, answers, tt.asks, tt.answers)
		}
	}
}

func count(n *tree.Node) (asks, answers int) {
	if n.Leaf() {
		return 0, 1
	}
	yesAsks, yesAnswers := count(n.Yes)
	noAsks, noAnswers := count(n.No)
	return 1 + yesAsks + noAsks, yesAnswers + noAnswers
}

// TestDrawingIsXML holds that the drawing is XML for every condition, and that nothing in it
// loads or runs anything.
func TestDrawingIsXML(t *testing.T) {
	t.Parallel()
	for name, rules := range drawn {
		svg := tree.Build(tree.Groups(rules)).SVG(`a title <script>alert("1")</script>`)
		decoder := xml.NewDecoder(strings.NewReader(svg))
		for {
			token, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
				break
			}
			start, ok := token.(xml.StartElement)
			if !ok {
				continue
			}
			if start.Name.Local == "script" {
				t.Errorf("%s: the drawing has a script", name)
			}
			for _, a := range start.Attr {
				if a.Name.Local == "href" || a.Name.Local == "src" {
					t.Errorf("%s: the drawing loads %s", name, a.Value)
				}
			}
		}
	}
}

// TestTreesDecideAsRules holds the full and the pruned tree against the rules.
func TestTreesDecideAsRules(t *testing.T) {
	t.Parallel()
	conditions := []policy.Condition{exact("a"), exact("b"), prefix(""), prefix("ns/a"), attribute.Method.Exact("GET"), policy.Always}
	property.Check(t, func(r *rapid.T) {
		rules := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) tree.Rule {
			return tree.Rule{
				Action: rapid.SampledFrom([]tree.Action{tree.Allow, tree.AllowWithShadowDeny, tree.Deny}).Draw(r, "action"),
				When:   rapid.SliceOfN(rapid.SampledFrom(conditions), 0, 2).Draw(r, "when"),
			}
		}), 0, 6).Draw(r, "rules")
		request := policy.Request{
			URIs:   []string{rapid.SampledFrom([]string{"spiffe://td/ns/a", "spiffe://td/ns/b", "spiffe://td/ns/ab", "spiffe://other/a"}).Draw(r, "uri")},
			Method: rapid.SampledFrom([]string{"GET", "POST"}).Draw(r, "method"),
		}
		want := tree.Nothing
		for _, rule := range rules {
			for _, c := range rule.When {
				if c.Holds(&request) {
					want = max(want, rule.Action)
				}
			}
		}
		full := tree.Build(tree.Groups(rules))
		if got := full.Decide(&request); got != want {
			r.Fatalf("the full tree says %s, the rules %s:\n%s", got, want, full)
		}
		if got := full.Prune().Decide(&request); got != want {
			r.Fatalf("the pruned tree says %s, the rules %s:\n%s", got, want, full.Prune())
		}
	})
}

func TestActionText(t *testing.T) {
	t.Parallel()
	for _, a := range []tree.Action{tree.Allow, tree.AllowWithShadowDeny, tree.Deny} {
		var got tree.Action
		if err := got.UnmarshalText([]byte(a.String())); err != nil || got != a {
			t.Errorf("%s reads back as %s, %v", a, got, err)
		}
	}
	for _, text := range []string{"", "deny", "DENY", "Nothing"} {
		var got tree.Action
		want := fmt.Sprintf("action %q is unknown: use Deny, Allow or AllowWithShadowDeny", text)
		if err := got.UnmarshalText([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("UnmarshalText(%q) = %v", text, err)
		}
	}
}

// A tree is made for each inbound with each change of a policy.
func BenchmarkBuildAndPrune5000(b *testing.B) {
	var rules []tree.Rule
	for i := range 5000 {
		name := fmt.Sprint("team-", i)
		rules = append(rules, rule(tree.Deny, exact(name+"/denied")), rule(tree.Allow, exact(name), prefix(name)), rule(tree.AllowWithShadowDeny, prefix("legacy/"+name)))
	}
	b.ReportAllocs()
	for b.Loop() {
		if pruned := tree.Build(tree.Groups(rules)).Prune(); pruned.Leaf() {
			b.Fatal("nothing is asked")
		}
	}
}
