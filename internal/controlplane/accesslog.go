package controlplane

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	accesslogdatav3 "github.com/envoyproxy/go-control-plane/envoy/data/accesslog/v3"
	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/service/accesslog/v3"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshproof/meshproof/internal/rbac"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds"
)

type accessLogServer struct {
	accesslogv3.UnimplementedAccessLogServiceServer
	entries func(xds.AccessLog)
}

// StreamAccessLogs implements envoy.service.accesslog.v3.AccessLogService.
func (s *accessLogServer) StreamAccessLogs(stream accesslogv3.AccessLogService_StreamAccessLogsServer) error {
	for {
		message, err := stream.Recv()
		if err != nil {
			// The stream ends when Envoy or this server does.
			return nil
		}
		for _, entry := range message.GetHttpLogs().GetLogEntry() {
			s.entries(requestEntry(entry))
		}
		for _, entry := range message.GetTcpLogs().GetLogEntry() {
			s.entries(connectionEntry(entry))
		}
	}
}

func requestEntry(entry *accesslogdatav3.HTTPAccessLogEntry) xds.AccessLog {
	log := commonEntry(entry.GetCommonProperties())
	log.Request = true
	log.SetFilters(withAuthorizer(filterLogs(policy.L7, metadataOf(entry.GetCommonProperties(), "envoy.filters.http.rbac")), entry.GetCommonProperties()))
	if payload := metadataOf(entry.GetCommonProperties(), rbac.TokenFilter)[rbac.TokenPayload].GetStructValue(); payload != nil {
		log.Claims = payload.AsMap()
	}
	request := entry.GetRequest()
	log.Method = strings.Join(rbac.Logged(attribute.Method, entry.GetCommonProperties(), request), ",")
	log.Path = strings.Join(rbac.Logged(attribute.Path, entry.GetCommonProperties(), request), ",")
	log.Host, log.Headers = request.GetAuthority(), request.GetRequestHeaders()
	log.Status = entry.GetResponse().GetResponseCode().GetValue()
	log.Details = entry.GetResponse().GetResponseCodeDetails()
	return log
}

func connectionEntry(entry *accesslogdatav3.TCPAccessLogEntry) xds.AccessLog {
	common := entry.GetCommonProperties()
	log := commonEntry(common)
	if common.GetResponseFlags().GetNoRouteFound() {
		log.TransportFailure = cmp.Or(log.TransportFailure, noChain)
	}
	log.SetFilters(withAuthorizer(filterLogs(policy.L4, metadataOf(common, "envoy.filters.network.rbac")), common))
	return log
}

func commonEntry(common *accesslogdatav3.AccessLogCommon) xds.AccessLog {
	// A caller of IPv6 plays the destination in the notation of IPv6.
	destination := addrPort(common.GetDownstreamLocalAddress())
	log := xds.AccessLog{
		Caller:           callerOf(common),
		Remote:           addrPort(common.GetDownstreamRemoteAddress()).Addr().WithZone(""),
		Destination:      netip.AddrPortFrom(destination.Addr().Unmap(), destination.Port()),
		Termination:      common.GetConnectionTerminationDetails(),
		TransportFailure: common.GetDownstreamTransportFailureReason(),
		UpstreamBytes:    common.GetUpstreamWireBytesSent(),
		PeerURIs:         rbac.Logged(attribute.Identity, common, nil),
		SNI:              strings.Join(rbac.Logged(attribute.SNI, common, nil), ","),
	}
	return log
}

// noChain is the failure of a caller over TLS on a listener that has a chain for plaintext alone.
const noChain = "no filter chain takes TLS"

// callerOf returns the address that the caller plays. Where a header gives the remote address,
// it stands in the filter state of the connection.
func callerOf(common *accesslogdatav3.AccessLogCommon) netip.AddrPort {
	var text wrapperspb.StringValue
	if common.GetFilterStateObjects()[callerState].UnmarshalTo(&text) == nil {
		if address, err := netip.ParseAddrPort(text.GetValue()); err == nil {
			return address
		}
	}
	return addrPort(common.GetDownstreamRemoteAddress())
}

func metadataOf(common *accesslogdatav3.AccessLogCommon, filter string) map[string]*structpb.Value {
	return common.GetMetadata().GetFilterMetadata()[filter].GetFields()
}

// An engine reports under keys that end in these words. The prefix of the filter stands in
// front of them.
const (
	enforcedResult, enforcedPolicy = "enforced_engine_result", "enforced_effective_policy_id"
	shadowResult, shadowPolicy     = "shadow_engine_result", "shadow_effective_policy_id"
)

// filterLogs reads what the filters of a layer reported. A network filter reports nothing
// of its enforcing engine: the shadow of its observing filter does. A filter that only logs
// has an observing filter on HTTP too, which reports the same policy.
func filterLogs(layer policy.Layer, metadata map[string]*structpb.Value) []xds.FilterLog {
	var out []xds.FilterLog
	for key := range metadata {
		effective := ""
		prefix, enforced := strings.CutSuffix(key, enforcedResult)
		if enforced {
			effective = prefix + enforcedPolicy
		} else if shadow, ok := strings.CutSuffix(key, shadowResult); ok {
			effective = shadow + shadowPolicy
			prefix, enforced = strings.CutPrefix(shadow, effectivePrefix)
		} else {
			continue
		}
		place, ok := parsePlace(layer, prefix)
		if !ok {
			continue
		}
		of := xds.Engine{Ran: true, Verdict: policy.Verdict{Origin: metadata[effective].GetStringValue()}}
		switch {
		case enforced && place.Logs:
			of.Verdict.Effect = policy.Log
		case metadata[key].GetStringValue() == "allowed":
			of.Verdict.Effect = policy.Allow
		}
		at := slices.IndexFunc(out, func(f xds.FilterLog) bool { return f.FilterPlace == place })
		if at < 0 {
			at = len(out)
			out = append(out, xds.FilterLog{FilterPlace: place})
		}
		if enforced {
			out[at].Enforced = of
		} else {
			out[at].Shadow = of
		}
	}
	slices.SortFunc(out, func(a, b xds.FilterLog) int { return cmp.Compare(a.Index, b.Index) })
	return out
}

// withAuthorizer says of a filter with an authorizer behind it what both have decided. The
// shadow of the filter denies what the authorizer is asked about.
func withAuthorizer(filters []xds.FilterLog, common *accesslogdatav3.AccessLogCommon) []xds.FilterLog {
	refused := common.GetResponseFlags().GetUnauthorizedDetails().GetReason() == accesslogdatav3.ResponseFlags_Unauthorized_EXTERNAL_SERVICE
	for i := range filters {
		f := &filters[i]
		if !f.Asks {
			continue
		}
		f.Asked = f.Shadow.Ran && f.Shadow.Verdict.Effect == policy.Deny
		f.Enforced = xds.Engine{Ran: f.Shadow.Ran, Verdict: policy.Verdict{Effect: policy.Allow}}
		// Each of several authorizers ends the request where it refuses.
		if f.Asked && refused && i == len(filters)-1 {
			f.Enforced.Verdict = f.Shadow.Verdict
		}
		f.AskedBy, f.Shadow = f.Shadow.Verdict.Origin, xds.Engine{}
	}
	return filters
}

func addrPort(address *corev3.Address) netip.AddrPort {
	socket := address.GetSocketAddress()
	ip, err := netip.ParseAddr(socket.GetAddress())
	if err != nil {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(ip, uint16(socket.GetPortValue()))
}
