package envoy

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
)

// admin is a client of Envoy's admin endpoint.
type admin struct {
	client    *http.Client
	transport *http.Transport
}

// newAdmin dials one address whatever the URL says.
func newAdmin(network, address string) *admin {
	t := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, network, address)
		},
		DisableCompression: true,
	}
	return &admin{client: &http.Client{Transport: t}, transport: t}
}

func (a *admin) close() { a.transport.CloseIdleConnections() }

// AdminGet reads a path of the admin endpoint, such as /stats?filter=rbac, on a connection that is kept alive. Any status
// but 200 is an error; if Envoy has ended by itself, the error is that of Err.
func (e *Envoy) AdminGet(ctx context.Context, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://envoy"+path, nil)
	if err != nil {
		return nil, fmt.Errorf("envoy: admin: GET %s: %w", path, err)
	}
	resp, err := e.admin.client.Do(req)
	if err != nil {
		if ended := e.Err(); ended != nil {
			return nil, ended
		}
		return nil, fmt.Errorf("envoy: admin: GET %s: %w", path, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("envoy: admin: GET %s: %w", path, err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("envoy: admin: GET %s: %s: %s", path, resp.Status, oneLine(string(body)))
	}
	return body, nil
}
