package token

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"sync"
	"time"
)

var encoding = base64.RawURLEncoding

// keyPair are the keys of an issuer, one for each algorithm.
type keyPair struct {
	ec  *ecdsa.PrivateKey
	rsa *rsa.PrivateKey
	// public is the key of RS256 as everybody knows it.
	public []byte
}

// keys has the keys of each issuer, by its name.
var keys sync.Map

// rsaBits is few: the keys live as long as the process, and longer ones take a second to make.
const rsaBits = 1024

func keysOf(issuer string) (*keyPair, error) {
	made, _ := keys.LoadOrStore(issuer, sync.OnceValues(func() (*keyPair, error) {
		fail := func(err error) (*keyPair, error) {
			return nil, fmt.Errorf("make a key of the issuer %q: %w", issuer, err)
		}
		ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return fail(err)
		}
		own, err := rsa.GenerateKey(rand.Reader, rsaBits)
		if err != nil {
			return fail(err)
		}
		public, err := x509.MarshalPKIXPublicKey(&own.PublicKey)
		if err != nil {
			return fail(err)
		}
		return &keyPair{ec, own, public}, nil
	}))
	return made.(func() (*keyPair, error))()
}

// KeySet returns the public keys of the issuer as a JSON Web Key Set (RFC 7517, section 5).
func (i Issuer) KeySet() (string, error) {
	own, err := keysOf(i.Name)
	if err != nil {
		return "", err
	}
	point, err := own.ec.PublicKey.Bytes()
	if err != nil {
		return "", fmt.Errorf("write the key of the issuer %q: %w", i.Name, err)
	}
	half := len(point) / 2
	set, err := json.Marshal(map[string]any{"keys": []any{
		map[string]string{
			"kty": "RSA", "alg": RS256, "use": "sig", "kid": RS256,
			"n": encoding.EncodeToString(own.rsa.N.Bytes()), "e": encoding.EncodeToString(big.NewInt(int64(own.rsa.E)).Bytes()),
		},
		map[string]string{
			"kty": "EC", "crv": "P-256", "alg": ES256, "use": "sig", "kid": ES256,
			"x": encoding.EncodeToString(point[1 : half+1]), "y": encoding.EncodeToString(point[half+1:]),
		},
	}})
	return string(set), err
}

// hour is how far the times of a token are from now: much more than the skew of clocks that
// Envoy allows, which is a minute.
const hour = time.Hour

// mint returns the token in its compact form (RFC 7515, section 7.1). The inbound says by
// whose key.
func (d Demand) mint(t *Token, now time.Time) (string, error) {
	payload, err := t.payload(now)
	if err != nil {
		return "", err
	}
	head := map[string]string{"alg": t.algorithm(), "typ": "JWT"}
	switch t.Fault {
	case Unsigned:
		head["alg"] = "none"
	case SignedByPublicKey:
		head["alg"] = "HS256"
	}
	if t.KeyID != "" {
		head["kid"] = t.KeyID
	}
	first, err := json.Marshal(head)
	if err != nil {
		return "", fmt.Errorf("write the header of the token %s: %w", t.Name, err)
	}
	signed := encoding.EncodeToString(first) + "." + encoding.EncodeToString(payload)
	if t.Fault == Unsigned {
		return signed + ".", nil
	}
	by := t.SignedBy
	if by == "" {
		by = t.Issuer()
		if of := d.issuers(t); len(of) > 0 {
			by = of[0].Name
		}
	}
	signature, err := t.sign(by, signed)
	if err != nil {
		return "", fmt.Errorf("sign a token of the issuer %q: %w", by, err)
	}
	if t.Fault == WrongSignature {
		signature[0] ^= 1
	}
	return signed + "." + encoding.EncodeToString(signature), nil
}

// sign returns a signature by a key of the issuer (RFC 7518, sections 3.2 to 3.4).
func (t *Token) sign(issuer, text string) ([]byte, error) {
	own, err := keysOf(issuer)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(text))
	switch {
	case t.Fault == SignedByPublicKey:
		mac := hmac.New(sha256.New, own.public)
		mac.Write([]byte(text))
		return mac.Sum(nil), nil
	case t.algorithm() == RS256:
		return rsa.SignPKCS1v15(rand.Reader, own.rsa, crypto.SHA256, sum[:])
	}
	r, s, err := ecdsa.Sign(rand.Reader, own.ec, sum[:])
	if err != nil {
		return nil, err
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
