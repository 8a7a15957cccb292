package classes_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
)

// tag is a matcher of a tag.
func tag(i int) policy.Condition { return attribute.URISAN.Exact(fmt.Sprintf("kuma://tag-%d/on", i)) }

// TestTagsDoNotMultiply counts the classes of tags by how the rules combine them.
func TestTagsDoNotMultiply(t *testing.T) {
	t.Parallel()
	const n = 8
	var last, all, allowed policy.Condition = policy.Never, policy.And{}, policy.Or{}
	var parity []policy.Rule
	for i := range n {
		all, allowed = append(all.(policy.And), tag(i)), append(allowed.(policy.Or), tag(i))
		// The last tag decides, and each other tag denies.
		if i%2 == 0 {
			last = policy.Or{tag(i), last}
		} else {
			last = policy.And{policy.Not{Condition: tag(i)}, last}
		}
	}
	for set := range 1 << n {
		var combination policy.And
		odd := false
		for i := range n {
			c := tag(i)
			if set>>i&1 == 0 {
				c = policy.Not{Condition: c}
			} else {
				odd = !odd
			}
			combination = append(combination, c)
		}
		if odd {
			parity = append(parity, rule(policy.Allow, "", combination))
		}
	}
	one := func(c policy.Condition) policy.Program {
		return policy.Program{Gates: []policy.Gate{{Form: policy.Named, Rules: []policy.Rule{rule(policy.Allow, "", c)}}}}
	}
	for _, tt := range []struct {
		name     string
		programs []policy.Program
		want     int
	}{
		{"the last of them decides", []policy.Program{one(last)}, n + 1},
		{"all together", []policy.Program{one(all)}, n + 1},
		{"none of them", []policy.Program{one(policy.Not{Condition: allowed})}, n + 1},
		{"two versions", []policy.Program{one(last), one(policy.And{tag(n - 1), last})}, n + 1},
		{"a decision for each combination", []policy.Program{{Gates: []policy.Gate{{Rules: parity}}}}, 1 << n},
		{"each for itself", programs(tag(0), tag(1), tag(2), tag(3)), 1 << 4},
	} {
		cover := classes.Cut(classes.Surface{Protocol: policy.TCP}, tt.programs...)
		if got := len(cover.Classes); got != tt.want || !cover.Complete() {
			t.Errorf("%s: %d, want %d: %s", tt.name, got, tt.want, cover)
		}
	}
}

func TestTooManyCombinationsAreNoCompleteCover(t *testing.T) {
	t.Parallel()
	var tags []policy.Condition
	for i := range 60 {
		tags = append(tags, tag(i))
	}
	cover := classes.UpTo(100, classes.Surface{Protocol: policy.TCP}, programs(tags...)...)
	if len(cover.Classes) != 100 || cover.Complete() {
		t.Errorf("%d classes, %s", len(cover.Classes), cover)
	}
	in, out := 0, 0
	for i := range tags {
		r := policy.Request{URIs: []string{"spiffe://td/a", tag(i).(policy.Is).Match.Value}}
		if at, ok := cover.Locate(r); !ok && at == classes.Unclassed {
			out++
		} else if ok {
			in++
		}
	}
	if in == 0 || out == 0 {
		t.Errorf("%d callers are in a class, %d in none", in, out)
	}
}

func TestNeighboursOfNames(t *testing.T) {
	t.Parallel()
	dev, prod := attribute.URISAN.Exact("kuma://env/dev"), attribute.URISAN.Exact("kuma://env/prod")
	web := attribute.URISAN.Prefix("spiffe://td/")
	when := policy.And{web, dev, policy.Not{Condition: prod}}
	cover := classes.Cut(classes.Surface{Protocol: policy.TCP}, programs(when)...)
	at, ok := cover.Locate(policy.Request{URIs: []string{"spiffe://td/web", "kuma://env/dev"}})
	if !ok || cover.Classes[at].String() != "callers with kuma://env/dev and spiffe://td/… but not kuma://env/prod" {
		t.Fatalf("class %d of %v", at, cover.Classes)
	}
	got := make(map[string]bool)
	for _, n := range cover.Neighbours(at) {
		names := strings.Join(n.Request.URIs, " ")
		if len(n.Request.DNS) > 0 {
			names += " DNS " + strings.Join(n.Request.DNS, " ")
		}
		got[n.Why+": "+names] = n.Class == at
	}
	want := map[string]bool{
		"one name more: spiffe://td/ns/any/sa/any kuma://env/dev kuma://env/prod":                        false,
		"one name more: spiffe://td/ns/any/sa/any kuma://env/dev spiffe://other.example/ns/any1/sa/any1": true,
		"one name less: spiffe://td/ns/any/sa/any":                                                       false,
		"a name as a DNS SAN: spiffe://td/ns/any/sa/any DNS kuma://env/dev":                              true,
		"a longer name: spiffe://td/ns/any/sa/any kuma://env/dev-evil":                                   false,
		"a longer name: spiffe://td/ns/any/sa/any kuma://env/dev2":                                       false,
		"a longer name: spiffe://td/ns/any/sa/any kuma://env/devx":                                       false,
		"a child: spiffe://td/ns/any/sa/any kuma://env/dev/x":                                            false,
		"another case: spiffe://td/ns/any/sa/any kuma://env/Dev":                                         false,
		"a shorter name: spiffe://td/ns/any/sa/any kuma://env/de":                                        false,
		"the parent: spiffe://td/ns/any/sa/any kuma://env":                                               false,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("in the class of the witness (-want +got):\n%s", diff)
	}
	both, _ := cover.Locate(policy.Request{URIs: []string{"spiffe://td/web", "kuma://env/dev", "kuma://env/prod"}})
	if !slices.ContainsFunc(cover.Neighbours(both), func(n classes.Neighbour) bool {
		return n.Why == "the same names in another order" && n.Class == both
	}) {
		t.Errorf("no caller has the names of %s in another order", cover.Classes[both])
	}
}
