// Package tokenfilter turns what an inbound demands of tokens into Envoy's filter for them,
// envoy.filters.http.jwt_authn.
//
// It guarantees that Envoy verifies a token by the result as [token.Demand.Refuses] says, and
// writes the payload where package rbac looks for claims.
package tokenfilter

import (
	"fmt"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	jwtauthnv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/meshproof/meshproof/internal/rbac"
	"github.com/meshproof/meshproof/internal/token"
)

// Filter returns the filter of an inbound, with the keys of the lab. A request needs the
// token of one issuer, or none where tokens are not required.
func Filter(d token.Demand) (*jwtauthnv3.JwtAuthentication, error) {
	out := &jwtauthnv3.JwtAuthentication{BypassCorsPreflight: d.Preflight, Providers: map[string]*jwtauthnv3.JwtProvider{}}
	anyOf := &jwtauthnv3.JwtRequirementOrList{}
	for i, issuer := range d.Issuers {
		name := fmt.Sprintf("issuer%d", i)
		provider, err := provider(issuer)
		if err != nil {
			return nil, err
		}
		out.Providers[name] = provider
		anyOf.Requirements = append(anyOf.Requirements, &jwtauthnv3.JwtRequirement{RequiresType: &jwtauthnv3.JwtRequirement_ProviderName{ProviderName: name}})
	}
	if !d.Required {
		anyOf.Requirements = append(anyOf.Requirements, &jwtauthnv3.JwtRequirement{RequiresType: &jwtauthnv3.JwtRequirement_AllowMissing{AllowMissing: &emptypb.Empty{}}})
	}
	requires := &jwtauthnv3.JwtRequirement{RequiresType: &jwtauthnv3.JwtRequirement_RequiresAny{RequiresAny: anyOf}}
	if len(anyOf.Requirements) == 1 {
		// Envoy takes no list of one.
		requires = anyOf.Requirements[0]
	}
	out.Rules = []*jwtauthnv3.RequirementRule{{
		Match:           &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: ""}},
		RequirementType: &jwtauthnv3.RequirementRule_Requires{Requires: requires},
	}}
	return out, nil
}

func provider(i token.Issuer) (*jwtauthnv3.JwtProvider, error) {
	keys, err := i.KeySet()
	if err != nil {
		return nil, err
	}
	out := &jwtauthnv3.JwtProvider{
		Issuer: i.Name, Audiences: i.Audiences, Forward: i.Forward,
		PayloadInMetadata: rbac.TokenPayload,
		JwksSourceSpecifier: &jwtauthnv3.JwtProvider_LocalJwks{LocalJwks: &corev3.DataSource{
			Specifier: &corev3.DataSource_InlineString{InlineString: keys},
		}},
	}
	if len(i.Spaced) > 0 {
		out.NormalizePayloadInMetadata = &jwtauthnv3.JwtProvider_NormalizePayload{SpaceDelimitedClaims: i.Spaced}
	}
	for _, p := range i.Places {
		switch p.Kind {
		case token.InParameter:
			out.FromParams = append(out.FromParams, p.Name)
		case token.InCookie:
			out.FromCookies = append(out.FromCookies, p.Name)
		default:
			out.FromHeaders = append(out.FromHeaders, &jwtauthnv3.JwtHeader{Name: p.Name, ValuePrefix: p.Prefix})
		}
	}
	return out, nil
}
