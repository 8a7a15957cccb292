package language

import (
	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/policy/manifest"
)

// Options are what the policies themselves do not say. The zero value has the
// defaults of every dialect.
type Options struct {
	// Document has the keys of all dialects, as they stand under options of a case
	// file. Each dialect reads its own keys; whoever passes the document on knows none.
	Document manifest.Document
	// TrustDomain is the mesh's own; the zero value means trust-domain.mesh.
	TrustDomain spiffeid.TrustDomain
	// Dialect names the dialect to which a set without policies belongs; "" means the
	// first of the list in policy/dialect.
	Dialect string
}

// Flag is an option as a flag of a command.
type Flag struct {
	// Key is the key of the option in [Options.Document].
	Key string
	// Name is that of the flag.
	Name string
	// Values are the texts to choose from, the default first; nil means any text, and
	// the empty one by default.
	Values []string
	// Usage is a phrase for the help of a command.
	Usage string
	// UsageOfSet is Usage where two sets of policies are compared and may differ in
	// the option; %s is the name of one set. It is empty where they may not differ.
	UsageOfSet string
	// Value returns what stands behind the key in YAML for a text of the flag. Its
	// error lists the known texts.
	Value func(text string) (string, error)
}

// Flagger is a dialect whose options are flags of commands.
type Flagger interface {
	Flags() []Flag
}
