package requestline

import (
	"slices"
	"strings"
)

// Logged returns a text as Envoy writes it into a message: each byte that is no UTF-8 becomes
// an exclamation mark (MessageUtil::sanitizeUtf8String).
func Logged(text string) string {
	if !slices.Contains([]rune(text), '\uFFFD') {
		return text
	}
	var out strings.Builder
	for i, r := range text {
		if r == '\uFFFD' && !strings.HasPrefix(text[i:], "\uFFFD") {
			out.WriteByte('!')
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}
