package diff

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/programtest"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/dialect"
)

// unchanged are the attributes that no case shows in a difference.
var unchanged = map[string]string{
	"dns-san":         "no policy names a DNS SAN",
	"query":           "no policy names the query",
	"query-parameter": "routes are told by it, and they do not change",
	"joined-header":   "policies with headers are named rules",
}

// TestEveryAttributeIsShown takes a policy out of some cases of each attribute. Requests that the
// text or the JSON of a difference shows alike change alike: what tells them apart is shown.
func TestEveryAttributeIsShown(t *testing.T) {
	t.Parallel()
	const enough = 4
	shown := map[string]int{}
	for _, c := range casetest.Stories(t) {
		if len(c.Policies) == 0 || c.ExpectError != "" {
			continue
		}
		before := c
		before.Policies = c.Policies[:len(c.Policies)-1]
		set, err := dialect.Parse(c.Policies, c.Options)
		if err != nil {
			continue
		}
		asks := map[string]bool{}
		wanted := false
		for _, in := range c.Inbounds {
			if set.Check(in.Inbound) != nil {
				continue
			}
			for _, gate := range set.Program(in.Inbound).Gates {
				for _, rule := range gate.Rules {
					for c := range policy.Walk(rule.When) {
						if is, ok := c.(policy.Is); ok {
							name := programtest.Family(is.Attribute)
							asks[name] = true
							wanted = wanted || shown[name] < enough
						}
					}
				}
			}
		}
		if !wanted {
			continue
		}
		found, err := Compare(before, c)
		if err != nil {
			continue
		}
		d := Difference{Cases: []Case{{Old: before, New: c, Comparisons: found}}}
		raw, err := json.Marshal(&d)
		if err != nil {
			t.Fatal(err)
		}
		var written struct{ Changes []changeJSON }
		if err := json.Unmarshal(raw, &written); err != nil {
			t.Fatal(err)
		}
		texts, objects := map[string]string{}, map[string]string{}
		n := 0
		for _, comparison := range found {
			for _, change := range comparison.Changes {
				effect := fmt.Sprint(change.Old.Decision.Effect, change.New.Decision.Effect)
				j := written.Changes[n]
				n++
				j.Class, j.Old, j.New, j.Kind, j.Explain = "", opinionJSON{}, opinionJSON{}, "", ""
				object := fmt.Sprintf("%+v", j)
				for text, all := range map[string]map[string]string{witnessText(change): texts, object: objects} {
					if other, known := all[text]; known && other != effect {
						t.Errorf("%s: two requests are shown as %q, and change otherwise: %s, %s", c.Name, text, other, effect)
					}
					all[text] = effect
				}
			}
		}
		if n > 1 {
			for name := range asks {
				shown[name]++
			}
		}
	}
	for _, a := range attribute.All() {
		name := programtest.Family(a)
		if _, isUnchanged := unchanged[name]; isUnchanged != (shown[name] == 0) {
			t.Errorf("%s: %d differences show it, and the list says otherwise", name, shown[name])
		}
	}
}
