package feature_test

import (
	"fmt"

	"github.com/meshproof/meshproof/cases/feature"
)

func ExampleLookup() {
	f, ok := feature.Lookup("AuthorizationPolicyPorts")
	fmt.Println(ok, f.Profile, f.Level)
	fmt.Println(f.About)
	// Output:
	// true GEP-3779 core
	// Ports narrow a rule.
}
