package controlplane

import (
	"net/netip"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	accesslogdatav3 "github.com/envoyproxy/go-control-plane/envoy/data/accesslog/v3"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

func metadataWith(t *testing.T, filter string, fields map[string]any) *accesslogdatav3.AccessLogCommon {
	t.Helper()
	s, err := structpb.NewStruct(fields)
	if err != nil {
		t.Fatal(err)
	}
	return &accesslogdatav3.AccessLogCommon{
		DownstreamRemoteAddress: socketAddress("10.0.0.9", 4711),
		DownstreamLocalAddress:  socketAddress("fd00::1", 80),
		TlsProperties: &accesslogdatav3.TLSProperties{PeerCertificateProperties: &accesslogdatav3.TLSProperties_CertificateProperties{
			SubjectAltName: []*accesslogdatav3.TLSProperties_CertificateProperties_SubjectAltName{
				{San: &accesslogdatav3.TLSProperties_CertificateProperties_SubjectAltName_Uri{Uri: "spiffe://td/a"}},
				{San: &accesslogdatav3.TLSProperties_CertificateProperties_SubjectAltName_Dns{Dns: "a.example"}},
				{San: &accesslogdatav3.TLSProperties_CertificateProperties_SubjectAltName_Uri{Uri: "spiffe://td/b"}},
			},
		}},
		Metadata: &corev3.Metadata{FilterMetadata: map[string]*structpb.Struct{filter: s}},
	}
}

var commonLog = xds.AccessLog{
	Caller:      netip.MustParseAddrPort("10.0.0.9:4711"),
	Remote:      netip.MustParseAddr("10.0.0.9"),
	Destination: netip.MustParseAddrPort("[fd00::1]:80"),
	PeerURIs:    []string{"spiffe://td/a", "spiffe://td/b"},
}

var compareLogs = cmp.Options{cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b }), cmp.Comparer(func(a, b netip.Addr) bool { return a == b })}

func TestRequestEntry(t *testing.T) {
	t.Parallel()
	want := commonLog
	want.Request, want.Method, want.Path, want.Status, want.Details = true, "GET", "/a?b", 403, "rbac_access_denied_matched_policy[p]"
	want.Enforced = xds.Engine{Ran: true, Verdict: policy.Verdict{Origin: "p"}}
	want.Shadow = xds.Engine{Ran: true, Verdict: policy.Verdict{Effect: policy.Allow}}
	want.Filters = []xds.FilterLog{{FilterPlace: xds.FilterPlace{Layer: policy.L7}, Enforced: want.Enforced, Shadow: want.Shadow}}
	got := requestEntry(&accesslogdatav3.HTTPAccessLogEntry{
		CommonProperties: metadataWith(t, "envoy.filters.http.rbac", map[string]any{
			"enforced_engine_result": "denied", "enforced_effective_policy_id": "p", "shadow_engine_result": "allowed",
		}),
		Request: &accesslogdatav3.HTTPRequestProperties{RequestMethod: corev3.RequestMethod_GET, Path: "/a?b"},
		Response: &accesslogdatav3.HTTPResponseProperties{
			ResponseCode: wrapperspb.UInt32(403), ResponseCodeDetails: "rbac_access_denied_matched_policy[p]",
		},
	})
	if diff := cmp.Diff(want, got, compareLogs); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestConnectionEntry(t *testing.T) {
	t.Parallel()
	want := commonLog
	want.Enforced = xds.Engine{Ran: true, Verdict: policy.Verdict{Effect: policy.Allow, Origin: "p"}}
	want.Shadow = xds.Engine{Ran: true, Verdict: policy.Verdict{Origin: "q"}}
	want.Filters = []xds.FilterLog{{Enforced: want.Enforced, Shadow: want.Shadow}}
	want.Termination, want.TransportFailure, want.UpstreamBytes = "closed", "TLS_error", 7
	common := metadataWith(t, "envoy.filters.network.rbac", map[string]any{
		"effective_shadow_engine_result": "allowed", "effective_shadow_effective_policy_id": "p",
		"shadow_engine_result": "denied", "shadow_effective_policy_id": "q",
	})
	common.ConnectionTerminationDetails, common.DownstreamTransportFailureReason, common.UpstreamWireBytesSent = "closed", "TLS_error", 7
	got := connectionEntry(&accesslogdatav3.TCPAccessLogEntry{CommonProperties: common})
	if diff := cmp.Diff(want, got, compareLogs); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSeveralFilters reads what several filters of each layer wrote under prefixes of
// their own: a filter that only logs, a filter that only observes, and others.
func TestSeveralFilters(t *testing.T) {
	t.Parallel()
	ran := func(effect policy.Effect, origin string) xds.Engine {
		return xds.Engine{Ran: true, Verdict: policy.Verdict{Effect: effect, Origin: origin}}
	}
	http := filterLogs(policy.L7, metadataWith(t, "x", map[string]any{
		"log0_enforced_engine_result": "allowed", "log0_enforced_effective_policy_id": "audit",
		"effective_log0_shadow_engine_result": "allowed", "effective_log0_shadow_effective_policy_id": "audit",
		"filter1_shadow_engine_result": "denied", "filter1_shadow_effective_policy_id": "dry",
		"filter2_enforced_engine_result":  "allowed",
		"filter10_enforced_engine_result": "denied", "filter10_enforced_effective_policy_id": "p", "filter10_shadow_engine_result": "allowed",
		// These are no filters of this listener.
		"filter01_enforced_engine_result": "denied", "istio_shadow_engine_result": "denied", "filter0_enforced_engine_result": "denied",
	}).GetMetadata().GetFilterMetadata()["x"].GetFields())
	if diff := cmp.Diff([]xds.FilterLog{
		{FilterPlace: xds.FilterPlace{Layer: policy.L7, Index: 0, Logs: true}, Enforced: ran(policy.Log, "audit")},
		{FilterPlace: xds.FilterPlace{Layer: policy.L7, Index: 1, Logs: false}, Shadow: ran(policy.Deny, "dry")},
		{FilterPlace: xds.FilterPlace{Layer: policy.L7, Index: 2, Logs: false}, Enforced: ran(policy.Allow, "")},
		{FilterPlace: xds.FilterPlace{Layer: policy.L7, Index: 10, Logs: false}, Enforced: ran(policy.Deny, "p"), Shadow: ran(policy.Allow, "")},
	}, http); diff != "" {
		t.Errorf("L7 (-want +got):\n%s", diff)
	}
	network := filterLogs(policy.L4, metadataWith(t, "x", map[string]any{
		"effective_shadow_engine_result": "allowed", "shadow_engine_result": "denied",
		"effective_filter1_shadow_engine_result": "denied", "effective_filter1_shadow_effective_policy_id": "wall",
		"effective_log2_shadow_engine_result": "denied", "log2_shadow_engine_result": "allowed",
	}).GetMetadata().GetFilterMetadata()["x"].GetFields())
	if diff := cmp.Diff([]xds.FilterLog{
		{FilterPlace: xds.FilterPlace{Layer: policy.L4, Index: 0, Logs: false}, Enforced: ran(policy.Allow, ""), Shadow: ran(policy.Deny, "")},
		{FilterPlace: xds.FilterPlace{Layer: policy.L4, Index: 1, Logs: false}, Enforced: ran(policy.Deny, "wall")},
		{FilterPlace: xds.FilterPlace{Layer: policy.L4, Index: 2, Logs: true}, Enforced: ran(policy.Log, ""), Shadow: ran(policy.Allow, "")},
	}, network); diff != "" {
		t.Errorf("L4 (-want +got):\n%s", diff)
	}
	var all xds.AccessLog
	all.SetFilters(append(network, http...))
	if all.Enforced != ran(policy.Deny, "wall") || all.Shadow != ran(policy.Deny, "") {
		t.Errorf("all filters come to %+v, shadows to %+v", all.Enforced, all.Shadow)
	}
}

// TestEmptyEntries shows that what Envoy leaves out is no panic and no verdict.
func TestEmptyEntries(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(xds.AccessLog{Request: true, Method: "METHOD_UNSPECIFIED"}, requestEntry(nil), compareLogs); diff != "" {
		t.Error(diff)
	}
	common := &accesslogdatav3.AccessLogCommon{DownstreamRemoteAddress: &corev3.Address{Address: &corev3.Address_Pipe{}}}
	if diff := cmp.Diff(xds.AccessLog{}, connectionEntry(&accesslogdatav3.TCPAccessLogEntry{CommonProperties: common}), compareLogs); diff != "" {
		t.Error(diff)
	}
}
