package policyset_test

import (
	"testing"

	"github.com/meshproof/meshproof/internal/policyset"
	"github.com/meshproof/meshproof/internal/verdict"
)

// Other names make no SPIFFE ID that is too long for its field: a run ended where one did.
func TestOtherNamesAreNotTooLong(t *testing.T) {
	t.Parallel()
	for _, of := range []struct{ seed, number uint64 }{{33, 0}, {41, 32}} {
		if _, err := verdict.Read(policyset.DrawFresh(of.seed, of.number, policyset.GatewayAPI)); err != nil {
			t.Errorf("set %d of seed %d: %v", of.number, of.seed, err)
		}
	}
}
