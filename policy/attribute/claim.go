package attribute

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/claim"
	"github.com/meshproof/meshproof/policy"
)

var claims = addFamily("claim", "sub", func(key string) *policy.Attribute {
	name := "claim " + key
	a := &policy.Attribute{
		Phrase: name,
		Layer:  policy.L7,
		Kinds:  []policy.MatchKind{policy.Exact, policy.Prefix, policy.Suffix, policy.Contains, policy.Regex},
		Forms:  []policy.Form{policy.Ordered, policy.Named},
	}
	if path, _ := claim.Path(key); slices.Contains(path, "") {
		a.Forms = nil // no message of Envoy takes an empty name
	}
	if strings.HasSuffix(key, claim.Scalar) {
		a.Kinds = []policy.MatchKind{policy.Exact}
		if slices.Contains([]string{"exp", "nbf", "iat"}, strings.TrimSuffix(key, claim.Scalar)) {
			a.Forms = nil // the lab chooses the times of a token
		}
	}
	value := func(r *policy.Request, i int) (string, bool) { return valueAt(r.Others[name], i) }
	if strings.HasSuffix(key, claim.List) {
		a.Each = value
	} else {
		a.Text = func(r *policy.Request) (string, bool) { return value(r, 0) }
	}
	return a
})

// Claim is a text in the payload of a token (RFC 7519) that Envoy has verified, at a path of
// nested names. With the last name "[]" it is each text of the list at the path before it,
// and one match is enough: Claim("groups", "[]"). With the last name "#" it is a number, true, false
// or null, which is compared as a whole, in its shortest form without an exponent: Claim("level",
// "#"). An object and an absent claim are met by no match, nor does a match of one of these forms
// meet another: a policy that takes both a text and a list asks for both.
//
// Envoy knows claims from the filter envoy.filters.http.jwt_authn alone, which stands in
// front and writes them to its dynamic metadata. The matcher input is
// envoy.extensions.matching.common_inputs.network.v3.DynamicMetadataInput, and the principal
// is sourced_metadata of envoy.config.rbac.v3.Principal.
func Claim(path ...string) *policy.Attribute { return claims.attribute(claim.Key(path...)) }
