package capability

import (
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
)

// Aging is a set of policies in which the older one of some documents counts. No file says which that is: the program takes
// one of them.
type Aging interface {
	// Rivals returns a key for each document of an inbound that counts where it is the oldest.
	Rivals(in policy.Inbound) []string
	// WithOldest returns the policies where the document of a key is older than all others. Only programs may be asked of
	// the result.
	WithOldest(rival string) language.Policies
}
