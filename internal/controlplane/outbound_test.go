package controlplane

import (
	"net/netip"
	"strings"
	"testing"

	tcpproxyv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"

	"github.com/meshproof/meshproof/internal/routingconfig"
)

// TestRefuseOutbounds shows outbounds that no caller could reach, or tell apart.
func TestRefuseOutbounds(t *testing.T) {
	t.Parallel()
	of := func(caller, destination string) Outbound {
		o := Outbound{Config: routingconfig.Outbound{Name: "shop", TCP: &tcpproxyv3.TcpProxy{StatPrefix: "shop"}}}
		o.Caller, _ = netip.ParseAddr(caller)
		o.Destination, _ = netip.ParseAddrPort(destination)
		return o
	}
	for want, outbounds := range map[string][]Outbound{
		"two outbounds of 10.0.0.1 have the destination 240.1.0.0:80": {of("10.0.0.1", "240.1.0.0:80"), of("10.0.0.1", "240.1.0.0:80")},
		"outbound shop: it has no destination with a port":            {of("10.0.0.1", "240.1.0.0:0")},
		"or no caller": {of("", "240.1.0.0:80")},
	} {
		l := testListener()
		l.Outbounds = outbounds
		if _, err := l.build("v"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
