// Package mtls says which callers an inbound takes: over mTLS, in plaintext, or both.
//
// It guarantees that the zero value states nothing, and that an inbound without a mode is
// strict. It knows neither policies nor Envoy.
package mtls

import (
	"fmt"
	"slices"
	"strings"
)

// Mode says which callers an inbound takes. The zero value states none, and means strict.
type Mode uint8

// The modes, as mtls of an inbound in a case file and as spec.mtls.mode of Istio's
// PeerAuthentication have them.
const (
	// Unset states no mode.
	Unset Mode = iota
	// Strict takes callers with an SVID of a trusted trust domain only.
	Strict
	// Permissive takes plaintext too, and verifies callers over TLS as Strict does.
	Permissive
	// Disable takes plaintext only.
	Disable
)

var names = [...]string{Unset: "", Strict: "strict", Permissive: "permissive", Disable: "disable"}

// String returns the name used in case files, and "strict" for the zero value.
func (m Mode) String() string {
	if m == Unset {
		m = Strict
	}
	return names[m]
}

// UnmarshalText reads the name used in case files. The empty text is the zero value. An
// unknown name is an error that lists the known ones.
func (m *Mode) UnmarshalText(text []byte) error {
	i := slices.Index(names[:], string(text))
	if i < 0 {
		return fmt.Errorf("%q is unknown: use one of %s", text, strings.Join(names[1:], ", "))
	}
	*m = Mode(i)
	return nil
}

// TakesPlaintext reports whether an inbound takes callers without TLS.
func (m Mode) TakesPlaintext() bool { return m == Permissive || m == Disable }

// TakesTLS reports whether an inbound takes callers with TLS.
func (m Mode) TakesTLS() bool { return m != Disable }
