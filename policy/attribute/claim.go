package attribute

import (
	"slices"

	"github.com/meshproof/meshproof/internal/claim"
	"github.com/meshproof/meshproof/policy"
)

var claims = addFamily("claim", "sub", func(key string) *policy.Attribute {
	name := "claim " + key
	path, form := claim.Path(key)
	a := &policy.Attribute{
		Phrase: name,
		Layer:  policy.L7,
		Kinds:  []policy.MatchKind{policy.Exact, policy.Prefix, policy.Suffix, policy.Contains, policy.Regex},
		Forms:  []policy.Form{policy.Ordered, policy.Named},
	}
	switch form {
	case claim.Scalar, claim.ScalarList:
		a.Kinds = []policy.MatchKind{policy.Exact, policy.Range}
	case claim.Any:
		a.Kinds = []policy.MatchKind{policy.Present}
	}
	switch {
	case slices.Contains(path, ""):
		a.Forms = nil // no message of Envoy takes an empty name
	case len(path) == 1 && (form == claim.Scalar || form == claim.Any) && slices.Contains([]string{"exp", "nbf", "iat"}, path[0]):
		a.Forms = nil // the lab chooses the times of a token
	}
	value := func(r *policy.Request, i int) (string, bool) { return valueAt(r.Others[name], i) }
	switch form {
	case claim.List, claim.ScalarList:
		a.Each = value
	case claim.Any:
		a.Phrase = "claim " + claim.Key(path...)
		a.Text = anyForm(path)
	default:
		a.Text = func(r *policy.Request) (string, bool) { return value(r, 0) }
	}
	return a
})

// anyForm returns the first text of a claim in any of its forms.
func anyForm(path []string) func(r *policy.Request) (string, bool) {
	names := []string{"claim " + claim.Key(path...)}
	for _, form := range []string{claim.List, claim.Scalar, claim.ScalarList, claim.Any} {
		names = append(names, "claim "+claim.Key(append(slices.Clone(path), form)...))
	}
	return func(r *policy.Request) (string, bool) {
		for _, name := range names {
			if text, ok := valueAt(r.Others[name], 0); ok {
				return text, true
			}
		}
		return "", false
	}
}

// Claim is a text in the payload of a token (RFC 7519) that Envoy has verified, at a path of
// nested names. The last name may say what else stands there: with "[]" it is each text of a list,
// and one match is enough; with "#" a number, true, false or null; with "[#]" each of those in a
// list; with "?" a value of any type, also an object, an empty list or null, which is present or
// absent. Claim("groups", "[]") and Claim("level", "#") are examples. A number is compared by
// [policy.Exact] in its shortest form without an exponent, and by [policy.Range] with its first
// number and its end: "[1,7)" does not have 7. A match of one form is not met by a value of
// another: a policy that takes both a text and a list asks for both.
//
// Envoy knows claims from the filter envoy.filters.http.jwt_authn alone, which stands in
// front and writes them to its dynamic metadata. The matcher input is
// envoy.extensions.matching.common_inputs.network.v3.DynamicMetadataInput, and the principal
// is sourced_metadata of envoy.config.rbac.v3.Principal.
func Claim(path ...string) *policy.Attribute { return claims.attribute(claim.Key(path...)) }
