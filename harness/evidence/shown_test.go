package evidence

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/internal/forwarded"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// TestShown holds an entry of the access log against the request that it should be about: an
// entry that shows another attribute is no evidence.
func TestShown(t *testing.T) {
	t.Parallel()
	header := func(name string, values ...string) (out []policy.Header) {
		for _, value := range values {
			out = append(out, policy.Header{Name: name, Value: value})
		}
		return out
	}
	for name, tt := range map[string]struct {
		sent  []policy.Header
		hops  int
		shows []string
		log   xds.AccessLog
		want  string
	}{
		"nothing is asked for":    {header("x-role", "a"), 0, nil, xds.AccessLog{Host: "other"}, ""},
		"the host":                {nil, 0, []string{"host"}, xds.AccessLog{Host: "a.example"}, ""},
		"another host":            {nil, 0, []string{"host"}, xds.AccessLog{Host: "b.example"}, `the authority "b.example", the caller sent "a.example"`},
		"lines of a header":       {header("X-Role", "a", "", "b "), 0, []string{"x-role"}, xds.AccessLog{Headers: map[string]string{"x-role": "a,,b"}}, ""},
		"a line less":             {header("x-role", "a", "b"), 0, []string{"x-role"}, xds.AccessLog{Headers: map[string]string{"x-role": "a"}}, `"a" in the header x-role`},
		"no header":               {nil, 0, []string{"x-role"}, xds.AccessLog{}, ""},
		"a header out of nowhere": {nil, 0, []string{"x-role"}, xds.AccessLog{Headers: map[string]string{"x-role": ""}}, "present: true"},
		"a header that is gone":   {header("x-role", ""), 0, []string{"x-role"}, xds.AccessLog{}, "present: false"},
		"a referer":               {header("referer", "https://a.example/"), 0, []string{"referer"}, xds.AccessLog{Headers: map[string]string{"referer": "https://a.example/"}}, ""},
		"a referer taken away":    {header("referer", "a b"), 0, []string{"referer"}, xds.AccessLog{}, `Envoy took the header referer "a b" away`},
		"another referer":         {header("referer", "a"), 0, []string{"referer"}, xds.AccessLog{Headers: map[string]string{"referer": "b"}}, `"b" in the header referer`},
		"lines of one text":       {header("origin", "a", "", "b"), 0, []string{"origin"}, xds.AccessLog{Headers: map[string]string{"origin": "a,b"}}, ""},
		"bytes that are no text":  {header("x-role", "a\xff\xfe"), 0, []string{"x-role"}, xds.AccessLog{Headers: map[string]string{"x-role": "a!!"}}, ""},
		"the character itself":    {header("x-role", "a\uFFFD"), 0, []string{"x-role"}, xds.AccessLog{Headers: map[string]string{"x-role": "a\uFFFD"}}, ""},
		"the trusted address":     {header(forwarded.Header, "10.9.9.9, 203.0.113.7"), 1, nil, xds.AccessLog{Remote: netip.MustParseAddr("203.0.113.7")}, ""},
		"the forged address":      {header(forwarded.Header, "10.9.9.9, 203.0.113.7"), 1, nil, xds.AccessLog{Remote: netip.MustParseAddr("10.9.9.9")}, "the remote address 10.9.9.9, and x-forwarded-for says 203.0.113.7"},
		"no address":              {header(forwarded.Header, "unknown"), 1, nil, xds.AccessLog{Remote: netip.MustParseAddr("10.1.1.1")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.log.Request, tt.log.Path = true, "/"
			e := Evidence{Call: caller.Call{Headers: tt.sent, Authority: "a.example", Source: netip.MustParseAddrPort("10.1.1.1:80")}, Log: tt.log, TrustedHops: tt.hops, Headers: tt.shows}
			var sides checklist
			e.checkShown(&sides)
			if got := strings.Join(sides, "; "); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
