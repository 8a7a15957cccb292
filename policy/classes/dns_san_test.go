package classes_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
)

func TestDNSSANs(t *testing.T) {
	t.Parallel()
	tcp := classes.Surface{Protocol: policy.TCP}
	friend := attribute.Identity.Exact("spiffe://td/a")
	for _, tt := range []struct {
		name     string
		programs []policy.Program
		want     []string
	}{
		{"exact and prefix", programs(attribute.DNSSAN.Exact("web.example"), attribute.DNSSAN.Prefix("api.")), []string{
			"any other dns-san: spiffe://trust-domain.mesh/ns/any/sa/any",
			"dns-san api.…: spiffe://trust-domain.mesh/ns/any/sa/any api.any",
			"dns-san web.example: spiffe://trust-domain.mesh/ns/any/sa/any web.example",
		}},
		{"a caller without a URI SAN has no DNS SAN", programs(attribute.Identity.Exact(""), attribute.Identity.Prefix("spiffe://"), attribute.DNSSAN.Exact("web.example")), []string{
			"identity , any other dns-san:",
			"no any other identity: the 2 matchers inside it leave nothing of it",
			"identity spiffe://…, any other dns-san: spiffe://trust-domain.mesh/ns/any/sa/any",
			"identity spiffe://…, dns-san web.example: spiffe://trust-domain.mesh/ns/any/sa/any web.example",
		}},
		{"any DNS SAN and an empty one", programs(attribute.DNSSAN.Prefix(""), attribute.DNSSAN.Exact("")), []string{
			"any other dns-san: spiffe://trust-domain.mesh/ns/any/sa/any",
			"dns-san … but not : spiffe://trust-domain.mesh/ns/any/sa/any any",
			`no dns-san : no request has the dns-san ""`,
		}},
		{"both", []policy.Program{{Gates: []policy.Gate{{Rules: []policy.Rule{rule(policy.Allow, "both", policy.And{friend, attribute.DNSSAN.Exact("web.example")})}}}}}, []string{
			"any other identity: spiffe://td/ns/any/sa/any",
			"identity spiffe://td/a, any other dns-san: spiffe://td/a",
			"identity spiffe://td/a, dns-san web.example: spiffe://td/a web.example",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cover := classes.Cut(tcp, tt.programs...)
			got, want := lines(cover), slices.Clone(tt.want)
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !cover.Complete() {
				t.Errorf("sampled: %q", cover.Sampled)
			}
			for i, class := range cover.Classes {
				if at, ok := cover.Locate(class.Witness); !ok || at != i {
					t.Errorf("the witness of class %d, %+v, is located in %d", i, class.Witness, at)
				}
				for _, n := range cover.Neighbours(i) {
					if len(n.Request.URIs) == 0 && len(n.Request.DNS) > 0 {
						t.Errorf("no SVID has the names of %+v", n.Request)
					}
				}
			}
		})
	}
}

// TestDNSSANsBesideNames has a cover that says that it has examples only.
func TestDNSSANsBesideNames(t *testing.T) {
	t.Parallel()
	cover := classes.Cut(classes.Surface{Protocol: policy.TCP}, programs(attribute.URISAN.Exact("spiffe://td/a"), attribute.DNSSAN.Exact("web.example"))...)
	want := []string{`condition "DNS SANs = \"web.example\"": requests that meet it were not looked for`}
	if diff := cmp.Diff(want, cover.Sampled); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
