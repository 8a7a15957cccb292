package cases_test

import (
	"testing"

	"github.com/meshproof/meshproof/cases"
)

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
