package sidecar

import (
	"fmt"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/meshproof/meshproof/internal/dump"
)

// socketOption is an option of a socket as Linux numbers it.
type socketOption struct{ level, name int64 }

// harmlessOptions are the options by which the kernel asks whether the other end of a connection is still there (SO_KEEPALIVE,
// TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT and TCP_USER_TIMEOUT), and those about the delay, the buffers and the marks of packets
// (TCP_NODELAY, SO_SNDBUF, SO_RCVBUF, IP_TOS and IPV6_TCLASS).
var harmlessOptions = map[socketOption]bool{{1, 9}: true, {6, 4}: true, {6, 5}: true, {6, 6}: true, {6, 18}: true,
	{6, 1}: true, {1, 7}: true, {1, 8}: true, {0, 1}: true, {41, 67}: true}

// tellSocketOptions tells the options of a listener's socket but those that take no connection: others let it take what is for another socket.
func (r *reader) tellSocketOptions(l *listenerv3.Listener, kind dump.Kind) {
	for _, o := range l.SocketOptions {
		if !harmlessOptions[socketOption{o.GetLevel(), o.GetName()}] {
			r.tell(l, kind, fmt.Sprintf("socket_options has the option %d of level %d, which may take connections that are for another socket", o.GetName(), o.GetLevel()))
		}
	}
}
