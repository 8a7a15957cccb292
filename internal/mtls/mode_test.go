package mtls

import "testing"

// TestMode holds what each mode takes, and that its name is read back.
func TestMode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		mode           Mode
		name           string
		tls, plaintext bool
	}{
		{Unset, "strict", true, false}, {Strict, "strict", true, false},
		{Permissive, "permissive", true, true}, {Disable, "disable", false, true},
	} {
		if tt.mode.String() != tt.name || tt.mode.TakesTLS() != tt.tls || tt.mode.TakesPlaintext() != tt.plaintext {
			t.Errorf("%s: TLS %t, plaintext %t", tt.mode, tt.mode.TakesTLS(), tt.mode.TakesPlaintext())
		}
		var read Mode
		if err := read.UnmarshalText([]byte(tt.name)); err != nil || read.String() != tt.name {
			t.Errorf("%s is read as %s, %v", tt.name, read, err)
		}
	}
	var read Mode
	if err := read.UnmarshalText(nil); err != nil || read != Unset {
		t.Errorf("no text is read as %d, %v", read, err)
	}
	if err := read.UnmarshalText([]byte("off")); err == nil || err.Error() != `"off" is unknown: use one of strict, permissive, disable` {
		t.Errorf("an unknown mode: %v", err)
	}
}
