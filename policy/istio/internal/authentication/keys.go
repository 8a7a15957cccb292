package authentication

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/token"
)

// keyType is what a key of a type has (RFC 7518, section 6), and what Envoy takes of it.
type keyType struct {
	// numbers are members in base64url.
	numbers []string
	// curves are the values of crv, algorithms the beginnings of alg; a key without an alg is for any.
	curves, algorithms []string
}

var keyTypes = map[string]keyType{
	"RSA": {numbers: []string{"n", "e"}, algorithms: []string{"RS", "PS"}},
	"EC":  {numbers: []string{"x", "y"}, curves: []string{"P-256", "P-384", "P-521"}, algorithms: []string{"ES"}},
	"OKP": {numbers: []string{"x"}, curves: []string{"Ed25519"}, algorithms: []string{"EdDSA"}},
	"oct": {numbers: []string{"k"}, algorithms: []string{"HS"}},
}

// leastModulus is the least number of bytes of n that Envoy takes of an RSA key.
const leastModulus = 64

// checkKeys refuses a set of keys that Istio's webhook does not take, and one of which Envoy takes no key: it takes no
// listener then, and keeps the one that it has, with the policies of before. It reads no key.
func checkKeys(text string) error {
	if _, err := token.KeysOf(text); err != nil {
		return err
	}
	var set struct {
		Keys []map[string]any `json:"keys"`
	}
	if err := json.Unmarshal([]byte(text), &set); err != nil {
		return fmt.Errorf("read the keys: %w", err)
	}
	for i, key := range set.Keys {
		if why := refusedKey(key); why != "" {
			return fmt.Errorf("keys[%d].%s", i, why)
		}
	}
	if !slices.ContainsFunc(set.Keys, isTaken) {
		return errors.New("of this set Envoy takes no key, and no listener with it")
	}
	return nil
}

// refusedKey says why the webhook refuses a key, and "" where it takes it.
func refusedKey(key map[string]any) string {
	name, _ := key["kty"].(string)
	of, known := keyTypes[name]
	if !known {
		return fmt.Sprintf("kty: %q is no type of a key: use RSA, EC, OKP or oct", name)
	}
	needs := of.numbers
	if of.curves != nil {
		needs = append([]string{"crv"}, needs...)
	}
	for _, member := range needs {
		if text, _ := key[member].(string); text == "" {
			return fmt.Sprintf("%s: a key of the type %s has it", member, name)
		}
	}
	return ""
}

// isTaken reports whether Envoy takes a key that the webhook takes.
func isTaken(key map[string]any) bool {
	name, _ := key["kty"].(string)
	of := keyTypes[name]
	for _, member := range of.numbers {
		text, _ := key[member].(string)
		number, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
		if err != nil || member == "n" && len(number) < leastModulus {
			return false
		}
	}
	curve, _ := key["crv"].(string)
	algorithm, _ := key["alg"].(string)
	begins := func(begin string) bool { return strings.HasPrefix(algorithm, begin) }
	return (of.curves == nil || slices.Contains(of.curves, curve)) && (algorithm == "" || slices.ContainsFunc(of.algorithms, begins))
}
