package xds

import (
	"net/netip"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	accesslogdatav3 "github.com/envoyproxy/go-control-plane/envoy/data/accesslog/v3"
	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/service/accesslog/v3"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/meshproof/meshproof/policy"
)

// Engine is what one RBAC engine reported: the enforcing one, or the shadow.
type Engine struct {
	// Ran tells whether the engine reported at all.
	Ran     bool
	Verdict policy.Verdict
}

// AccessLog is an entry of Envoy's access log, reduced to what is evidence.
type AccessLog struct {
	// Request is true for an HTTP request, false for a connection.
	Request bool
	// Caller and Destination are the addresses that the caller plays.
	Caller, Destination netip.AddrPort
	// PeerURIs are the URI SANs of the caller's certificate.
	PeerURIs []string
	// Enforced and Shadow name the effective policy of either engine. On a
	// connection Enforced is told by the observing filter.
	Enforced, Shadow Engine
	// Method, Path, Status and Details are those of an HTTP request; Path is the
	// normalized one.
	Method, Path string
	Status       uint32
	Details      string
	// Termination says why Envoy closed a connection; it names the policy by which
	// a connection was refused.
	Termination string
	// TransportFailure says why the handshake failed.
	TransportFailure string
	// UpstreamBytes is what Envoy wrote to the upstream of a connection.
	UpstreamBytes uint64
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
	metadata := metadataOf(entry.GetCommonProperties(), "envoy.filters.http.rbac")
	log.Enforced = engine(metadata, "enforced_engine_result", "enforced_effective_policy_id")
	log.Shadow = engine(metadata, "shadow_engine_result", "shadow_effective_policy_id")
	request := entry.GetRequest()
	log.Method = corev3.RequestMethod_name[int32(request.GetRequestMethod())]
	log.Path = request.GetPath()
	log.Status = entry.GetResponse().GetResponseCode().GetValue()
	log.Details = entry.GetResponse().GetResponseCodeDetails()
	return log
}

func connectionEntry(entry *accesslogdatav3.TCPAccessLogEntry) AccessLog {
	common := entry.GetCommonProperties()
	log := commonEntry(common)
	metadata := metadataOf(common, "envoy.filters.network.rbac")
	log.Enforced = engine(metadata, effectivePrefix+"shadow_engine_result", effectivePrefix+"shadow_effective_policy_id")
	log.Shadow = engine(metadata, "shadow_engine_result", "shadow_effective_policy_id")
	return log
}

func commonEntry(common *accesslogdatav3.AccessLogCommon) AccessLog {
	log := AccessLog{
		Caller:           addrPort(common.GetDownstreamRemoteAddress()),
		Destination:      addrPort(common.GetDownstreamLocalAddress()),
		Termination:      common.GetConnectionTerminationDetails(),
		TransportFailure: common.GetDownstreamTransportFailureReason(),
		UpstreamBytes:    common.GetUpstreamWireBytesSent(),
	}
	for _, san := range common.GetTlsProperties().GetPeerCertificateProperties().GetSubjectAltName() {
		if uri := san.GetUri(); uri != "" {
			log.PeerURIs = append(log.PeerURIs, uri)
		}
	}
	return log
}

func metadataOf(common *accesslogdatav3.AccessLogCommon, filter string) map[string]*structpb.Value {
	return common.GetMetadata().GetFilterMetadata()[filter].GetFields()
}

func engine(metadata map[string]*structpb.Value, result, policyID string) Engine {
	value, ok := metadata[result]
	if !ok {
		return Engine{}
	}
	e := Engine{Ran: true, Verdict: policy.Verdict{Origin: metadata[policyID].GetStringValue()}}
	if value.GetStringValue() == "allowed" {
		e.Verdict.Effect = policy.Allow
	}
	return e
}

func addrPort(address *corev3.Address) netip.AddrPort {
	socket := address.GetSocketAddress()
	ip, err := netip.ParseAddr(socket.GetAddress())
	if err != nil {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(ip, uint16(socket.GetPortValue()))
}
