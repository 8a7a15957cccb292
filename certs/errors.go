package certs

import "errors"

// Sentinel errors; test for them with errors.Is.
var (
	// ErrForeignTrustDomain is wrapped when an Authority is asked to mint an SVID of another trust domain.
	ErrForeignTrustDomain = errors.New("the SPIFFE ID is of another trust domain")

	// ErrNoWorkloadPath is wrapped when an SVID is asked for an ID without a path. Such an ID names the trust
	// domain itself and belongs to a CA (X509-SVID, section 2: leaf certificates have a non-root path).
	ErrNoWorkloadPath = errors.New("the SPIFFE ID has no path, so it names no workload")

	// ErrNoTrustDomain is wrapped when the zero trust domain is given.
	ErrNoTrustDomain = errors.New("the trust domain is empty")

	// ErrUnknownTrustDomain is wrapped when a BundleSet holds no bundle of the trust domain asked for.
	ErrUnknownTrustDomain = errors.New("the bundle set does not hold the trust domain")
)
