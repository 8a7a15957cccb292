package xds

import (
	"net/netip"
	"slices"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	accesslogdatav3 "github.com/envoyproxy/go-control-plane/envoy/data/accesslog/v3"
	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/service/accesslog/v3"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds/internal/rbac"
)

// Engine is what one RBAC engine reported: the enforcing one, or the shadow.
type Engine struct {
	// Ran tells whether the engine reported at all.
	Ran     bool
	Verdict policy.Verdict
}

// FilterLog is what one RBAC filter reported. The verdict of a filter that only logs has
// the effect [policy.Log], and names the rule that logged the request, if any.
type FilterLog struct {
	FilterPlace
	Enforced, Shadow Engine
	// ShadowName is the name of the shadow. The access log does not have it: the harness
	// takes it from the filters of the inbound.
	ShadowName string
}

// AccessLog is an entry of Envoy's access log, reduced to what is evidence.
type AccessLog struct {
	// Request is true for an HTTP request, false for a connection.
	Request bool
	// Caller and Destination are the addresses that the caller plays.
	Caller, Destination netip.AddrPort
	// PeerURIs are the URI SANs of the caller's certificate.
	PeerURIs []string
	// Enforced is the verdict of all enforcing engines together, and Shadow that of all
	// shadows, see [AccessLog.SetFilters]. On a connection the observing filter reports
	// what Enforced says.
	Enforced, Shadow Engine
	// Filters has an entry for each filter that ran, in Envoy's order.
	Filters []FilterLog
	// Method, Path, Status and Details are those of an HTTP request; Path is the
	// normalized one.
	Method, Path string
	Status       uint32
	Details      string
	// Termination says why Envoy closed a connection. For a refused connection it names
	// the policy.
	Termination string
	// TransportFailure says why the handshake failed.
	TransportFailure string
	// UpstreamBytes is what Envoy wrote to the upstream of a connection.
	UpstreamBytes uint64
}

// SetFilters sets what the filters reported, and the two verdicts that follow from it: the
// first verdict that denies stands for all, or else the last. A filter that only logs does
// not count.
func (l *AccessLog) SetFilters(filters []FilterLog) {
	l.Filters, l.Enforced, l.Shadow = filters, Engine{}, Engine{}
	combine := func(into *Engine, of Engine) {
		if of.Ran && (!into.Ran || into.Verdict.Effect != policy.Deny) {
			*into = of
		}
	}
	for _, filter := range filters {
		if !filter.Logs {
			combine(&l.Enforced, filter.Enforced)
		}
		combine(&l.Shadow, filter.Shadow)
	}
}

type accessLogServer struct {
	accesslogv3.UnimplementedAccessLogServiceServer
	entries func(AccessLog)
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

func requestEntry(entry *accesslogdatav3.HTTPAccessLogEntry) AccessLog {
	log := commonEntry(entry.GetCommonProperties())
	log.Request = true
	log.SetFilters(filterLogs(policy.L7, metadataOf(entry.GetCommonProperties(), "envoy.filters.http.rbac")))
	request := entry.GetRequest()
	log.Method = strings.Join(rbac.Logged(attribute.Method, entry.GetCommonProperties(), request), ",")
	log.Path = strings.Join(rbac.Logged(attribute.Path, entry.GetCommonProperties(), request), ",")
	log.Status = entry.GetResponse().GetResponseCode().GetValue()
	log.Details = entry.GetResponse().GetResponseCodeDetails()
	return log
}

func connectionEntry(entry *accesslogdatav3.TCPAccessLogEntry) AccessLog {
	common := entry.GetCommonProperties()
	log := commonEntry(common)
	log.SetFilters(filterLogs(policy.L4, metadataOf(common, "envoy.filters.network.rbac")))
	return log
}

func commonEntry(common *accesslogdatav3.AccessLogCommon) AccessLog {
	log := AccessLog{
		Caller:           addrPort(common.GetDownstreamRemoteAddress()),
		Destination:      addrPort(common.GetDownstreamLocalAddress()),
		Termination:      common.GetConnectionTerminationDetails(),
		TransportFailure: common.GetDownstreamTransportFailureReason(),
		UpstreamBytes:    common.GetUpstreamWireBytesSent(),
		PeerURIs:         rbac.Logged(attribute.Identity, common, nil),
	}
	return log
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
func filterLogs(layer policy.Layer, metadata map[string]*structpb.Value) []FilterLog {
	var out []FilterLog
	for key := range metadata {
		prefix, enforced := strings.CutSuffix(key, enforcedResult)
		effective := prefix + enforcedPolicy
		if !enforced {
			var shadow bool
			if prefix, shadow = strings.CutSuffix(key, shadowResult); !shadow {
				continue
			}
			effective = prefix + shadowPolicy
			prefix, enforced = strings.CutPrefix(prefix, effectivePrefix)
		}
		place, ok := parsePlace(layer, prefix)
		if !ok {
			continue
		}
		of := Engine{Ran: true, Verdict: policy.Verdict{Origin: metadata[effective].GetStringValue()}}
		switch {
		case enforced && place.Logs:
			of.Verdict.Effect = policy.Log
		case metadata[key].GetStringValue() == "allowed":
			of.Verdict.Effect = policy.Allow
		}
		at := slices.IndexFunc(out, func(f FilterLog) bool { return f.FilterPlace == place })
		if at < 0 {
			at = len(out)
			out = append(out, FilterLog{FilterPlace: place})
		}
		if enforced {
			out[at].Enforced = of
		} else {
			out[at].Shadow = of
		}
	}
	slices.SortFunc(out, func(a, b FilterLog) int { return a.Compare(b.FilterPlace) })
	return out
}

func addrPort(address *corev3.Address) netip.AddrPort {
	socket := address.GetSocketAddress()
	ip, err := netip.ParseAddr(socket.GetAddress())
	if err != nil {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(ip, uint16(socket.GetPortValue()))
}
