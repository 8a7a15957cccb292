package explanation

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/claim"
	"github.com/meshproof/meshproof/internal/token"
)

// parseClaims returns a token with claims of the form key=text, such as sub=alice,
// realm.name=x, and groups[]=dev for each text of a list. It returns nil for no claims.
func parseClaims(texts []string) (*token.Token, error) {
	values := map[string][]string{}
	for _, text := range texts {
		key, value, ok := cutKey(text)
		path, form := claim.Path(key)
		switch {
		case !ok || path == nil:
			return nil, fmt.Errorf("%q is not of the form key=text: write sub=alice, a.b=x for a claim below a claim, groups[]=dev for a text of a list, level#=7 for a number, true, false or null, levels[#]=7 for one in a list, a?={} for an empty object", text)
		case form == claim.Any && value != token.Object && value != token.EmptyList:
			return nil, fmt.Errorf("%q is no empty object {} and no empty list []", value)
		case (form == claim.Scalar || form == claim.ScalarList) && token.ScalarText(value) != value:
			return nil, fmt.Errorf("%q is no number, true, false or null: write %s=%s for a text", value, strings.TrimSuffix(key, form), value)
		}
		if name := "claim " + key; values[name] == nil || form == claim.List || form == claim.ScalarList {
			values[name] = append(values[name], value)
		} else {
			return nil, fmt.Errorf("the claim %s has two texts: write %s[]=… for each text of a list", key, key)
		}
	}
	return token.FromClaims(values), nil
}

// cutKey cuts at the first "=" outside of quotes.
func cutKey(text string) (key, value string, ok bool) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case text[i] == '=' && !quoted:
			return text[:i], text[i+1:], true
		}
	}
	return text, "", false
}

// claimWords are the flags for a token, and false where no flags can say it.
func claimWords(t *token.Token) ([]string, bool) {
	if t == nil {
		return nil, true
	}
	values := t.Values()
	if t.Fault != token.Sound || t.SignedBy+t.KeyID+t.Algorithm != "" || t.Place != (token.Place{}) || len(t.Twice) > 0 || !reflect.DeepEqual(token.FromClaims(values).Payload(), t.Claims) {
		return nil, false
	}
	var words []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if without := maps.Clone(values); strings.HasSuffix(name, claim.Any) {
			// An object with something in it needs no words of its own.
			if delete(without, name); reflect.DeepEqual(token.FromClaims(without).Payload(), t.Claims) {
				continue
			}
		}
		for _, text := range values[name] {
			words = append(words, "--claim", strings.TrimPrefix(name, "claim ")+"="+text)
		}
	}
	return words, true
}
