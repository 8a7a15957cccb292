package certs

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"fmt"
	"io"
)

// key is a P-256 private key behind a [crypto.Signer]. It holds a closure rather than the key: neither encoding/json
// nor a dumper that follows unexported pointers (assertion libraries do) can reach what a closure captured.
type key struct {
	reveal func() *ecdsa.PrivateKey
}

func newKey() (key, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return key{}, fmt.Errorf("generate a P-256 key: %w", err)
	}
	return key{reveal: func() *ecdsa.PrivateKey { return private }}, nil
}

// pkcs8 returns the DER of the key. It is encoded on demand, since most keys never leave the process.
func (k key) pkcs8() []byte {
	der, err := x509.MarshalPKCS8PrivateKey(k.reveal())
	if err != nil {
		panic(fmt.Sprintf("certs: encode a generated P-256 key: %v", err)) // no input leads here
	}
	return der
}

// Public implements [crypto.Signer].
func (k key) Public() crypto.PublicKey { return k.reveal().Public() }

// Sign implements [crypto.Signer].
func (k key) Sign(random io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	return k.reveal().Sign(random, digest, opts)
}

// Format implements [fmt.Formatter] and says the same for every verb.
func (k key) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, "[private key]") }
