package webserver_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/meshproof/meshproof/internal/webserver"
)

// TestLoopbackAnswersLoopbackNames shows that a name of another site, which its owner points
// to this machine, gets nothing.
func TestLoopbackAnswersLoopbackNames(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		var lc net.ListenConfig
		listener, err := lc.Listen(t.Context(), "tcp", address)
		if err != nil {
			t.Skip(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error)
		handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "policies") })
		go func() { served <- webserver.Serve(ctx, handler, listener) }()
		for host, want := range map[string]int{
			"": 200, "localhost": 200, "LOCALHOST:5681": 200, "127.0.0.1": 200, "127.1.2.3:80": 200, "[::1]:5681": 200, "[::1]": 200,
			"evil.example": 421, "evil.example:5681": 421, "localhost.evil.example": 421, "127.0.0.1.evil.example": 421, "10.0.0.1": 421, "localhost.": 421,
			"0.0.0.0": 421, "[::ffff:10.0.0.1]": 421, "2130706433": 421,
		} {
			request, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+listener.Addr().String(), nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Host = host
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(response.Body)
			_ = response.Body.Close()
			if err != nil || response.StatusCode != want || (string(body) == "policies") != (want == 200) {
				t.Errorf("host %q: %d %q, %v, want %d", host, response.StatusCode, body, err, want)
			}
		}
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
}
