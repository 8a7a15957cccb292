package certs_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/certs"
)

// renderings returns the texts that printers, loggers, encoders and a deep dumper make of v.
func renderings(t *testing.T, v any) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%X", "%T", "%p", "%08.3f", "%-200s", "%c", "%U"} {
		out[verb] = fmt.Sprintf(verb, v)
	}
	text, jsonl := &bytes.Buffer{}, &bytes.Buffer{}
	slog.New(slog.NewTextHandler(text, nil)).Info("m", "v", v)
	slog.New(slog.NewJSONHandler(jsonl, nil)).Info("m", "v", v)
	encoded, err := json.Marshal(v)
	if err != nil {
		encoded = []byte(err.Error())
	}
	out["slog text"], out["slog json"], out["json"] = text.String(), jsonl.String(), string(encoded)
	out["error"] = errors.Join(fmt.Errorf("with %v", v)).Error()
	out["deep dump"] = deepDump(reflect.ValueOf(v), 10)
	return out
}

// deepDump shows all fields of a value, unexported ones too, and calls no method of it.
func deepDump(v reflect.Value, depth int) string {
	if !v.IsValid() || depth == 0 {
		return ""
	}
	var parts []string
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return deepDump(v.Elem(), depth-1)
	case reflect.Struct:
		for i := range v.NumField() {
			parts = append(parts, v.Type().Field(i).Name+": "+deepDump(v.Field(i), depth-1))
		}
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			parts = append(parts, deepDump(entries.Key(), depth-1)+": "+deepDump(entries.Value(), depth-1))
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			parts = append(parts, deepDump(v.Index(i), depth-1))
		}
		if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
			parts = append(parts, string(v.Bytes()), hex.EncodeToString(v.Bytes()))
		}
	case reflect.String:
		return v.String()
	default:
		return fmt.Sprint(v)
	}
	return strings.Join(parts, " ")
}

// secretsOf returns the forms that the private scalar of c may have in a leak.
func secretsOf(t *testing.T, c *certs.Credential) []string {
	t.Helper()
	block, _ := pem.Decode(c.KeyPEM())
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	scalar, err := parsed.(*ecdsa.PrivateKey).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return []string{
		string(scalar), hex.EncodeToString(scalar), strings.Trim(fmt.Sprint(scalar), "[]"),
		new(big.Int).SetBytes(scalar).String(), // as encoding/json shows an unprotected key
		base64.StdEncoding.EncodeToString(scalar), base64.StdEncoding.EncodeToString(block.Bytes),
		strings.Split(string(c.KeyPEM()), "\n")[1], "BEGIN PRIVATE KEY",
	}
}

func TestNoPrinterShowsTheKey(t *testing.T) {
	t.Parallel()
	a := newAuthorityWithIntermediate(t, mesh)
	c := mint(t, a, backend)
	type inside struct {
		Exported *certs.Credential
		hidden   *certs.Credential
		value    certs.Credential
		tls      tls.Certificate
	}
	for name, v := range map[string]any{
		"credential":       c,
		"credential value": *c,
		"authority":        a,
		"tls.Certificate":  c.TLSCertificate(),
		"signer":           c.TLSCertificate().PrivateKey,
		"struct":           inside{c, c, *c, c.TLSCertificate()},
		"slice":            []*certs.Credential{c},
		"map":              map[string]any{"c": c, "t": c.TLSCertificate()},
	} {
		for how, text := range renderings(t, v) {
			for _, secret := range secretsOf(t, c) {
				if strings.Contains(strings.ToLower(text), strings.ToLower(secret)) {
					t.Errorf("%s through %s shows the key as %q", name, how, secret)
				}
			}
		}
	}
	// The detector must be able to fail: the JSON and the deep dump of an unprotected key show it.
	block, _ := pem.Decode(c.KeyPEM())
	unprotected, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	dump, err := json.Marshal(unprotected)
	if err != nil || !strings.Contains(string(dump), secretsOf(t, c)[3]) {
		t.Errorf("the detector misses the scalar in the JSON of an unprotected key (error %v)", err)
	}
	if text := deepDump(reflect.ValueOf(c.KeyPEM()), 10); !strings.Contains(text, "BEGIN PRIVATE KEY") {
		t.Errorf("the detector misses the key in a deep dump: %s", text)
	}
}

func TestCredentialPrintsItsIdentity(t *testing.T) {
	t.Parallel()
	c := forge(t, newAuthority(t, mesh), certs.Template{URIs: []string{backend.String(), "quo\"te"}})
	serial := c.TLSCertificate().Leaf.SerialNumber.Text(16)
	plain := fmt.Sprintf(`credential ["%s" "quo\"te"] serial %s`, backend, serial)
	object := fmt.Sprintf(`{"uris":["%s","quo\"te"],"serial":"%s"}`, backend, serial)
	got := renderings(t, c)
	for how, want := range map[string]string{
		"%v": plain, "%+v": plain, "%s": plain,
		"%q": fmt.Sprintf("%q", plain), "%#v": fmt.Sprintf("%#v", plain),
		"json": object,
	} {
		if got[how] != want {
			t.Errorf("%s: got %s, want %s", how, got[how], want)
		}
	}
	if c.String() != plain {
		t.Errorf("String %q, want %q", c.String(), plain)
	}
	if want := `"v":` + object; !strings.Contains(got["slog json"], want) {
		t.Errorf("slog json: got %s, want it to contain %s", got["slog json"], want)
	}
	if want := "v=" + fmt.Sprintf("%q", plain); !strings.Contains(got["slog text"], want) {
		t.Errorf("slog text: got %s, want it to contain %s", got["slog text"], want)
	}
	if nameless, err := json.Marshal(forge(t, newAuthority(t, mesh), certs.Template{})); err != nil || !strings.Contains(string(nameless), `"uris":[]`) {
		t.Errorf("json of a nameless credential: %s (error %v)", nameless, err)
	}
}
