// Package language says what a dialect of policies is: the interface that every
// dialect implements, and the types that its methods share.
//
// A new dialect is a package with one value of type [Dialect], and one line in
// the list of package internal/dialects. It imports this package, policy and
// policy/manifest. Nothing else has to know it: the options of a dialect are one
// document that is passed on unread, and what only one dialect can do, such as to
// convert old policies, is a small interface of package internal/capability.
//
// The package guarantees that a dialect can be added without a change to the packages
// that use dialects. It holds no rule of its own and imports no dialect.
package language

import (
	"net/netip"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Dialect is a language of policies. It has no state.
type Dialect interface {
	// Name is one word, such as kuma.
	Name() string
	// Kinds are the documents that the dialect owns, for the error about a document that no
	// dialect owns. An API version stands for its group where the version is left out.
	Kinds() []manifest.Head
	// Owns reports whether a document is a policy of the dialect, in any version.
	Owns(doc manifest.Document) bool
	// NewOptions returns a pointer to a struct with the defaults of the dialect's
	// options. The yaml tag of a field is its key in [Options.Document]. As JSON the
	// struct has every option with its value.
	NewOptions() any
	// Parse reads policies that the dialect owns. It returns all errors joined, one
	// line each. Without documents the result is the empty set of the dialect.
	Parse(docs []manifest.Document, opts Options) (Policies, error)
}

// Policies is a set of valid policies of one dialect, with the options they were
// read by. It is immutable.
type Policies interface {
	// Check refuses what can only be refused for a given inbound: policies that
	// give no program there.
	Check(in policy.Inbound) error
	// Program selects the policies of the inbound and lowers them. Where [Check]
	// refuses, the program lets no caller in.
	Program(in policy.Inbound) Program
	// Ignored has a line for each policy that does not apply to the inbound, with the reason.
	Ignored(in policy.Inbound) []string
	// Evaluate selects the policies of the inbound, and returns a function that judges
	// requests straight from their text. It is a second opinion on Program and on
	// [policy.Decide], and shares no code with them but the parsing of the policies.
	Evaluate(in policy.Inbound) func(policy.Request) policy.Decision
	// Lint warns of policies that are legal but may not do what their author means.
	// The inbounds are all that there are.
	Lint(inbounds []policy.Inbound) []policy.Warning
	// Notes explains what a reader of the observed decisions may not expect of the
	// dialect, one line each.
	Notes(observed []policy.Decision) []string
}

// Program is the decision program of one inbound, with what the dialect says
// beside it.
type Program struct {
	policy.Program
	// Warnings are those of lowering.
	Warnings []policy.Warning
	// JudgesPlaintext is true where the program also judges plaintext callers of an
	// inbound that takes them, as callers without a name. Otherwise they pass there.
	JudgesPlaintext bool
	// MTLS says which callers the policies let the inbound take. The zero value says that
	// they do not speak of it.
	MTLS mtls.Mode
	// DefaultMTLS is what the dialect's mesh has where nothing states a mode: the mode of inbounds
	// that no case describes. Where this mode takes plaintext, a case that asks in plaintext has to state one.
	DefaultMTLS mtls.Mode
	// Tokens is what the policies demand of tokens (JWT) before they judge. The zero value
	// reads no token, so that no request has claims.
	Tokens token.Demand
}

// Options are what the policies themselves do not say. The zero value has the
// defaults of every dialect.
type Options struct {
	// Document has the keys of all dialects, as they stand under options of a case
	// file. Each dialect reads its own keys. The packages that pass it on know no key.
	Document manifest.Document
	// TrustDomain is the mesh's own; the zero value means trust-domain.mesh.
	TrustDomain spiffeid.TrustDomain
	// Peers are the workloads that callers may be. A dialect of this module knows a caller
	// by its certificate alone; another compiler may select it by its labels.
	Peers []Peer
	// Dialect names the dialect of a set without policies; "" means the one that alone has an option
	// of Document, or else the first of the list in internal/dialects.
	Dialect string
}

// Peer is a workload as a caller.
type Peer struct {
	Workload policy.Workload
	// Identity is the SPIFFE ID of its certificate.
	Identity spiffeid.ID
	// IP is its address in the virtual mesh.
	IP netip.Addr
}
