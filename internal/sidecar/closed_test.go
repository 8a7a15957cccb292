package sidecar

import (
	"testing"

	"github.com/meshproof/meshproof/internal/messages"
)

func TestClosedListsNameFields(t *testing.T) {
	t.Parallel()
	for _, list := range []messages.Closed{known, passing, knownCluster, knownTLS, knownAgent, knownKuma} {
		if err := list.Check(); err != nil {
			t.Error(err)
		}
	}
}
