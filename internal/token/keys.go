package token

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// KeysAt names the keys that an issuer publishes at a URI.
func KeysAt(uri string) string { return "at " + uri }

// KeysOf names the keys of a JSON Web Key Set (RFC 7517, section 5), in any order. The text has to
// be one, and no member may stand in it twice: Envoy and other readers may take another one of the two.
func KeysOf(text string) (string, error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	value, err := readOnce(decoder)
	if err != nil {
		return "", fmt.Errorf("it is no JSON Web Key Set (RFC 7517, section 5): %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return "", errors.New("it is no JSON Web Key Set (RFC 7517, section 5): something stands behind it")
	}
	set, _ := value.(map[string]any)
	list, ok := set["keys"].([]any)
	if !ok {
		return "", errors.New("it is no JSON Web Key Set (RFC 7517, section 5), which has a list keys")
	}
	keys := make([]string, len(list))
	for i, key := range list {
		if _, ok := key.(map[string]any); !ok {
			return "", errors.New("it is no JSON Web Key Set (RFC 7517, section 5): a key is an object")
		}
		// What was read from JSON can be written: the error is nil.
		text, _ := json.Marshal(key)
		keys[i] = string(text)
	}
	slices.Sort(keys)
	return "[" + strings.Join(slices.Compact(keys), ",") + "]", nil
}

// readOnce reads a value. A name of a member counts letter by letter, and stands in an object once.
func readOnce(decoder *json.Decoder) (any, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		out := map[string]any{}
		for decoder.More() {
			name, err := decoder.Token()
			if err != nil {
				return nil, err
			}
			key := name.(string) // the decoder takes nothing else here
			if _, twice := out[key]; twice {
				return nil, fmt.Errorf("member %q stands in it twice", key)
			}
			if out[key], err = readOnce(decoder); err != nil {
				return nil, err
			}
		}
		_, err := decoder.Token()
		return out, err
	case json.Delim('['):
		out := []any{}
		for decoder.More() {
			item, err := readOnce(decoder)
			if err != nil {
				return nil, err
			}
			out = append(out, item)
		}
		_, err := decoder.Token()
		return out, err
	default:
		return token, nil
	}
}

// Keys has the keys of issuers by their name, see [KeysOf].
type Keys map[string]string

// WithKeys returns the demand with the keys of issuers whose keys are named by a URI, or not at all.
func (d Demand) WithKeys(keys Keys) Demand {
	d.Issuers = slices.Clone(d.Issuers)
	for i, issuer := range d.Issuers {
		if own, ok := keys[issuer.Name]; ok && !strings.HasPrefix(issuer.Keys, "[") {
			d.Issuers[i].Keys = own
		}
	}
	return d
}
