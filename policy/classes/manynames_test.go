package classes_test

import (
	"fmt"
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
		names = append(names, by(attribute.URISAN, policy.Exact, fmt.Sprintf("spiffe://trust-domain.mesh/ns/a/sa/x%d", i)))
	}
	domain := by(attribute.URISAN, policy.Prefix, "spiffe://other.mesh/")
	role := by(attribute.Header("x-role"), policy.Exact, "admin")
	suffix := by(attribute.URISAN, policy.Suffix, "/sa/x7")
	once := ordered(policy.And{policy.Or{names, domain}, role}, suffix)
	each := ordered(policy.Or{policy.And{role, domain}, policy.And{names, policy.Always, role}}, suffix)
	alone, both := classes.Of(classes.Surface{}, once), classes.Of(classes.Surface{}, once, each)
	// The second program has a rule for each operand.
	if !both.Complete() || len(both.Classes) != len(alone.Classes)+1 {
		t.Errorf("%s, want one more than of one program: %s", both, alone)
	}
	// What is left out is another condition.
	less := ordered(policy.Or{policy.And{role, domain}, policy.And{names[1:], role}}, suffix)
	if differs := classes.Of(classes.Surface{}, once, less); len(differs.Classes) <= len(alone.Classes) {
		t.Errorf("%s, want a class for the name that is left out", differs)
	}
}
