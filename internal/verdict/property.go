package verdict

import (
	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness/evidence"
)

// Property is one thing that holds of each request: what must become of it, and whether
// the evidence shows that it did. [Authorization] is the only one.
type Property[Expected, Found any] struct {
	Expect func(Inbound, cases.Request) Expected
	Judge  func(Expected, Stated, evidence.Evidence) Found
}

// Authorization is the property that the policies decide a request, and nothing else does
// where they are asked.
var Authorization = Property[Expectation, Judgement]{Expect: Inbound.Expect, Judge: Judge}
