package authorizer

import "testing"

// TestAllows holds what the authorizer of the lab lets pass.
func TestAllows(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		lines []string
		joins bool
		want  bool
	}{
		{nil, false, false}, {nil, true, false}, {[]string{"allow"}, false, true}, {[]string{"allow"}, true, true},
		{[]string{"Allow"}, false, false}, {[]string{"allow,deny"}, false, false},
		{[]string{"deny", "allow"}, false, true}, {[]string{"deny", "allow"}, true, false},
	} {
		if got := AllowsRequest(tt.lines, tt.joins); got != tt.want {
			t.Errorf("%q, joined %t: %t", tt.lines, tt.joins, got)
		}
	}
	for name, want := range map[string]bool{"": false, ServerName: true, "ALLOW.EXT-AUTHZ": true, ServerName + ".x": false} {
		if got := AllowsConnection(name); got != want {
			t.Errorf("server name %q: %t", name, got)
		}
	}
}
