package capability

import (
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
)

// Reacher is a set of policies some of which count in other folders too: what such a folder has, they decide about,
// or it names them.
type Reacher interface {
	// Reaches returns what other folders may have, as far as the policies say something of it.
	Reaches() []OutsideDocument
	// WithOutside returns the policies as the inbound of such a document meets them. Only its program may be asked of the result.
	WithOutside(of OutsideDocument) language.Policies
}

// OutsideDocument is something that another folder may have.
type OutsideDocument struct {
	// Text says what it is, and is the same for two that are alike.
	Text string
	// Kind, Namespace and Name are those of a document. Kind and Name are empty for something that policies select by its
	// namespace and its labels. Named is true for a document of the set that something of another folder names.
	Kind, Namespace, Name string
	Labels                map[string]string
	Named                 bool
	// Present is true where the set has such a document that is not named, so that it is nothing of another folder.
	Present bool
	// Inbound is the one whose program [Reacher.WithOutside] is about.
	Inbound policy.Inbound
}
