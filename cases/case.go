package cases

import (
	"net/netip"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases/feature"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Case is one case of a case file.
type Case struct {
	Name string
	// Story groups cases in a report; optional.
	Story string
	// Features are those that a compiler must support, or the case says nothing about
	// it. A case of a user may name none.
	Features []feature.Name
	// Gate bounds the versions of Envoy on which the case holds.
	Gate Gate
	// Source is the case as written, with the comments above it.
	Source string
	// Place is "file:line" of the case.
	Place string
	// TrustDomains have the bundles that the inbounds trust; the first one is the trust
	// domain of the mesh.
	TrustDomains  []spiffeid.TrustDomain
	Options       language.Options
	Normalization policy.PathNormalization
	Inbounds      []Inbound
	Policies      []manifest.Document
	Requests      []Request
	// Counters state by how much the admin counters of inbounds must move.
	Counters []Counters
	// ExpectError is a part of the error with which the policies must be refused. It
	// is empty where they must be accepted.
	ExpectError string
	// ExpectWarnings are parts of the lint warnings, one of each. It is nil where the
	// case states no warnings.
	ExpectWarnings []string
}

// Inbound is one inbound of one workload.
type Inbound struct {
	policy.Inbound
	// Identity is the SPIFFE ID in the certificate of the inbound.
	Identity spiffeid.ID
	IP       netip.Addr
	// Permissive inbounds accept plaintext too.
	Permissive bool
}

// Address is the destination address in the PROXY header of the callers.
func (i Inbound) Address() netip.AddrPort { return netip.AddrPortFrom(i.IP, i.Port) }

// Request is one request. Where the file has lists, it is one of their combinations.
type Request struct {
	// Place is "file:line: field" of the item in the file.
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
