package authentication

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/token"
)

// keyType is what a key of a type has (RFC 7518, section 6), and what Envoy takes of it.
type keyType struct {
	// members are those that the webhook demands.
	members []string
	// isTaken reports whether Envoy takes a key of this alg and crv, which are "" where it has none, and of these numbers, which are
	// the other members in their order.
	isTaken func(algorithm, curve string, numbers [][]byte) bool
}

var keyTypes = map[string]keyType{
	"RSA": {[]string{"n", "e"}, isTakenRSA},
	"EC":  {[]string{"crv", "x", "y"}, isTakenPoint},
	"OKP": {[]string{"crv", "x"}, func(algorithm, curve string, numbers [][]byte) bool {
		return curve == "Ed25519" && (algorithm == "" || algorithm == "EdDSA") && len(numbers[0]) == ed25519.PublicKeySize
	}},
	"oct": {[]string{"k"}, func(algorithm, _ string, _ [][]byte) bool {
		return slices.Contains([]string{"", "HS256", "HS384", "HS512"}, algorithm)
	}},
}

// curves are the curves of which Envoy takes points, each with its alg and the bytes of a coordinate.
var curves = map[string]struct {
	ecdh.Curve
	algorithm string
	size      int
}{
	"P-256": {ecdh.P256(), "ES256", 32},
	"P-384": {ecdh.P384(), "ES384", 48},
	"P-521": {ecdh.P521(), "ES512", 66},
}

// checkKeys refuses a set of keys that Istio's webhook does not take, and one of which Envoy takes no key: it takes no
// listener then, and keeps the one that it has, with the policies of before.
func checkKeys(text string) error {
	if _, err := token.KeysOf(text); err != nil {
		return err
	}
	// A name of a member counts letter by letter, as in a map and in no struct: the set may have Keys beside keys.
	var set map[string]json.RawMessage
	var keys []map[string]any
	err := json.Unmarshal([]byte(text), &set)
	if err == nil {
		err = json.Unmarshal(set["keys"], &keys)
	}
	if err != nil {
		return fmt.Errorf("read the keys: %w", err)
	}
	for i, key := range keys {
		if why := refusedKey(key); why != "" {
			return fmt.Errorf("keys[%d].%s", i, why)
		}
	}
	if !slices.ContainsFunc(keys, isTaken) {
		return errors.New("of this set Envoy takes no key, and no listener with it: state one that it can verify tokens by")
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
	for _, member := range of.members {
		if text, _ := key[member].(string); text == "" {
			return fmt.Sprintf("%s: a key of the type %s has it", member, name)
		}
	}
	return ""
}

// isTaken reports whether Envoy takes a key that the webhook takes, as measured on 1.36.4, 1.38.3 and 1.40.0.
func isTaken(key map[string]any) bool {
	name, _ := key["kty"].(string)
	var numbers [][]byte
	for _, member := range keyTypes[name].members {
		text, _ := key[member].(string)
		if member == "crv" {
			continue
		}
		encoding := base64.RawURLEncoding
		if strings.HasSuffix(text, "=") {
			encoding = base64.URLEncoding
		}
		number, err := encoding.DecodeString(text)
		if err != nil {
			return false
		}
		numbers = append(numbers, number)
	}
	curve, _ := key["crv"].(string)
	algorithm, _ := key["alg"].(string)
	return keyTypes[name].isTaken(algorithm, curve, numbers)
}

func isTakenRSA(algorithm, _ string, numbers [][]byte) bool {
	const fewestBits, mostBits = 512, 16384
	n, e := new(big.Int).SetBytes(numbers[0]), new(big.Int).SetBytes(numbers[1])
	isAlgorithm := algorithm == "" || strings.HasPrefix(algorithm, "RS") || strings.HasPrefix(algorithm, "PS")
	isExponent := e.IsUint64() && (e.Uint64() == 3 || e.Uint64() == 65537)
	return isAlgorithm && isExponent && n.Bit(0) == 1 && n.BitLen() >= fewestBits && n.BitLen() <= mostBits
}

// isTakenPoint reports whether the two numbers are a point of the curve, to which the alg belongs.
func isTakenPoint(algorithm, curve string, numbers [][]byte) bool {
	of, known := curves[curve]
	if !known || algorithm != "" && algorithm != of.algorithm {
		return false
	}
	point := []byte{4} // what the uncompressed form of a point begins with (SEC 1, section 2.3.3)
	for _, number := range numbers {
		number = bytes.TrimLeft(number, "\x00")
		if len(number) > of.size {
			return false
		}
		point = append(append(point, make([]byte, of.size-len(number))...), number...)
	}
	_, err := of.NewPublicKey(point)
	return err == nil
}
