package cases

import (
	"net/netip"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases/feature"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Case is one case of a case file.
type Case struct {
	Name string
	// Story groups cases in a report; optional.
	Story string
	// Features are what a compiler has to support for the case to mean anything; a
	// case of a user's own may name none.
	Features []feature.Name
	// Gate bounds the versions of Envoy on which the case holds.
	Gate Gate
	// Source is the case as written, with the comments above it.
	Source string
	// Place is "file:line" of the case.
	Place string
	// TrustDomains are those whose bundles the inbounds trust; the first is the
	// mesh's own.
	TrustDomains  []spiffeid.TrustDomain
	Options       dialect.Options
	Normalization policy.PathNormalization
	Inbounds      []Inbound
	Policies      []manifest.Document
	Requests      []Request
	// Counters are what the admin counters of an inbound must have moved by.
	Counters []Counters
	// ExpectError is contained in the error with which the policies must be
	// refused; empty where they must be accepted.
	ExpectError string
	// ExpectWarnings are contained in the lint warnings, one each; nil where the
	// case says nothing of warnings.
	ExpectWarnings []string
}

// Inbound is one inbound of one workload.
type Inbound struct {
	policy.Inbound
	// Identity is the SVID that the inbound shows.
	Identity spiffeid.ID
	IP       netip.Addr
	// Permissive tells whether plaintext is let in too.
	Permissive bool
}

// Address is the destination that callers play.
func (i Inbound) Address() netip.AddrPort { return netip.AddrPortFrom(i.IP, i.Port) }

// Request is one request, after lists have been crossed.
type Request struct {
	// Place is "file:line: field" of the request it was written in.
	Place string
	From  Caller
	// To is the inbound's name, "workload/section".
	To                      string
	Method, Path, Authority string
	Headers                 []Header
	// GRPC is "Service/Method".
	GRPC     string
	SourceIP netip.Addr
	Want     Want
	// By, Shadow and ShadowBy are nil where the request states none.
	By       *string
	Shadow   *Shadow
	ShadowBy *string
}

// Header is one header line of a request.
type Header struct{ Name, Value string }
