package casewriter

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/token"
)

// tokenNames has the name of each token of a case.
type tokenNames struct {
	byKey   map[string]string
	entries map[string]*token.Token
}

func newTokenNames(c cases.Case) *tokenNames {
	n := &tokenNames{map[string]string{}, map[string]*token.Token{}}
	for _, q := range c.Requests {
		if q.Token != nil && n.byKey[tokenKey(q.Token)] == "" {
			n.add(q.Token)
		}
	}
	return n
}

// tokenKey is the same for two tokens that differ in their name only.
func tokenKey(t *token.Token) string {
	unnamed := *t
	unnamed.Name = ""
	return fmt.Sprintf("%#v", unnamed)
}

// add gives a token an entry. A token without a name goes by its subject.
func (n *tokenNames) add(t *token.Token) {
	base := t.Name
	if subject, _ := t.Claims["sub"].(string); base == "" {
		base = strings.Trim(notInWord.ReplaceAllString(subject, "-"), "-.")
	}
	if base == "" || base == "none" || len(base) > 60 {
		base = "token"
	}
	name := base
	for i := 2; n.entries[name] != nil; i++ {
		name = fmt.Sprintf("%s-%d", base, i)
	}
	n.byKey[tokenKey(t)], n.entries[name] = name, t
}

// name is the name of a token, and "" for none.
func (n *tokenNames) name(t *token.Token) string {
	if t == nil {
		return ""
	}
	return quote(n.byKey[tokenKey(t)])
}

func (p *printer) tokenEntries() {
	for i, name := range slices.Sorted(maps.Keys(p.tokens.entries)) {
		if i == 0 {
			p.line(0, "tokens:")
		}
		p.line(2, quote(name)+": "+tokenEntry(p.tokens.entries[name]))
	}
}

func tokenEntry(t *token.Token) string {
	var f fields
	rest := maps.Clone(t.Claims)
	own := func(field, claim string) {
		if text, ok := rest[claim].(string); ok {
			f.add(field, quote(text))
			delete(rest, claim)
		}
	}
	own("issuer", "iss")
	own("subject", "sub")
	own("audience", "aud")
	if len(rest) > 0 {
		f.add("claims", flowOf(rest))
	}
	if len(t.Twice) > 0 {
		f.add("twice", flowOf(t.Twice))
	}
	f.add("signedBy", text(t.SignedBy))
	if t.Fault != token.Sound {
		f.add([...]string{token.Expired: "expired", token.NotYetValid: "notYetValid", token.Unsigned: "unsigned", token.WrongSignature: "wrongSignature", token.SignedByPublicKey: "signedByPublicKey"}[t.Fault], "true")
	}
	f.add("algorithm", text(t.Algorithm))
	f.add("keyID", text(t.KeyID))
	if t.Place != (token.Place{}) {
		var at fields
		at.add([...]string{token.InHeader: "header", token.InParameter: "parameter", token.InCookie: "cookie"}[t.Place.Kind], quote(t.Place.Name))
		at.add("prefix", text(t.Place.Prefix))
		f.add("in", at.flow())
	}
	return f.flow()
}

// flowOf is a value of JSON on one line.
func flowOf(value any) string {
	switch value := value.(type) {
	case string:
		return quote(value)
	case nil:
		return "null"
	case []any:
		parts := make([]string, len(value))
		for i, item := range value {
			parts[i] = flowOf(item)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		var f fields
		for _, key := range slices.Sorted(maps.Keys(value)) {
			f.add(quote(key), flowOf(value[key]))
		}
		return f.flow()
	case float64:
		// A whole number keeps its point, or it would be read as an integer.
		if out := strconv.FormatFloat(value, 'g', -1, 64); strings.ContainsAny(out, ".eIN") {
			return out
		}
		return strconv.FormatFloat(value, 'f', 1, 64)
	default:
		return fmt.Sprint(value)
	}
}
