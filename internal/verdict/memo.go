package verdict

import (
	"sync"

	"github.com/meshproof/meshproof/cases"
)

// Memo reads the policies of each case once, however often it is asked. It knows a case by
// name and place, so a case must not change in between. The zero value is ready, and safe
// for concurrent use.
type Memo struct {
	// known has functions that return what [Read] returned.
	known sync.Map
}

type memoKey struct{ name, place string }

// Read is [Read].
func (m *Memo) Read(c cases.Case) (*Reading, error) {
	once, _ := m.known.LoadOrStore(memoKey{c.Name, c.Place}, sync.OnceValues(func() (*Reading, error) { return Read(c) }))
	return once.(func() (*Reading, error))()
}
