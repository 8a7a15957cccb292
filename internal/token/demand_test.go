package token_test

import (
	"testing"

	"github.com/meshproof/meshproof/internal/token"
)

// A filter may look into a place that no caller of the protocol fills, if the policies name the place.
func TestPlacesThatNobodyFills(t *testing.T) {
	t.Parallel()
	header, parameter, other := token.Place{Name: "x-token"}, token.Place{Kind: token.InParameter, Name: "token"}, token.Place{Kind: token.InParameter, Name: "other"}
	demand := func(places ...token.Place) token.Demand {
		return token.Demand{Issuers: []token.Issuer{{Name: "i", Places: places}}}
	}
	own := demand(header)
	own.Issuers[0].Unfilled = []token.Place{parameter}
	for _, tt := range []struct {
		filter token.Demand
		same   bool
	}{{demand(header), true}, {demand(header, parameter), true}, {demand(header, other), false}, {demand(header, parameter, other), false}, {demand(parameter), false}} {
		if same := own.Difference(tt.filter) == ""; same != tt.same {
			t.Errorf("%v: the same is %t", tt.filter.Issuers[0].Places, same)
		}
	}
}
