// Package warning names the kinds of warnings that lint has.
//
// It guarantees that each kind has a stable name and a section of docs/lint.md. A dialect
// decides where a kind applies; this package has no rule.
package warning

// Kind is the name of a kind of warning. It never changes.
type Kind string

// The kinds. [About] has each of them.
const (
	DanglingReference       Kind = "dangling-reference"
	DenyByServerName        Kind = "deny-by-server-name"
	DenyInPlaintext         Kind = "deny-in-plaintext"
	DotForAny               Kind = "dot-for-any"
	DryRunBehindAuthorizer  Kind = "dry-run-behind-authorizer"
	EmptyList               Kind = "empty-list"
	EmptyRule               Kind = "empty-rule"
	ForwardedAddress        Kind = "forwarded-address"
	GatewayIdentity         Kind = "gateway-identity"
	GetWithoutHead          Kind = "get-without-head"
	HiddenByDeny            Kind = "hidden-by-deny"
	HiddenByOpenRule        Kind = "hidden-by-open-rule"
	HostWithoutPort         Kind = "host-without-port"
	HTTPOnTCP               Kind = "http-on-tcp"
	IdleDefaultDeny         Kind = "idle-default-deny"
	InvisibleCharacter      Kind = "invisible-character"
	LimitWithoutEffect      Kind = "limit-without-effect"
	LinesJoined             Kind = "lines-joined"
	LostDeny                Kind = "lost-deny"
	ManyTags                Kind = "many-tags"
	MissingBackend          Kind = "missing-backend"
	MutualAuthentication    Kind = "mutual-authentication"
	NegativeWithoutIdentity Kind = "negative-without-identity"
	NeverMatches            Kind = "never-matches"
	NoPeer                  Kind = "no-peer"
	NoRules                 Kind = "no-rules"
	NotApplied              Kind = "not-applied"
	NothingOpens            Kind = "nothing-opens"
	NoTokenIsRead           Kind = "no-token-is-read"
	NotInAmbient            Kind = "not-in-ambient"
	NotRendered             Kind = "not-rendered"
	OneLineOfMany           Kind = "one-line-of-many"
	OpenHTTP                Kind = "open-http"
	OtherSpelling           Kind = "other-spelling"
	Overridden              Kind = "overridden"
	PathInsideName          Kind = "path-inside-name"
	PathWithQuery           Kind = "path-with-query"
	PortOfNoInbound         Kind = "port-of-no-inbound"
	PrefixInsideName        Kind = "prefix-inside-name"
	ProbesRefused           Kind = "probes-refused"
	RouteNotReached         Kind = "route-not-reached"
	RouteNotServed          Kind = "route-not-served"
	RouteOpened             Kind = "route-opened"
	RoutesTie               Kind = "routes-tie"
	RuleForEverybody        Kind = "rule-for-everybody"
	SchemeInPrincipal       Kind = "scheme-in-principal"
	SelectorInRootNamespace Kind = "selector-in-root-namespace"
	SelectsNothing          Kind = "selects-nothing"
	SeveralProviders        Kind = "several-providers"
	SPIFFEOfAccount         Kind = "spiffe-of-account"
	SplitRule               Kind = "split-rule"
	StarInTheMiddle         Kind = "star-in-the-middle"
	StatedRole              Kind = "stated-role"
	TokenNotRequired        Kind = "token-not-required"
	UnknownIdentity         Kind = "unknown-identity"
	UnknownProvider         Kind = "unknown-provider"
	WorldByLabel            Kind = "world-by-label"
	YoungerThanAnother      Kind = "younger-than-another"
)

// Descriptions says of each kind what it is about.
var Descriptions = map[Kind]string{
	DanglingReference:       "A reference to an object that is not there",
	DenyByServerName:        "A deny by server name, which a caller avoids with another name",
	DenyInPlaintext:         "A deny by name, which a caller in plaintext passes",
	DotForAny:               "A dot of an expression, which stands for any character",
	DryRunBehindAuthorizer:  "A dry run behind an authorizer, which says nothing of what that refuses",
	EmptyList:               "An empty list, which has no effect",
	EmptyRule:               "A rule that names neither peers nor ports, which allows nothing",
	ForwardedAddress:        "An address of a header that every caller can write",
	GatewayIdentity:         "The identity of a gateway, which all callers of other clusters have",
	GetWithoutHead:          "A rule that takes GET and not HEAD",
	HiddenByDeny:            "An allow whose requests are all denied",
	HiddenByOpenRule:        "HTTP rules for callers whom another rule lets in without them",
	HostWithoutPort:         "A host without a port, which a caller evades with one",
	HTTPOnTCP:               "A field of HTTP, and an inbound on tcp",
	IdleDefaultDeny:         "A default deny of a direction without rules, which closes nothing",
	InvisibleCharacter:      "A character that no editor shows, in a name or a value",
	LimitWithoutEffect:      "A limit of time that no request meets",
	LinesJoined:             "A refused value of a header whose lines Envoy joins",
	LostDeny:                "A deny of the legacy form that released Kuma loses",
	ManyTags:                "A client with two tags that the full legacy compiler denies",
	MissingBackend:          "A backend of a route that is not there",
	MutualAuthentication:    "A demand for authentication that a later release of Cilium drops",
	NegativeWithoutIdentity: "An allow that only says who does not call",
	NeverMatches:            "A value that no request has",
	NoPeer:                  "Peers that no workload is",
	NoRules:                 "A policy without rules",
	NotApplied:              "A policy that a tool may not apply",
	NothingOpens:            "A Server that closes its port, and nothing that opens it",
	NoTokenIsRead:           "A field about a token, and an inbound that reads none",
	NotInAmbient:            "A policy that ztunnel reads otherwise than a sidecar",
	NotRendered:             "A policy with a placeholder or an instruction of a template tool",
	OneLineOfMany:           "A refused value of a header, which is compared with a whole line",
	OpenHTTP:                "HTTP rules where nothing is closed",
	OtherSpelling:           "A path that another spelling of it avoids",
	Overridden:              "An item that a stronger one overrides",
	PathInsideName:          "A path with a star behind a name, which also stands for longer names",
	PathWithQuery:           "A path that does not match with a query",
	PortOfNoInbound:         "A port that no selected workload has",
	PrefixInsideName:        "A prefix or an end of an identity that breaks off inside a name",
	ProbesRefused:           "A Server whose routes let the probes of the kubelet in no more",
	RouteNotReached:         "A rule of a route that no request takes",
	RouteNotServed:          "A route of a kind that requests to its Server do not take",
	RouteOpened:             "A policy of a route whose Server is open for all routes",
	RoutesTie:               "Two routes of which the older one counts",
	RuleForEverybody:        "A rule without conditions",
	SchemeInPrincipal:       "A scheme in a principal, which never matches",
	SelectorInRootNamespace: "A PeerAuthentication of the root namespace with a selector, which applies to nothing",
	SelectsNothing:          "A policy that selects no workload",
	SeveralProviders:        "A CUSTOM beside one of another provider, so that both deny",
	SPIFFEOfAccount:         "A SPIFFE ID for a service account, which Linkerd knows by its name",
	SplitRule:               "A rule for callers beside one for requests, of which neither bounds the other",
	StarInTheMiddle:         "A star inside a value, which is the character itself",
	StatedRole:              "A role that a policy states, and that a control plane writes over",
	TokenNotRequired:        "A RequestAuthentication, and no policy that asks for a token",
	UnknownIdentity:         "A name that no service account of the mesh has",
	UnknownProvider:         "A CUSTOM whose provider the mesh config lacks, so that it denies",
	WorldByLabel:            "A selector of labels that the world meets",
	YoungerThanAnother:      "A PeerAuthentication beside an older one about the same workloads",
}
