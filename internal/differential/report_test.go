package differential

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/terminal"
)

// A run that breaks off says how many sets were not decided as specified until then.
func TestTallyNamesSuspects(t *testing.T) {
	t.Parallel()
	if text := (Tally{Sets: 64, Suspects: 2}).String(); !strings.HasSuffix(text, ", 2 of them not decided as specified") {
		t.Error(text)
	}
	if text := (Tally{Sets: 64}).String(); strings.Contains(text, "not decided") {
		t.Error(text)
	}
}

// A set that this Envoy leaves in doubt does not hold, and is counted apart from those that are
// decided otherwise.
func TestDoubtedSetsDoNotHold(t *testing.T) {
	t.Parallel()
	r := Report{Tally: Tally{Sets: 64, Distinct: 64, Doubted: 2}, Doubt: "set 7: web/8080: in doubt"}
	var b strings.Builder
	r.WriteText(&b, terminal.Paint(false))
	if r.Holds() || !strings.HasPrefix(b.String(), "✗ 2 sets not verified on this Envoy, although no decision differs; the first is set 7: web/8080: in doubt\n✗ 64 sets") {
		t.Errorf("holds %t:\n%s", r.Holds(), b.String())
	}
}
