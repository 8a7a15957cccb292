package cases_test

import (
	"slices"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/pin"
)

func TestGateAdmits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		gate     cases.Gate
		text     string
		in, outs []string
	}{
		{cases.Gate{}, "", []string{"1.0.0", "1.40.0"}, nil},
		{cases.Gate{From: "1.39.3"}, "from 1.39.3", []string{"1.39.3", "1.40.0", "1.100.0"}, []string{"1.39.2", "1.9.0"}},
		{cases.Gate{Before: "1.39.3"}, "before 1.39.3", []string{"1.39.2", "1.9.0"}, []string{"1.39.3", "1.40.0"}},
		{cases.Gate{From: "1.37.0", Before: "1.39.3"}, "from 1.37.0 and before 1.39.3", []string{"1.37.0", "1.38.3"}, []string{"1.36.4", "1.39.3"}},
	} {
		if got := tt.gate.String(); got != tt.text {
			t.Errorf("text %q, want %q", got, tt.text)
		}
		for _, version := range slices.Concat(tt.in, tt.outs) {
			if got, want := tt.gate.Admits(version), slices.Contains(tt.in, version); got != want {
				t.Errorf("%q admits %s: %t, want %t", tt.text, version, got, want)
			}
		}
	}
}

// TestGatesAreTried shows that each gate admits some versions of the matrix and refuses others.
// Otherwise no run tries it.
func TestGatesAreTried(t *testing.T) {
	t.Parallel()
	all, err := cases.Stories()
	if err != nil {
		t.Fatal(err)
	}
	versions := pin.Versions()
	for _, c := range all {
		if c.Gate == (cases.Gate{}) {
			continue
		}
		admitted := 0
		for _, version := range versions {
			if c.Gate.Admits(version) {
				admitted++
			}
		}
		if admitted == 0 || admitted == len(versions) {
			t.Errorf("%s: of %d versions the gate admits %d (%s): it is never tried", c.Place, len(versions), admitted, c.Gate)
		}
	}
}

func TestWant(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]cases.Want{
		"allow": cases.Allow, "deny": cases.Deny, "close": cases.Close, "handshake-failure": cases.HandshakeFailure,
		"400": cases.Status(400), "403": cases.Status(403), "404": cases.Status(404), "504": cases.Status(504),
	} {
		for _, spelling := range []string{text, "'" + text + "'"} {
			got := parse(t, prelude+"  - {from: w, to: w/80, want: "+spelling+"}").Requests[0].Want
			if got != want || got.String() != text {
				t.Errorf("want: %s reads as %s", spelling, got)
			}
		}
		code, ok := want.Status()
		if isStatus := text[0] <= '9'; ok != isStatus || ok && cases.Status(code) != want || !ok && code != 0 {
			t.Errorf("%s.Status() = %d, %t", want, code, ok)
		}
	}
	if zero := (cases.Want{}); zero != cases.Deny {
		t.Errorf("a want that was forgotten is %s", zero)
	}
}

func TestShadow(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]cases.Shadow{"none": cases.ShadowNone, "allow": cases.ShadowAllow, "deny": cases.ShadowDeny} {
		got := parse(t, prelude+"  - {from: w, to: w/80, want: allow, shadow: "+text+"}").Requests[0].Shadow
		if got == nil || *got != want || got.String() != text {
			t.Errorf("shadow: %s reads as %v", text, got)
		}
	}
}
