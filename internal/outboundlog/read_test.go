package outboundlog

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	logsv1 "go.opentelemetry.io/proto/otlp/logs/v1"
)

// written is a record with a text for each column, in their order.
func written(texts ...string) *logsv1.LogRecord {
	record := &logsv1.LogRecord{}
	for i, text := range texts {
		record.Attributes = append(record.Attributes, &commonv1.KeyValue{Key: key(i), Value: &commonv1.AnyValue{Value: &commonv1.AnyValue_StringValue{StringValue: text}}})
	}
	return record
}

func TestRead(t *testing.T) {
	t.Parallel()
	texts := []string{
		"10.0.0.1:1024", "240.1.0.0:80", "1700000000.250000", "kri_route", "mesh1_out0/kri_cluster", "envoy://mesh1_relay/shop/http", "spiffe://td/shop",
		"504", "-", "UT,DC", "response_timeout", "-", "1", "201", "5", "96", "24",
	}
	got, err := read(written(texts...))
	if err != nil {
		t.Fatal(err)
	}
	want := Entry{
		Caller: netip.MustParseAddrPort("10.0.0.1:1024"), Destination: netip.MustParseAddrPort("240.1.0.0:80"), Began: time.Unix(1700000000, 250e6),
		Route: "kri_route", Cluster: "kri_cluster", Endpoint: "shop/http", Peer: []string{"spiffe://td/shop"}, Status: 504,
		Flags: []string{"UT", "DC"}, Details: "response_timeout", Attempts: 1, Duration: 201 * time.Millisecond, Received: 5, Forwarded: 96, Sent: 24,
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.AddrPort{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for want, texts := range map[string][]string{
		"an entry has no %BYTES_SENT%":             texts[:len(texts)-1],
		`%DOWNSTREAM_REMOTE_ADDRESS% is "nowhere"`: append([]string{"nowhere"}, texts[1:]...),
		`%RESPONSE_CODE% is "many"`:                append(append(append([]string{}, texts[:7]...), "many"), texts[8:]...),
		`it has no name of an endpoint`:            append(append(append([]string{}, texts[:5]...), "envoy://mesh1_relay"), texts[6:]...),
	} {
		if _, err := read(written(texts...)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
