package token

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

var encoding = base64.RawURLEncoding

// keys has the key of each issuer, by its name.
var keys sync.Map

func keyOf(issuer string) (*ecdsa.PrivateKey, error) {
	if key, ok := keys.Load(issuer); ok {
		return key.(*ecdsa.PrivateKey), nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key of the issuer %q: %w", issuer, err)
	}
	kept, _ := keys.LoadOrStore(issuer, key)
	return kept.(*ecdsa.PrivateKey), nil
}

// KeySet returns the public key of the issuer as a JSON Web Key Set (RFC 7517, section 5).
func (i Issuer) KeySet() (string, error) {
	key, err := keyOf(i.Name)
	if err != nil {
		return "", err
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		return "", fmt.Errorf("write the key of the issuer %q: %w", i.Name, err)
	}
	half := len(point) / 2
	set, err := json.Marshal(map[string]any{"keys": []any{map[string]string{
		"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig",
		"x": encoding.EncodeToString(point[1 : half+1]), "y": encoding.EncodeToString(point[half+1:]),
	}}})
	return string(set), err
}

// hour is how far the times of a token are from now: much more than the skew of clocks that
// Envoy allows, which is a minute.
const hour = time.Hour

// Mint returns the token in its compact form (RFC 7515, section 7.1), signed by ES256. The
// inbound says by whose key.
func (d Demand) Mint(t *Token, now time.Time) (string, error) {
	payload, err := t.payload(now)
	if err != nil {
		return "", err
	}
	algorithm := "ES256"
	if t.Fault == Unsigned {
		algorithm = "none"
	}
	signed := encoding.EncodeToString([]byte(`{"alg":"`+algorithm+`","typ":"JWT"}`)) + "." + encoding.EncodeToString(payload)
	if t.Fault == Unsigned {
		return signed + ".", nil
	}
	by := t.SignedBy
	if by == "" {
		by = t.Issuer()
		if issuer, ok := d.of(by); ok {
			by = issuer.Name
		}
	}
	signature, err := sign(by, signed)
	if err != nil {
		return "", err
	}
	if t.Fault == WrongSignature {
		signature[0] ^= 1
	}
	return signed + "." + encoding.EncodeToString(signature), nil
}

// sign returns the two numbers of a signature, each of 32 bytes (RFC 7518, section 3.4).
func sign(issuer, text string) ([]byte, error) {
	key, err := keyOf(issuer)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	if err != nil {
		return nil, fmt.Errorf("sign a token of the issuer %q: %w", issuer, err)
	}
	out := make([]byte, 64)
	r.FillBytes(out[:32])
	s.FillBytes(out[32:])
	return out, nil
}

// payload returns the claims as JSON, with the times of the token.
func (t *Token) payload(now time.Time) ([]byte, error) {
	from, until := now.Add(-hour), now.Add(hour)
	switch t.Fault {
	case Expired:
		from, until = now.Add(-2*hour), now.Add(-hour)
	case NotYetValid:
		from, until = now.Add(hour), now.Add(2*hour)
	}
	claims := map[string]any{"nbf": from.Unix(), "exp": until.Unix()}
	for name, value := range t.Claims {
		claims[name] = value
	}
	first, err := json.Marshal(claims)
	if err != nil {
		return nil, fmt.Errorf("write the claims of the token %s: %w", t.Name, err)
	}
	if len(t.Twice) == 0 {
		return first, nil
	}
	second, err := json.Marshal(t.Twice)
	if err != nil {
		return nil, fmt.Errorf("write the claims of the token %s: %w", t.Name, err)
	}
	return append(append(first[:len(first)-1], ','), second[1:]...), nil
}
