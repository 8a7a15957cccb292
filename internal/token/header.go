package token

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/meshproof/meshproof/policy"
)

// Header is the header of a request that has the token (RFC 6750, section 2.1), behind
// [Scheme].
const (
	Header = "authorization"
	Scheme = "Bearer "
)

// Line returns the header line that sends a token to the inbound.
func (d Demand) Line(t *Token, now time.Time) (policy.Header, error) {
	text, err := d.Mint(t, now)
	return policy.Header{Name: Header, Value: Scheme + text}, err
}

// Payload returns the claims of the token in a header line, and nil where there are none.
func Payload(line string) map[string]any {
	parts := strings.Split(strings.TrimPrefix(line, Scheme), ".")
	if len(parts) != 3 {
		return nil
	}
	text, err := encoding.DecodeString(parts[1])
	if err != nil {
		return nil
	}
	var claims map[string]any
	if json.Unmarshal(text, &claims) != nil {
		return nil
	}
	return claims
}
