package mistake

// Kind is a kind of mistake.
type Kind uint8

// The kinds of mistakes.
const (
	// DenyMoved moves a deny after the last allow of its list.
	DenyMoved Kind = iota
	// ExactToPrefix compares only the beginning of a value.
	ExactToPrefix
	// LastRuleLost drops the last rule of a list.
	LastRuleLost
	// RuleLost drops another rule of a list.
	RuleLost
	// AlternativeLost drops one of several conditions of which one is enough, such as one of
	// several callers.
	AlternativeLost
	// AlternativeAdded takes a value that another rule of the list asks for, too.
	AlternativeAdded
	// ConditionDropped asks for all but one of several conditions.
	ConditionDropped
	// NoMatchDropped drops the verdict for requests that no rule matches.
	NoMatchDropped
	// NoMatchInverted inverts the verdict for requests that no rule matches.
	NoMatchInverted
	// ShadowSwapped enforces the shadow, and only observes the enforced rules.
	ShadowSwapped
	// AndToOr asks for one of several conditions instead of all.
	AndToOr
	// ExceptionDropped asks for all but one of several conditions: it leaves a negative one out.
	ExceptionDropped
	// EndMissed moves an end of a range of ports by one, or that of a block of addresses by one
	// bit of its length.
	EndMissed
	// NotDropped asks for what a condition excludes.
	NotDropped
	// EndsExchanged compares the beginning of a value in place of its end.
	EndsExchanged
	// DotUnescaped lets a dot of a regular expression stand for any character. The expression
	// is that of the policy, or one that a compiler makes of a value.
	DotUnescaped
	// ExactToPresent asks whether there is a value at all.
	ExactToPresent
	// PresentToEmpty asks for the empty value in place of any.
	PresentToEmpty
	// PrefixToExact compares the whole value in place of its beginning.
	PrefixToExact
	// SegmentsToPrefix compares a beginning that may end within a segment.
	SegmentsToPrefix
	// ContainsToPrefix looks for a text at the beginning alone.
	ContainsToPrefix
	// TemplateToPrefix compares the beginning in front of the first wildcard.
	TemplateToPrefix
	// Unanchored looks for a regular expression anywhere in the value.
	Unanchored
	// CaseCompared compares letters with their case.
	CaseCompared
	// CaseIgnored compares letters without their case.
	CaseIgnored
	// DomainIgnored compares a SPIFFE ID without its trust domain.
	DomainIgnored
	// DomainMistaken compares a SPIFFE ID with another trust domain, or with one that lacks it.
	DomainMistaken
	// PortIgnored compares hosts without their port.
	PortIgnored
	// OrToAnd asks that a request has all of several values, such as lines of a header, in place
	// of one of them.
	OrToAnd
	// ClaimDropped does not ask for one of several claims of a token.
	ClaimDropped
	// NoInspector leaves the TLS inspector out, so that Envoy knows no server name.
	NoInspector
	// RawPaths judges paths without normalization.
	RawPaths
	// WrongFilter configures the filter of another protocol, which judges nothing.
	WrongFilter
	// RouteForAll judges what no route takes by the last route, in place of a 404.
	RouteForAll
	// RoutesReversed asks for the last route first.
	RoutesReversed
	// PolicyLost does not apply a policy, or another document that the policies need.
	PolicyLost
	// OtherWorkload applies the policies of another workload.
	OtherWorkload
	// OtherSection applies the policies of another port or section of the workload.
	OtherSection
	// OtherNamespace applies the policies of another namespace.
	OtherNamespace
	// LabelBeginning applies policies that select a label, a tag or a name with which that of the workload begins.
	LabelBeginning
	// StaleTrust keeps the CAs from before a rotation in Envoy.
	StaleTrust
	// AudienceIgnored takes tokens for every audience.
	AudienceIgnored
	// FailModeInverted lets a request pass where an authorizer gives no answer and should refuse
	// it, or the other way round.
	FailModeInverted
	// OtherMode takes other callers than the policies say: plaintext, mTLS, or both.
	OtherMode
	// OtherPaths normalizes paths in another way than the policies say.
	OtherPaths
	// RouteLost drops a route of a sidecar.
	RouteLost
	// RoutesExchanged tries a route of a sidecar behind the one that follows it.
	RoutesExchanged
	// MatchLost does not ask for one of several parts of a route's match, or for the only one.
	MatchLost
	// WeightLost gives all backends of a route the same weight, also one that has none.
	WeightLost
	// BackendMistaken sends requests to another backend.
	BackendMistaken
	// LimitOfService bounds the requests of a route by what the service has.
	LimitOfService
	// LimitLost drops a limit.
	LimitLost
	// SecondsForMilliseconds makes a limit a thousand times as long.
	SecondsForMilliseconds

	kinds
)

var kindNames = [kinds]string{
	DenyMoved: "deny moved behind an allow", ExactToPrefix: "exact turned prefix", LastRuleLost: "last rule lost",
	RuleLost: "rule lost", AlternativeLost: "alternative lost", AlternativeAdded: "alternative of another rule added", ConditionDropped: "condition dropped",
	NoMatchDropped: "no-match dropped", NoMatchInverted: "no-match inverted", ShadowSwapped: "shadow swapped with enforced",
	AndToOr: "and turned or", ExceptionDropped: "exception dropped", EndMissed: "end of a range missed",
	NotDropped: "not dropped", EndsExchanged: "suffix turned prefix", DotUnescaped: "dot taken for any character",
	ExactToPresent: "exact turned present", PresentToEmpty: "present turned empty", PrefixToExact: "prefix turned exact",
	SegmentsToPrefix: "segments turned prefix", ContainsToPrefix: "contains turned prefix", TemplateToPrefix: "template turned prefix",
	Unanchored: "regular expression not anchored", CaseCompared: "case of letters compared", PortIgnored: "port of a host ignored",
	CaseIgnored: "case of letters not compared", DomainIgnored: "trust domain not compared", DomainMistaken: "wrong trust domain",
	OrToAnd: "or turned and over several values", ClaimDropped: "claim not asked for",
	NoInspector: "server name not read", RawPaths: "path without normalization", WrongFilter: "wrong kind of filter", RouteForAll: "no route taken for the last", RoutesReversed: "routes reversed", StaleTrust: "stale trust bundle",
	PolicyLost: "policy not applied", OtherWorkload: "policies of another workload applied", OtherSection: "policies of another port applied", OtherNamespace: "policies of another namespace applied",
	LabelBeginning:  "beginning of a label compared",
	AudienceIgnored: "audience of a token not read", FailModeInverted: "fail mode of an authorizer inverted",
	OtherMode: "other mode of mTLS", OtherPaths: "paths normalized otherwise",
	RouteLost: "route lost", RoutesExchanged: "routes exchanged", MatchLost: "match lost", WeightLost: "weight lost",
	BackendMistaken: "wrong backend", LimitOfService: "limit of the service taken", LimitLost: "limit lost", SecondsForMilliseconds: "seconds for milliseconds",
}

// String names the mistake in a few words.
func (k Kind) String() string { return kindNames[k] }

// Kinds returns all kinds.
func Kinds() []Kind {
	out := make([]Kind, kinds)
	for k := range out {
		out[k] = Kind(k)
	}
	return out
}

// OfSidecar reports whether the mistake is made in the outbound side of a sidecar alone.
func (k Kind) OfSidecar() bool { return k >= RouteLost }
