package adversary

import (
	"bytes"
	"fmt"
	"io"
	"strconv"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// stream is the first that a client may open.
const stream = 1

// frames returns what is sent over HTTP/2: the preface, settings, and the header
// block on a stream that ends with it. Neither the encoder nor the framer asks
// whether the fields are sound, and writing into memory does not fail.
func (r Request) frames() []byte {
	var fields, out bytes.Buffer
	encoder := hpack.NewEncoder(&fields)
	for _, f := range r.block() {
		_ = encoder.WriteField(hpack.HeaderField{Name: f.Name, Value: f.Value})
	}
	out.WriteString(http2.ClientPreface)
	framer := http2.NewFramer(&out, nil)
	_ = framer.WriteSettings()
	_ = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: fields.Bytes(), EndStream: true, EndHeaders: true})
	return out.Bytes()
}

// readHTTP2 acknowledges nothing: for one request nobody waits for that.
func readHTTP2(conn io.Reader) (Reply, error) {
	framer := http2.NewFramer(io.Discard, conn)
	framer.ReadMetaHeaders = hpack.NewDecoder(4<<10, nil)
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return Reply{}, err
		}
		switch frame := frame.(type) {
		case *http2.MetaHeadersFrame:
			status, err := strconv.Atoi(frame.PseudoValue("status"))
			if err != nil {
				return Reply{}, fmt.Errorf("a response without a status: %w", err)
			}
			if status >= 200 {
				return Reply{Status: status}, nil
			}
		case *http2.RSTStreamFrame:
			return Reply{Ended: "RST_STREAM " + frame.ErrCode.String()}, nil
		case *http2.GoAwayFrame:
			if frame.ErrCode != http2.ErrCodeNo || frame.LastStreamID < stream {
				return Reply{Ended: "GOAWAY " + frame.ErrCode.String()}, nil
			}
		}
	}
}
