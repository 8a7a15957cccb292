package classes_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
)

// TestManyNames cuts by two programs that say the same of many names, each in its own words. That no
// request tells them apart is known when each name was tried.
func TestManyNames(t *testing.T) {
	t.Parallel()
	var names policy.Or
	for i := range 1500 {
		names = append(names, is(attribute.URISAN, policy.Exact, fmt.Sprintf("spiffe://trust-domain.mesh/ns/a/sa/x%d", i)))
	}
	domain := is(attribute.URISAN, policy.Prefix, "spiffe://other.mesh/")
	role := is(attribute.Header("x-role"), policy.Exact, "admin")
	suffix := is(attribute.URISAN, policy.Suffix, "/sa/x7")
	once := ordered(policy.And{policy.Or{names, domain}, role}, suffix)
	each := ordered(policy.Or{policy.And{role, domain}, policy.And{names, policy.Always, role}}, suffix)
	alone, both := classes.Cut(classes.Surface{}, once), classes.Cut(classes.Surface{}, once, each)
	// The second program has a rule for each operand.
	if !both.Complete() || len(both.Classes) != len(alone.Classes)+1 {
		t.Errorf("%s, want one more than of one program: %s", both, alone)
	}
	// What is left out is another condition.
	less := ordered(policy.Or{policy.And{role, domain}, policy.And{names[1:], role}}, suffix)
	if differs := classes.Cut(classes.Surface{}, once, less); len(differs.Classes) <= len(alone.Classes) {
		t.Errorf("%s, want a class for the name that is left out", differs)
	}
}

// TestManyNamesBesideOthers cuts by two programs that say the same of many names, and differ by what
// every request has. That no request tells them apart does not depend on the name.
func TestManyNamesBesideOthers(t *testing.T) {
	t.Parallel()
	var names policy.Or
	for i := range 1000 {
		names = append(names, is(attribute.URISAN, policy.Exact, fmt.Sprintf("spiffe://trust-domain.mesh/ns/a/sa/x%d", i)))
	}
	method := func(kind policy.MatchKind, value string) policy.Condition { return is(attribute.Method, kind, value) }
	read := policy.Or{method(policy.Suffix, "ST"), method(policy.Exact, "REPORT")}
	write := policy.And{
		policy.Or{method(policy.Prefix, "P"), method(policy.Exact, "DELETE")},
		policy.Or{is(attribute.Path, policy.Exact, "/"), is(attribute.Path, policy.Exact, "/profile")},
	}
	near := is(attribute.SourceAddress, policy.CIDR, "192.168.0.0/16")
	once := ordered(policy.And{policy.Or{policy.And{is(attribute.Host, policy.Present, ""), read}, write}, names, near})
	other := ordered(policy.And{policy.Or{read, write}, names, near})
	if cover := classes.Cut(classes.Surface{Protocol: policy.HTTP2}, once, other); !cover.Complete() || len(cover.Classes) != 2 {
		t.Errorf("%s, want 2 classes", cover)
	}
}

// TestRepeatedSources cuts by two programs that say the same of equal sources, one of them once for
// each source.
func TestRepeatedSources(t *testing.T) {
	t.Parallel()
	name := func(regex string) policy.Condition { return is(attribute.URISAN, policy.Regex, regex) }
	source := policy.And{
		policy.Not{Condition: policy.Or{name(".*/ns/default/.*"), name(".*/ns/a/.*")}}, is(attribute.SourceAddress, policy.CIDR, "0.0.0.0/0"),
		policy.Not{Condition: is(attribute.SourceAddress, policy.CIDR, "10.64.0.0/31")},
	}
	accounts := policy.And{
		policy.Or{name("spiffe://.+/ns/queue/sa/details"), name("spiffe://.+/ns/default/sa/queue")},
		policy.Not{Condition: policy.Or{name("spiffe://.+/ns/default/sa/mail"), name("spiffe://.+/ns/default/sa/queue")}},
	}
	var sources, each policy.Or
	for range 60 {
		sources, each = append(sources, source), append(each, append(slices.Clone(source), accounts...))
	}
	post := policy.Or{is(attribute.Method, policy.Prefix, "P"), policy.And{is(attribute.Method, policy.Exact, "OPTIONS"), is(attribute.Path, policy.Exact, "/b")}}
	once, repeated := ordered(policy.And{post, sources, accounts}), ordered(policy.And{post, each})
	if cover := classes.Cut(classes.Surface{Protocol: policy.HTTP2}, once, repeated); !cover.Complete() || len(cover.Classes) != 2 {
		t.Errorf("%s, want 2 classes", cover)
	}
}
