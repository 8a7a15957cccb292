package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"

	"github.com/pires/go-proxyproto"
)

// canaryPause is how long the reader of a canary leaves Envoy's worker alone
// between two looks. The worker takes a new listener over within a few hundred
// microseconds after the ACK, without any message.
const canaryPause = 200 * time.Microsecond

var canarySource = netip.MustParseAddrPort("240.0.0.1:1")

// awaitCanary reads a canary until it answers with the version. Envoy's
// ACK says that the main thread took the configuration; only the data path says
// that the worker serves it. A listener that waits for a secret is acknowledged
// long before it is bound.
func awaitCanary(ctx context.Context, dial, version string, read func(ctx context.Context, dial string) (string, error)) error {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		answer, err := read(ctx, dial)
		if err == nil && answer == version {
			return nil
		}
		pause.Reset(canaryPause)
		select {
		case <-pause.C:
		case <-ctx.Done():
			if err == nil {
				err = fmt.Errorf("the canary still answers %q", answer)
			}
			return fmt.Errorf("%s does not serve version %q: %w", dial, version, errors.Join(context.Cause(ctx), err))
		}
	}
}

// connect connects to a listener, as a caller at one address to another. The connection is closed
// by the function that is returned, or with the context.
func connect(ctx context.Context, dial string, from, to netip.AddrPort) (net.Conn, func(), error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", dial)
	if err != nil {
		return nil, nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	closeNow := func() {
		stop()
		conn.Close()
	}
	if _, err := proxyproto.HeaderProxyFromAddrs(2, net.TCPAddrFromAddrPort(from), net.TCPAddrFromAddrPort(to)).WriteTo(conn); err != nil {
		closeNow()
		return nil, nil, err
	}
	return conn, closeNow, nil
}

func readCanary(ctx context.Context, dial string) (string, error) {
	conn, closeNow, err := connect(ctx, dial, canarySource, canaryDestination)
	if err != nil {
		return "", err
	}
	defer closeNow()
	// A TLS inspector says nothing before it has the five bytes of a record header.
	if _, err := conn.Write([]byte("canary\n")); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(conn)
	if len(answer) > 0 {
		// The listener closes at once; a reset behind the answer is no failure.
		err = nil
	}
	return string(answer), err
}
