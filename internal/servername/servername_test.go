package servername_test

import (
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/servername"
)

// TestCheck compares what Check says with what Go's TLS client sends.
func TestCheck(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"": true, "a.com": true, "A.com": true, "a_b.com": true, "*.com": true, "[a.com]": true, "a.com%eth": true, "a..com": true, ".com": true,
		strings.Repeat("a", 255): true, strings.Repeat("a", 256): false,
		"a.com.": false, ".": false, "10.0.0.1": false, "::1": false, "[::1]": false, "::1%eth": false, "a com": false, "ä.com": false, "\xff": false, "a\x00b": false,
	} {
		err := servername.Check(name)
		if (err == nil) != want {
			t.Errorf("%q: %v, want a name that can be sent: %t", name, err, want)
		}
		if sent := sentByGo(t, name); want && sent != name {
			t.Errorf("%q: Go sends %q", name, sent)
		} else if strings.HasSuffix(name, ".") && sent == name || servername.IsAddress(name) && sent != "" {
			t.Errorf("%q: Go sends it, as %q", name, sent)
		}
	}
}

// sentByGo returns the server name of a handshake.
func sentByGo(t *testing.T, name string) string {
	t.Helper()
	client, server := net.Pipe()
	go func() {
		_ = tls.Client(client, &tls.Config{ServerName: name, InsecureSkipVerify: true}).Handshake()
	}()
	var sent string
	_ = tls.Server(server, &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		sent = hello.ServerName
		return nil, io.EOF
	}}).Handshake()
	_, _ = client.Close(), server.Close()
	return sent
}
