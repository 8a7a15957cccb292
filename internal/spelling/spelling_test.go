package spelling_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/spelling"
)

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "ab", 2}, {"ab", "", 2}, {"payments", "payments", 0}, {"payment", "payments", 1},
		{"grpc", "gprc", 1}, {"http", "htp", 1}, {"frontend", "payments", 7}, {"kitten", "sitting", 3},
	} {
		if got := spelling.Distance(tt.a, tt.b); got != tt.want {
			t.Errorf("%q to %q: %d edits, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestGuessOfAMisspeltWord(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"polcies": "policies", "POLICIES": "policies", "requst": "requests", "form": "from", "too": "to", "wants": "want",
		"owner": "", "x": "", "": "", "MeshTrafficPermision": "MeshTrafficPermission", "MeshTimeout": "",
		"proto": "protocol", "pro": "protocol", "pr": "", "prot": "port", "pol": "policies", "req": "requests required",
		strings.Repeat("policies", 1000): "",
	} {
		got := spelling.Guess(word, []string{"policies", "requests", "from", "to", "want", "port", "protocol", "required", "MeshTrafficPermission", ""})
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
