package rbac

import (
	"net/netip"

	xdscorev3 "github.com/cncf/xds/go/xds/core/v3"
	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	accesslogdatav3 "github.com/envoyproxy/go-control-plane/envoy/data/accesslog/v3"
	networkinputsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/network/v3"
	ipv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/input_matchers/ip/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// The peer of the connection, and what the PROXY protocol or a header says of the caller.
var (
	_ = add(addressRow(attribute.SourceAddress, &networkinputsv3.DirectSourceIPInput{}, func(block *corev3.CidrRange) *rbacv3.Principal {
		return &rbacv3.Principal{Identifier: &rbacv3.Principal_DirectRemoteIp{DirectRemoteIp: block}}
	}, (*accesslogdatav3.AccessLogCommon).GetDownstreamDirectRemoteAddress))
	_ = add(addressRow(attribute.RemoteAddress, &networkinputsv3.SourceIPInput{}, func(block *corev3.CidrRange) *rbacv3.Principal {
		return &rbacv3.Principal{Identifier: &rbacv3.Principal_RemoteIp{RemoteIp: block}}
	}, (*accesslogdatav3.AccessLogCommon).GetDownstreamRemoteAddress))
)

func addressRow(a *policy.Attribute, input proto.Message, principal func(*corev3.CidrRange) *rbacv3.Principal, logged func(*accesslogdatav3.AccessLogCommon) *corev3.Address) row {
	in := inputOf(input)
	return row{
		attribute: a,
		since:     "1.36.4",
		input:     input,
		predicate: func(m policy.Match) *predicateProto { return inBlock(in, cidrRange(m)) },
		principal: func(m policy.Match) *rbacv3.Principal { return principal(cidrRange(m)) },
		logged: func(common *accesslogdatav3.AccessLogCommon, _ *accesslogdatav3.HTTPRequestProperties) []string {
			if address := logged(common).GetSocketAddress().GetAddress(); address != "" {
				return []string{address}
			}
			return nil
		},
	}
}

// inBlock compares an address with a block. Envoy reads the text of the input as an address
// for it.
func inBlock(in *xdscorev3.TypedExtensionConfig, block *corev3.CidrRange) *predicateProto {
	return &predicateProto{MatchType: &matcherv3.Matcher_MatcherList_Predicate_SinglePredicate_{
		SinglePredicate: &matcherv3.Matcher_MatcherList_Predicate_SinglePredicate{
			Input: in,
			Matcher: &matcherv3.Matcher_MatcherList_Predicate_SinglePredicate_CustomMatch{CustomMatch: &xdscorev3.TypedExtensionConfig{
				Name: "envoy.matching.matchers.ip", TypedConfig: mustAny(&ipv3.Ip{CidrRanges: []*corev3.CidrRange{block}, StatPrefix: "ip"}),
			}},
		},
	}}
}

// cidrRange returns the block of a match. A single address is a block of its whole length.
func cidrRange(m policy.Match) *corev3.CidrRange {
	block, err := netip.ParsePrefix(m.Value)
	if err != nil {
		address, _ := netip.ParseAddr(m.Value)
		block = netip.PrefixFrom(address, address.BitLen())
	}
	return &corev3.CidrRange{AddressPrefix: block.Addr().String(), PrefixLen: wrapperspb.UInt32(uint32(max(0, block.Bits())))}
}
