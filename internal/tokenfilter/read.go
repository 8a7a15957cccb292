package tokenfilter

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	jwtauthnv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/internal/rbac"
	"github.com/meshproof/meshproof/internal/token"
)

// Demand reads a filter back: what it demands of tokens, with the keys of each issuer. The error
// says what of the filter no demand can say. A field that is not known is such a thing.
func Demand(f *jwtauthnv3.JwtAuthentication) (token.Demand, error) {
	return reader{filter: f}.demand()
}

// Stated reads a filter back as [Demand] does, but for keys that come from a server: what a compiler
// states is the place of them, and no server is asked.
func Stated(f *jwtauthnv3.JwtAuthentication) (token.Demand, error) {
	return reader{filter: f, stated: true}.demand()
}

func (r reader) demand() (token.Demand, error) {
	requirement, err := r.requirement()
	if err != nil || requirement == nil {
		return token.Demand{}, err
	}
	if err := r.require(requirement); err != nil {
		return token.Demand{}, err
	}
	d := token.Demand{Required: !r.optional, Preflight: r.filter.BypassCorsPreflight}
	for _, named := range r.named {
		issuer, err := r.issuer(named)
		if err != nil {
			return token.Demand{}, fmt.Errorf("provider %q: %w", named.name, err)
		}
		d.Add(issuer)
	}
	return d, nil
}

type reader struct {
	filter *jwtauthnv3.JwtAuthentication
	stated bool
	named  []provided
	// optional is set where a request without a token passes.
	optional bool
}

// provided is a provider that a requirement names. Its audiences are nil where those of the provider count. An empty
// list of the requirement counts in their place, and allows each audience.
type provided struct {
	name      string
	audiences []string
}

// requirement returns what every request has to meet, and nil where that is nothing.
func (r *reader) requirement() (*jwtauthnv3.JwtRequirement, error) {
	if err := messages.KnowsOnly(r.filter, "providers", "rules", "requirement_map", "stat_prefix", "strip_failure_response", "bypass_cors_preflight"); err != nil {
		return nil, err
	}
	if len(r.filter.Rules) == 0 {
		return nil, nil // no token is verified
	}
	// The first rule decides, so that those behind a rule for all requests never do.
	first := r.filter.Rules[0]
	match := first.GetMatch()
	if err := messages.KnowsOnly(match, "prefix"); err != nil || !slices.Contains([]string{"", "/"}, match.GetPrefix()) {
		return nil, errors.New("its first rule is for some requests only")
	}
	switch of := first.RequirementType.(type) {
	case *jwtauthnv3.RequirementRule_Requires:
		return of.Requires, nil
	case *jwtauthnv3.RequirementRule_RequirementName:
		if named := r.filter.RequirementMap[of.RequirementName]; named != nil {
			return named, nil
		}
		return nil, fmt.Errorf("its first rule names the requirement %q, which is not there", of.RequirementName)
	default:
		return nil, errors.New("its first rule requires nothing")
	}
}

// require reads a requirement of one provider, or of any of several.
func (r *reader) require(of *jwtauthnv3.JwtRequirement) error {
	any, ok := of.GetRequiresType().(*jwtauthnv3.JwtRequirement_RequiresAny)
	if !ok {
		return r.requireOne(of)
	}
	var all [][]*jwtauthnv3.JwtRequirement
	for _, one := range any.RequiresAny.GetRequirements() {
		switch one := one.RequiresType.(type) {
		case *jwtauthnv3.JwtRequirement_AllowMissing:
			r.optional = true
		case *jwtauthnv3.JwtRequirement_RequiresAll:
			all = append(all, one.RequiresAll.GetRequirements())
		default:
			if err := r.requireOne(&jwtauthnv3.JwtRequirement{RequiresType: one}); err != nil {
				return err
			}
		}
	}
	for _, requirements := range all {
		if !r.istioAllows(requirements) {
			return errors.New("it requires several tokens at once")
		}
		r.optional = true
	}
	if len(r.named) == 0 {
		return errors.New("it requires the token of no provider")
	}
	return nil
}

func (r *reader) requireOne(of *jwtauthnv3.JwtRequirement) error {
	switch of := of.GetRequiresType().(type) {
	case *jwtauthnv3.JwtRequirement_ProviderName:
		r.named = append(r.named, provided{name: of.ProviderName})
	case *jwtauthnv3.JwtRequirement_ProviderAndAudiences:
		r.named = append(r.named, provided{of.ProviderAndAudiences.ProviderName, append([]string{}, of.ProviderAndAudiences.Audiences...)})
	case *jwtauthnv3.JwtRequirement_AllowMissingOrFailed:
		return errors.New("a bad token passes as if there were none (allow_missing_or_failed)")
	case *jwtauthnv3.JwtRequirement_ExtractOnlyWithoutValidation:
		return errors.New("it takes claims of tokens that it does not verify (extract_only_without_validation)")
	default:
		return errors.New("it has a requirement that is not known")
	}
	return nil
}

// istioAllows reports whether requirements are those by which Istio lets a request without a token
// pass several providers: each provider, or no token.
func (r *reader) istioAllows(requirements []*jwtauthnv3.JwtRequirement) bool {
	var named []provided
	for _, one := range requirements {
		of := reader{filter: r.filter}
		if of.require(one) != nil || !of.optional || len(of.named) != 1 {
			return false
		}
		named = append(named, of.named...)
	}
	return slices.EqualFunc(named, r.named, func(a, b provided) bool {
		return a.name == b.name && slices.Equal(a.audiences, b.audiences) && (a.audiences == nil) == (b.audiences == nil)
	})
}

// skew is the skew of clocks in seconds that Envoy allows unless a provider states another.
const skew = 60

func (r *reader) issuer(of provided) (token.Issuer, error) {
	p := r.filter.Providers[of.name]
	if p == nil {
		return token.Issuer{}, errors.New("it is not there")
	}
	known := []protoreflect.Name{"issuer", "audiences", "forward", "from_headers", "from_params", "from_cookies", "payload_in_metadata",
		"normalize_payload_in_metadata", "header_in_metadata", "failed_status_in_metadata", "clock_skew_seconds", "jwt_cache_config", "remote_jwks", "local_jwks",
		"forward_payload_header", "claim_to_headers"}
	err := messages.KnowsOnly(p, known...)
	if err != nil {
		return token.Issuer{}, err
	}
	out := token.Issuer{Name: p.Issuer, Audiences: p.Audiences, Forward: p.Forward, Spaced: p.GetNormalizePayloadInMetadata().GetSpaceDelimitedClaims()}
	if of.audiences != nil {
		out.Audiences = of.audiences
	}
	switch {
	case p.PayloadInMetadata != rbac.TokenPayload:
		return out, fmt.Errorf("it writes the claims under the key %q, and not %q", p.PayloadInMetadata, rbac.TokenPayload)
	case p.HeaderInMetadata == rbac.TokenPayload || p.FailedStatusInMetadata == rbac.TokenPayload:
		return out, fmt.Errorf("it writes something else than the claims under the key %q", rbac.TokenPayload)
	case p.ClockSkewSeconds != 0 && p.ClockSkewSeconds != skew:
		return out, fmt.Errorf("it takes tokens %d seconds after their end (clock_skew_seconds)", p.ClockSkewSeconds)
	}
	for _, h := range p.FromHeaders {
		out.Places = append(out.Places, token.Place{Name: strings.ToLower(h.Name), Prefix: h.ValuePrefix})
	}
	for _, name := range p.FromCookies {
		out.Places = append(out.Places, token.Place{Kind: token.InCookie, Name: name})
	}
	for _, name := range p.FromParams {
		out.Places = append(out.Places, token.Place{Kind: token.InParameter, Name: name})
	}
	for _, to := range p.ClaimToHeaders {
		out.Writes = append(out.Writes, token.Written{Header: strings.ToLower(to.HeaderName), Claim: to.ClaimName})
	}
	if p.ForwardPayloadHeader != "" {
		out.Writes = append(out.Writes, token.Written{Header: strings.ToLower(p.ForwardPayloadHeader)})
	}
	for _, written := range out.Writes {
		if strings.HasPrefix(written.Header, ":") || written.Header == "host" {
			return out, fmt.Errorf("it writes claims into %s, which is no header of its own", written.Header)
		}
	}
	if r.stated && p.GetRemoteJwks() != nil {
		out.Keys, err = placeOfKeys(p)
		return out, err
	}
	out.Keys, err = keysOf(p)
	return out, err
}

// Discovery is what OpenID Connect puts behind the name of an issuer, whose answer has the place of
// the keys.
const Discovery = "/.well-known/openid-configuration"

// placeOfKeys names the keys of a provider by their place. Those that OpenID Connect finds are what an
// issuer has without any place.
func placeOfKeys(p *jwtauthnv3.JwtProvider) (string, error) {
	remote := p.GetRemoteJwks()
	if err := messages.KnowsOnly(remote, "http_uri", "cache_duration"); err != nil {
		return "", err
	}
	uri := remote.GetHttpUri().GetUri()
	if uri == strings.TrimSuffix(p.Issuer, "/")+Discovery {
		return "", nil
	}
	return token.KeysAt(uri), nil
}

// keysOf names the keys of a provider.
func keysOf(p *jwtauthnv3.JwtProvider) (string, error) {
	if p.GetRemoteJwks() != nil {
		// The cluster decides who answers there, and no dump has the answer.
		return "", fmt.Errorf("its keys come from a server while it runs (remote_jwks, %s)", p.GetRemoteJwks().GetHttpUri().GetUri())
	}
	text := p.GetLocalJwks().GetInlineString()
	if text == "" {
		text = string(p.GetLocalJwks().GetInlineBytes())
	}
	if text == "" {
		return "", errors.New("its keys are not in the filter")
	}
	return token.KeysOf(text)
}
