package adversary

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
)

// head returns what is sent over HTTP/1.1.
func (r Request) head() []byte {
	if r.Head != "" {
		return []byte(r.Head)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nhost: %s\r\n", r.Method, r.Path, r.Authority)
	for _, h := range r.Headers {
		fmt.Fprintf(&b, "%s: %s\r\n", h.Name, h.Value)
	}
	b.WriteString("\r\n")
	return b.Bytes()
}

func readHTTP1(conn io.Reader) (Reply, error) {
	reader := bufio.NewReader(conn)
	for {
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			return Reply{}, err
		}
		// The body, if any, is left where it is; it tells nothing that the status does not.
		if response.StatusCode >= 200 || response.StatusCode == http.StatusSwitchingProtocols {
			return Reply{Status: response.StatusCode}, nil
		}
	}
}
