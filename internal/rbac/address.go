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

// The peer of the connection, what the PROXY protocol or a header says of the caller, and the
// address that the caller connects to.
var (
	_ = add(addressRow(attribute.SourceAddress, &networkinputsv3.DirectSourceIPInput{}, row{principal: func(m policy.Match) *rbacv3.Principal {
		return &rbacv3.Principal{Identifier: &rbacv3.Principal_DirectRemoteIp{DirectRemoteIp: cidrRange(m)}}
	}}, (*accesslogdatav3.AccessLogCommon).GetDownstreamDirectRemoteAddress))
	_ = add(addressRow(attribute.RemoteAddress, &networkinputsv3.SourceIPInput{}, row{principal: func(m policy.Match) *rbacv3.Principal {
		return &rbacv3.Principal{Identifier: &rbacv3.Principal_RemoteIp{RemoteIp: cidrRange(m)}}
	}}, (*accesslogdatav3.AccessLogCommon).GetDownstreamRemoteAddress))
	_ = add(addressRow(attribute.DestinationAddress, &networkinputsv3.DestinationIPInput{}, row{permission: func(m policy.Match) *rbacv3.Permission {
		return &rbacv3.Permission{Rule: &rbacv3.Permission_DestinationIp{DestinationIp: cidrRange(m)}}
	}}, (*accesslogdatav3.AccessLogCommon).GetDownstreamLocalAddress))
)

// addressRow completes a row that says how a named rule asks for an address.
func addressRow(a *policy.Attribute, input proto.Message, named row, logged func(*accesslogdatav3.AccessLogCommon) *corev3.Address) row {
	in := inputOf(input)
	named.attribute, named.since, named.input = a, "1.36.4", input
	named.predicate = func(m policy.Match) *predicateProto { return inBlock(in, cidrRange(m)) }
	named.logged = func(common *accesslogdatav3.AccessLogCommon, _ *accesslogdatav3.HTTPRequestProperties) []string {
		if address := logged(common).GetSocketAddress().GetAddress(); address != "" {
			return []string{address}
		}
		return nil
	}
	return named
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
