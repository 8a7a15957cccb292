package lift

import "testing"

func TestClosedListsNameFields(t *testing.T) {
	t.Parallel()
	if err := known.Check(); err != nil {
		t.Error(err)
	}
}
