package authentication

import (
	"encoding/json"
	"fmt"

	"github.com/meshproof/meshproof/internal/token"
)

// members are those that a key of a type needs to have (RFC 7518, section 6).
var members = map[string][]string{"RSA": {"n", "e"}, "EC": {"crv", "x", "y"}, "OKP": {"crv", "x"}, "oct": {"k"}}

// checkKeys refuses a set of keys that Istio's webhook does not take. It reads no key.
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
		of, _ := key["kty"].(string)
		needs, known := members[of]
		if !known {
			return fmt.Errorf("keys[%d].kty: %q is no type of a key: use RSA, EC, OKP or oct", i, of)
		}
		for _, name := range needs {
			if text, ok := key[name].(string); !ok || text == "" {
				return fmt.Errorf("keys[%d].%s: a key of the type %s has it", i, name, of)
			}
		}
	}
	return nil
}
