package token_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/token"
)

// TestValues turns claims into values of attributes and back.
func TestValues(t *testing.T) {
	t.Parallel()
	sound := &token.Token{Claims: map[string]any{
		"iss": "a", "groups": []any{"dev", 7.0, "ops"}, "realm": map[string]any{"x.y": map[string]any{"roles": []any{"r"}}}, "exp": 7, "none": []any{},
		"level": 1.50, "admin": true, "nothing": nil,
	}}
	values := map[string][]string{"claim iss": {"a"}, "claim groups[]": {"dev", "ops"}, `claim realm."x.y".roles[]`: {"r"},
		"claim exp#": {"7"}, "claim level#": {"1.5"}, "claim admin#": {"true"}, "claim nothing#": {"null"}, "claim none?": {"[]"},
		"claim groups[#]": {"7"}, "claim realm?": {"{}"}, `claim realm."x.y"?`: {"{}"}}
	if diff := cmp.Diff(values, sound.Values()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(values, token.FromClaims(values).Values()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, text := range map[string]string{"claim a#": "x", "claim a[#]": `"7"`, "claim a?": "7"} {
		if of := token.FromClaims(map[string][]string{name: {text}}); of != nil {
			t.Errorf("%s has no value %s, but the token has %v", name, text, of.Claims)
		}
	}
	if token.FromClaims(map[string][]string{"port": {"80"}}) != nil || token.FromClaims(nil) != nil {
		t.Error("a request without claims has no token")
	}
}

// TestComplete holds what an inbound demands beside the claims that a test asks for.
func TestComplete(t *testing.T) {
	t.Parallel()
	two := []token.Issuer{{Name: "a", Audiences: []string{"x"}}, {Name: "b"}}
	alice := &token.Token{Claims: map[string]any{"sub": "alice"}}
	for name, tt := range map[string]struct {
		demand token.Demand
		token  *token.Token
		want   map[string]any
	}{
		"nothing":          {token.Demand{Issuers: two}, nil, nil},
		"a token":          {token.Demand{Issuers: two, Required: true}, nil, map[string]any{"iss": "a", "aud": "x"}},
		"an audience":      {token.Demand{Issuers: two}, alice, map[string]any{"iss": "a", "sub": "alice", "aud": "x"}},
		"another issuer":   {token.Demand{Issuers: two}, &token.Token{Claims: map[string]any{"aud": "y"}}, map[string]any{"iss": "b", "aud": "y"}},
		"any issuer":       {token.Demand{Issuers: []token.Issuer{{}}}, alice, map[string]any{"sub": "alice"}},
		"no tokens at all": {token.Demand{}, alice, map[string]any{"sub": "alice"}},
	} {
		if diff := cmp.Diff(tt.want, tt.demand.Complete(tt.token).Payload()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if len(alice.Claims) != 1 {
		t.Errorf("the token of the test changed: %v", alice.Claims)
	}
}

// TestMint holds the form of tokens, sound and not.
func TestMint(t *testing.T) {
	t.Parallel()
	demand := token.Demand{Issuers: []token.Issuer{{Name: "a"}}}
	now := time.Unix(1_000_000, 0)
	mint := func(of *token.Token) []string {
		_, headers, err := demand.Send(of, now, "/", nil)
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split(headers[0].Value, ".")
		if len(parts) != 3 {
			t.Fatalf("%q has not three parts", headers)
		}
		return parts
	}
	sound := &token.Token{Claims: map[string]any{"iss": "a"}}
	found := func(of *token.Token) map[string]any {
		path, headers, err := demand.Send(of, now, "/", nil)
		if err != nil {
			t.Fatal(err)
		}
		return demand.Found(path, headers)
	}
	for _, at := range []token.Place{{}, token.Header, {Kind: token.InParameter, Name: "access_token"}} {
		if diff := cmp.Diff(map[string]any{"iss": "a", "nbf": 996400.0, "exp": 1003600.0}, found(&token.Token{Claims: sound.Claims, Place: at})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", at, diff)
		}
	}
	if got := found(&token.Token{Claims: sound.Claims, Place: token.Place{Kind: token.InCookie, Name: "access_token"}}); got != nil {
		t.Errorf("the inbound looks into no cookie, and finds %v", got)
	}
	if parts := mint(&token.Token{Claims: sound.Claims, Fault: token.Unsigned}); parts[2] != "" {
		t.Errorf("an unsigned token is signed: %q", parts)
	}
	if got := found(&token.Token{Claims: sound.Claims, Fault: token.Expired}); got["exp"] != 996400.0 {
		t.Errorf("an expired token ends at %v", got["exp"])
	}
	for text, want := range map[string]*token.Token{
		"": nil, ` with token {"iss":"a"}`: sound,
		` with token {"iss":"a"} and {"iss":"b"}, expired, signed by c`: {Claims: sound.Claims, Twice: map[string]any{"iss": "b"}, Fault: token.Expired, SignedBy: "c"},
	} {
		if got := token.Clause(want); got != text {
			t.Errorf("%q, want %q", got, text)
		}
	}
}
