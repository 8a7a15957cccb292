package classes_test

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
)

// cells returns the classes with their witnesses.
func cells(cover *classes.Cover, value func(r policy.Request) string) (out []string) {
	for _, c := range cover.Classes {
		out = append(out, fmt.Sprintf("%s: %s", c, value(c.Witness)))
	}
	return out
}

func portText(r policy.Request) string { return fmt.Sprint(r.Port) }

// TestPortCells cuts ports by ranges that lie apart, inside each other and across each other.
func TestPortCells(t *testing.T) {
	t.Parallel()
	tcp := classes.Surface{Protocol: policy.TCP}
	for _, tt := range []struct {
		surface    classes.Surface
		conditions []policy.Condition
		want       []string
	}{
		{tcp, []policy.Condition{is(attribute.DestinationPort, policy.Range, "8000-8999")},
			[]string{"any other destination port: 1", "destination port 8000-8999: 8080"}},
		{tcp, []policy.Condition{is(attribute.DestinationPort, policy.Range, "8000-8999"), attribute.DestinationPort.Exact("9090")},
			[]string{"any other destination port: 1", "destination port 8000-8999: 8080", "destination port 9090: 9090"}},
		{tcp, []policy.Condition{is(attribute.DestinationPort, policy.Range, "1-65535")}, []string{"destination port 1-65535: 8080"}},
		{classes.Surface{Protocol: policy.TCP, Ports: []uint16{9090}}, []policy.Condition{is(attribute.DestinationPort, policy.Range, "8000-8999")},
			[]string{"any other destination port: 9090"}},
		{classes.Surface{Protocol: policy.TCP, Ports: []uint16{9090, 8080, 80}}, []policy.Condition{is(attribute.DestinationPort, policy.Range, "8000-8999")},
			[]string{"any other destination port: 80", "destination port 8000-8999: 8080"}},
	} {
		cover := classes.Cut(tt.surface, ordered(tt.conditions...))
		if diff := cmp.Diff(tt.want, cells(cover, portText)); diff != "" || !cover.Complete() {
			t.Errorf("%v (-want +got):\n%s%s", tt.conditions, diff, cover)
		}
	}
}

// TestDestinations holds the classes of destination addresses: of any inbound, and of one whose
// address is known. A caller of IPv6 reaches that one in the notation of IPv6.
func TestDestinations(t *testing.T) {
	t.Parallel()
	to := func(value string) policy.Condition { return is(attribute.DestinationAddress, policy.CIDR, value) }
	known := classes.Surface{Protocol: policy.TCP, Destination: netip.MustParseAddr("10.9.0.5")}
	for _, tt := range []struct {
		surface     classes.Surface
		condition   policy.Condition
		want        []string
		unreachable int
	}{
		{classes.Surface{Protocol: policy.TCP}, to("10.9.0.0/16"), []string{"any other destination address: 10.64.0.1", "destination address 10.9.0.0/16: 10.9.0.1"}, 0},
		{known, to("10.9.0.0/16"), []string{"any other source address: ::ffff:10.9.0.5", "source address 0.0.0.0/0: 10.9.0.5"}, 0},
		{known, to("10.10.0.0/16"), []string{"every request: 10.9.0.5"}, 1},
		{known, policy.Or{to("10.9.0.0/16"), to("::/0")}, []string{"source address ::/0: ::ffff:10.9.0.5", "source address 0.0.0.0/0: 10.9.0.5"}, 0},
	} {
		cover := classes.Cut(tt.surface, ordered(tt.condition))
		got := cells(cover, func(r policy.Request) string { return r.Destination.String() })
		slices.Sort(got)
		slices.Sort(tt.want)
		if diff := cmp.Diff(tt.want, got); diff != "" || !cover.Complete() {
			t.Errorf("%v (-want +got):\n%s%s", tt.condition, diff, cover)
		}
		if last := cover.Dimensions[len(cover.Dimensions)-1]; len(last.Unreachable) != tt.unreachable {
			t.Errorf("%v: unreachable %v", tt.condition, last.Unreachable)
		}
		for i := range cover.Classes {
			for _, n := range cover.Neighbours(i) {
				if at, ok := cover.Locate(n.Request); !ok || at != n.Class || !n.Request.Destination.IsValid() {
					t.Errorf("%v: neighbour %+v is in class %d, want %d", tt.condition, n.Request, at, n.Class)
				}
			}
		}
	}
}

// TestNoOtherAddress names the blocks of both families, which leave nothing: no address that nobody has is the reason.
func TestNoOtherAddress(t *testing.T) {
	t.Parallel()
	from := func(value string) policy.Condition { return is(attribute.SourceAddress, policy.CIDR, value) }
	cover := classes.Cut(classes.Surface{Protocol: policy.TCP}, ordered(policy.Or{from("0.0.0.0/0"), from("::/0")}))
	var got []string
	for _, u := range cover.Dimensions[0].Unreachable {
		got = append(got, u.Cell+": "+u.Reason.Error())
	}
	if diff := cmp.Diff([]string{"any other source address: the 2 matchers inside it leave nothing of it"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestPortsByBruteForce compares the classes of ranges with every port: the ports of a class are
// decided alike, and no decision lacks a class. Half of the programs have a regular expression
// beside the ranges.
func TestPortsByBruteForce(t *testing.T) {
	t.Parallel()
	property.Check(t, func(t *rapid.T) {
		edge := rapid.SampledFrom([]uint16{1, 2, 79, 80, 81, 8000, 8001, 8080, 8500, 9000, 65534, 65535})
		var conditions []policy.Condition
		for range rapid.IntRange(1, 5).Draw(t, "ranges") {
			first, last := edge.Draw(t, "first"), edge.Draw(t, "last")
			var c policy.Condition = is(attribute.DestinationPort, policy.Range, fmt.Sprintf("%d-%d", min(first, last), max(first, last)))
			if rapid.Bool().Draw(t, "not") {
				c = policy.Not{Condition: c}
			}
			conditions = append(conditions, c)
		}
		if rapid.Bool().Draw(t, "regular") {
			conditions[0] = policy.And{conditions[0], is(attribute.Identity, policy.Regex, ".*/ns/a/.*")}
		}
		p := ordered(conditions...)
		cover := classes.Cut(classes.Surface{}, p)
		if !cover.Complete() {
			t.Fatal(cover)
		}
		request := cover.Classes[0].Witness
		seen := map[policy.Decision]bool{}
		for _, class := range cover.Classes {
			seen[policy.Decide(p, class.Witness)] = true
		}
		for port := 1; port <= 65535; port += 1 + rapid.IntRange(0, 40).Draw(t, "step") {
			request.Port = uint16(port)
			at, ok := cover.Locate(request)
			if want := policy.Decide(p, request); !ok || policy.Decide(p, cover.Classes[at].Witness) != want || !seen[want] {
				t.Fatalf("port %d is in class %d, %s, of\n%s", port, at, cover, p)
			}
		}
	})
}

// TestAddressesBesideRegularExpressions is complete for blocks with exceptions, whatever else the
// rules ask for, and finds what is covered.
func TestAddressesBesideRegularExpressions(t *testing.T) {
	t.Parallel()
	in := func(block string) policy.Condition { return is(attribute.SourceAddress, policy.CIDR, block) }
	team := is(attribute.Identity, policy.Regex, `.*/ns/team-[a-z]+/.*`)
	cover := classes.Cut(classes.Surface{}, ordered(
		policy.And{team, in("10.0.0.0/8"), policy.Not{Condition: in("10.1.0.0/16")}},
		policy.And{in("10.0.0.0/9"), in("10.128.0.0/9")},
		policy.Or{in("10.0.0.0/9"), in("10.128.0.0/9")},
		in("10.0.0.0/8"),
		is(attribute.RemoteAddress, policy.CIDR, "224.0.0.0/4"),
		policy.Not{Condition: policy.Or{in("0.0.0.0/0"), in("::/0")}},
	))
	var got []string
	for _, c := range cover.Classes {
		got = append(got, fmt.Sprint(c.Witness.Source, " ", c.Witness.URIs))
	}
	want := []string{"10.255.255.254 [spiffe://trust-domain.mesh/ns/team-a/sa/a]", "10.0.0.1 [spiffe://trust-domain.mesh/ns/a/sa/a]",
		"10.255.255.254 [spiffe://trust-domain.mesh/ns/a/sa/a]", "11.0.0.0 [spiffe://trust-domain.mesh/ns/a/sa/a]"}
	if diff := cmp.Diff(want, got); diff != "" || !cover.Complete() {
		t.Errorf("%s (-want +got):\n%s", cover, diff)
	}
}

// TestEndpointNeighbours asks for what is next to a block and to a range, on both sides.
func TestEndpointNeighbours(t *testing.T) {
	t.Parallel()
	for _, regular := range []bool{false, true} {
		p := policy.And{is(attribute.SourceAddress, policy.CIDR, "10.1.0.0/16"), is(attribute.DestinationPort, policy.Range, "8000-8999")}
		if regular {
			p = append(p, is(attribute.Identity, policy.Suffix, "/sa/a"))
		}
		cover := classes.Cut(classes.Surface{Protocol: policy.TCP}, ordered(p))
		at, ok := cover.Locate(policy.Request{URIs: []string{"spiffe://trust-domain.mesh/ns/a/sa/a"}, Port: 8080, Source: netip.MustParseAddr("10.1.2.3")})
		if !ok {
			t.Fatalf("regular %t: no class", regular)
		}
		got := map[string]bool{}
		for _, n := range cover.Neighbours(at) {
			got[n.Request.Source.String()] = n.Class == at && ok
			got[fmt.Sprint(n.Request.Port)] = true
		}
		for _, want := range []string{"10.0.255.255", "10.1.0.0", "10.1.255.255", "10.2.0.0", "::ffff:10.1.0.1", "7999", "8000", "8999", "9000"} {
			if _, ok := got[want]; !ok {
				t.Errorf("regular %t: %s is not asked: %v", regular, want, got)
			}
		}
	}
}

// BenchmarkBlocks has ten thousand blocks of addresses, each with an exception.
func BenchmarkBlocks(b *testing.B) {
	var conditions policy.Or
	for i := range 10_000 {
		block := func(bits int) policy.Condition {
			return is(attribute.SourceAddress, policy.CIDR, netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 8), byte(i), 0}), bits).String())
		}
		conditions = append(conditions, policy.And{block(24), policy.Not{Condition: block(25)}})
	}
	p := ordered(conditions)
	for b.Loop() {
		cover := classes.Cut(classes.Surface{Protocol: policy.TCP}, p)
		if !cover.Complete() {
			b.Fatal(cover)
		}
		b.ReportMetric(float64(len(cover.Classes)), "classes")
	}
}
