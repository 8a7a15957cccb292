package capability_test

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
)

// TestOnAddresses holds which addresses tell the blocks of a policy apart.
func TestOnAddresses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ blocks, want []string }{
		"none":              {nil, []string{"invalid IP"}},
		"one address":       {[]string{"10.9.0.5/32"}, []string{"10.9.0.5", "10.9.0.6"}},
		"a block":           {[]string{"10.9.0.0/16"}, []string{"10.9.0.1", "10.10.0.0"}},
		"an exception":      {[]string{"10.9.0.0/16", "10.9.7.0/24"}, []string{"10.9.0.1", "10.10.0.0", "10.9.7.1"}},
		"at the beginning":  {[]string{"10.9.0.0/16", "10.9.0.0/24"}, []string{"10.9.0.1", "10.9.255.255", "10.10.0.0"}},
		"of no workload":    {[]string{"224.0.0.0/4"}, []string{"240.0.0.0"}},
		"every address":     {[]string{"0.0.0.0/0"}, []string{"0.0.0.1"}},
		"of another family": {[]string{"10.9.0.0/16", "2001:db8::/32"}, []string{"elsewhere"}},
	} {
		target := capability.Target{
			Miss: func(policy.Inbound) capability.Reason { return nil },
			Fit:  func(in policy.Inbound) policy.Inbound { return in },
		}
		var blocks []netip.Prefix
		for _, b := range tt.blocks {
			blocks = append(blocks, netip.MustParsePrefix(b))
		}
		var got, keys []string
		for _, on := range target.OnAddresses(blocks) {
			in := on.Fit(policy.Inbound{})
			if on.Elsewhere != "" {
				got = append(got, "elsewhere")
				continue
			}
			if reason := on.Miss(in); reason != nil {
				t.Errorf("%s: the target misses its own inbound: %s", name, reason)
			}
			if in.Workload.IP.IsValid() && on.Selects(policy.Inbound{}) {
				t.Errorf("%s: the target takes an inbound of which no address is known", name)
			}
			got, keys = append(got, in.Workload.IP.String()), append(keys, on.Key)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if slices.Sort(keys); len(slices.Compact(keys)) != len(got) && got[0] != "elsewhere" {
			t.Errorf("%s: targets share a key: %q", name, keys)
		}
	}
}
