package verify

import (
	"fmt"
	"strings"
	"testing"
)

// Filters with too many identities are not asked, and the inbound is not verified.
func TestTooManyClasses(t *testing.T) {
	t.Parallel()
	ids := make([]string, mostClasses+1)
	for i := range ids {
		ids[i] = fmt.Sprintf(`{"authenticated": {"principal_name": {"exact": "spiffe://default.zone-1.mesh.local/a%d"}}}`, i)
	}
	v := matched(t, letting(anyone, `{"or_ids": {"ids": [`+strings.Join(ids, ",")+`]}}`))
	if got := strings.Join(lines(v.Unverified), "\n"); len(v.Replays) != 1 || !strings.Contains(got, "classes of its requests, and no more than 10000 are asked") {
		t.Errorf("%d replays, unverified %q", len(v.Replays), got)
	}
}
