package token

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// KeysAt names the keys that an issuer publishes at a URI.
func KeysAt(uri string) string { return "at " + uri }

// KeysOf names the keys of a JSON Web Key Set (RFC 7517, section 5), in any order. The text has to
// be one.
func KeysOf(text string) (string, error) {
	var set struct {
		Keys []map[string]any `json:"keys"`
	}
	if err := json.Unmarshal([]byte(text), &set); err != nil || set.Keys == nil {
		return "", errors.New("it is no JSON Web Key Set (RFC 7517, section 5), which has a list keys")
	}
	keys := make([]string, len(set.Keys))
	for i, key := range set.Keys {
		// What was read from JSON can be written: the error is nil.
		text, _ := json.Marshal(key)
		keys[i] = string(text)
	}
	slices.Sort(keys)
	return "[" + strings.Join(slices.Compact(keys), ",") + "]", nil
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
