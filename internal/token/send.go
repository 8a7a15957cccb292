package token

import (
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/meshproof/meshproof/policy"
)

// Send returns the path and the header lines of a request that has the token.
func (d Demand) Send(t *Token, now time.Time, path string, headers []policy.Header) (string, []policy.Header, error) {
	text, err := d.mint(t, now)
	if err != nil {
		return path, headers, err
	}
	path, headers = d.place(t).put(text, path, headers)
	return path, headers, nil
}

// Looks reports whether the inbound may find a token in a header, or in a parameter of the
// query.
func (d Demand) Looks(kind Kind, name string) bool {
	for _, i := range d.Issuers {
		for _, p := range i.LooksAt() {
			if p.Kind == kind && p.Name == name {
				return true
			}
		}
	}
	return false
}

// InQuery reports whether the inbound finds a token in the query, which Envoy may write anew.
func (d Demand) InQuery(path string) bool {
	return slices.ContainsFunc(d.Issuers, func(i Issuer) bool {
		return slices.ContainsFunc(i.LooksAt(), func(p Place) bool {
			_, ok := p.textOf(path, nil)
			return ok && p.Kind == InParameter
		})
	})
}

// Found returns the claims of the token in a request, as Envoy writes them for the policies. It
// returns nil where the inbound finds no token.
func (d Demand) Found(path string, headers []policy.Header) map[string]any {
	for _, issuer := range d.Issuers {
		for _, p := range issuer.LooksAt() {
			text, ok := p.textOf(path, headers)
			if claims := payloadOf(text); ok && claims != nil && (issuer.Name == "" || claims["iss"] == issuer.Name) {
				return issuer.Payload(claims)
			}
		}
	}
	return nil
}

// ForRequest returns what the inbound demands of a request: nothing of a preflight request that it lets
// pass. Envoy takes a request for one by its method and two headers (jwt_authn,
// bypass_cors_preflight).
func (d Demand) ForRequest(method string, headers []policy.Header) Demand {
	has := func(name string) bool {
		return slices.ContainsFunc(headers, func(h policy.Header) bool {
			return strings.EqualFold(h.Name, name) && strings.Trim(h.Value, " \t") != ""
		})
	}
	if d.Preflight && method == "OPTIONS" && has("origin") && has("access-control-request-method") {
		return Demand{}
	}
	return d
}

// RefusesWith is [Demand.Refuses] for a request with texts that the caller wrote by hand: one
// at a place where the inbound looks is a bad token.
func (d Demand) RefusesWith(t *Token, path string, headers []policy.Header) Refusal {
	stray := func(i Issuer) bool {
		return slices.ContainsFunc(i.LooksAt(), func(p Place) bool { _, ok := p.textOf(path, headers); return ok })
	}
	refusal := d.Refuses(t)
	if refusal.Status != 0 || !slices.ContainsFunc(d.Issuers, stray) {
		return refusal
	}
	if t != nil && slices.ContainsFunc(d.issuers(t), func(i Issuer) bool { return i.refuses(t).Status == 0 && !stray(i) }) {
		return Refusal{}
	}
	return Refusal{401, "no key of the lab signed the text at a place where the inbound looks for a token"}
}

// payloadOf returns the claims of a token, and nil for a text that is none.
func payloadOf(text string) map[string]any {
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return nil
	}
	payload, err := encoding.DecodeString(parts[1])
	if err != nil {
		return nil
	}
	var claims map[string]any
	if json.Unmarshal(payload, &claims) != nil {
		return nil
	}
	return claims
}

// standIn is a text like that of a token, for what a policy sees of one. Times and signature of
// a true one change with each run.
var standIn = encoding.EncodeToString([]byte(`{"alg":"ES256","typ":"JWT"}`)) + ".e30." + strings.Repeat("A", 86)

// Leaves returns the path and the header lines of a request with a token, as the filters see
// them behind the filter for tokens. Envoy takes the token away where its issuer is not to forward it,
// but a cookie stays.
func (d Demand) Leaves(t *Token, path string, headers []policy.Header) (string, []policy.Header) {
	if t == nil {
		return path, headers
	}
	at := d.place(t)
	with, lines := at.put(standIn, path, headers)
	switch issuer, _ := d.judge(t); {
	case issuer == nil || issuer.Forward || at.Kind == InCookie:
		return with, lines
	case at.Kind == InParameter:
		return withoutParameter(with, at.Name), headers
	default:
		return path, headers
	}
}

// withoutParameter returns the path as Envoy writes it without a parameter: it decodes the
// names and the values of all others, and sorts them by name.
func withoutParameter(path, parameter string) string {
	before, query, _ := strings.Cut(path, "?")
	values := map[string][]string{}
	for part := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(part, "=")
		name = decoded(name)
		values[name] = append(values[name], decoded(value))
	}
	delete(values, parameter)
	mark := "?"
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for _, value := range values[name] {
			before, mark = before+mark+name+"="+value, "&"
		}
	}
	return before
}

// decoded returns a text with the bytes that stand in it as two hexadecimal digits.
func decoded(text string) string {
	var out []byte
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if b, err := hex.DecodeString(text[i+1 : i+3]); err == nil {
				out, i = append(out, b[0]), i+2
				continue
			}
		}
		out = append(out, text[i])
	}
	return string(out)
}
