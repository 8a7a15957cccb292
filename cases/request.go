package cases

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/internal/script"
	"github.com/meshproof/meshproof/internal/servername"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

// maxRequests bounds the requests of one case. The lists of a few lines can be crossed to
// more than the memory holds, and a batch needs a port for each request.
const maxRequests = 60_000

// addRequests crosses the lists of each request. The last list changes fastest.
func (b *builder) addRequests() error {
	for i, s := range b.schema.Requests {
		field := fmt.Sprintf("requests[%d]", i)
		if s.routed != nil {
			if err := b.addRouted(field, *s.routed); err != nil {
				return err
			}
			continue
		}
		s := s.requestSchema
		if err := b.checkRequest(field, s); err != nil {
			return err
		}
		if !s.fits(maxRequests-len(b.built.Requests), orNone(s.SNI), orNone(s.Token)) {
			return b.doc.Errorf(field, "the lists cross to more requests than one case may have, which is %d: split the case", maxRequests)
		}
		var source netip.Addr
		if s.SourceIP != "" {
			var err error
			if source, err = endpoint.Caller(s.SourceIP); err != nil {
				return b.doc.Errorf(field+".sourceIP", "%v", err)
			}
		}
		for _, from := range s.From {
			caller, err := b.caller(field+".from", from)
			if err != nil {
				return err
			}
			if caller.Plaintext && slices.ContainsFunc(s.SNI, func(name string) bool { return name != "" }) {
				return b.doc.Errorf(field+".sni", "a caller in plaintext has no handshake, and so no server name")
			}
			for _, to := range s.To {
				inbound, err := b.inbound(b.doc, field+".to", to)
				if err != nil {
					return err
				}
				if inbound.Reach != script.Accepts {
					return b.doc.Errorf(field+".to", "no connection to inbound %s comes about: send the request to its service", inbound)
				}
				if err := b.checkProtocol(field, s, inbound); err != nil {
					return err
				}
				request := Request{
					Place: b.doc.Place(field), From: caller, To: to,
					Authority: s.Authority, Headers: s.Headers, GRPC: s.GRPC, SourceIP: caller.SourceIP,
					Want: s.Want.Want, By: s.By, Shadow: s.Shadow.value(), ShadowBy: s.ShadowBy,
				}
				if source.IsValid() {
					request.SourceIP = source
				}
				b.addCrossed(request, s)
			}
		}
	}
	return nil
}

// addCrossed adds the request with each server name, token, method and path.
func (b *builder) addCrossed(request Request, s requestSchema) {
	for _, sni := range orNone(s.SNI) {
		for _, name := range orNone(s.Token) {
			for _, method := range orNone(s.Method) {
				for _, path := range orNone(s.Path) {
					request.SNI, request.Token, request.Method, request.Path = sni, b.tokens[name], method, path
					b.built.Requests = append(b.built.Requests, request)
				}
			}
		}
	}
}

// fits reports whether the lists, and others beside them, cross to that many requests at most. No list is empty.
func (s lineSchema) fits(most int, others ...[]string) bool {
	for _, list := range append(others, s.From, s.To, orNone(s.Method), orNone(s.Path)) {
		most /= len(list)
	}
	return most > 0
}

// orNone returns a list of one empty value for an absent list.
func orNone(list []string) []string {
	if list == nil {
		return []string{""}
	}
	return list
}

func (b *builder) checkRequest(field string, s requestSchema) error {
	if err := b.checkStatement(field, s); err != nil {
		return err
	}
	if err := b.checkLine(field, s.lineSchema); err != nil {
		return err
	}
	if s.SNI != nil && len(s.SNI) == 0 {
		return b.doc.Errorf(field+".sni", "the list is empty: leave it out, or nothing is sent")
	}
	for _, name := range s.SNI {
		if err := servername.Check(name); err != nil {
			return b.doc.Errorf(field+".sni", "%v", err)
		}
	}
	return b.checkTokens(field, s)
}

// checkLine refuses what cannot be sent.
func (b *builder) checkLine(field string, s lineSchema) error {
	switch service, method, ok := strings.Cut(s.GRPC, "/"); {
	case len(s.From) == 0:
		return b.doc.Errorf(field+".from", "the request does not say who sends it")
	case len(s.To) == 0:
		return b.doc.Errorf(field+".to", "the request does not say where it goes")
	case s.GRPC != "" && (!ok || service == "" || method == "" || strings.ContainsAny(s.GRPC, " ?#\r\n") || strings.Contains(method, "/")):
		return b.doc.Errorf(field+".grpc", "%q is not of the form Service/Method", s.GRPC)
	case s.GRPC != "" && len(s.Method)+len(s.Path) > 0:
		return b.doc.Errorf(field+".grpc", "a gRPC call has no method or path of its own")
	}
	if err := requestline.CheckAuthority(s.Authority); err != nil {
		return b.doc.Errorf(field+".authority", "%v", err)
	}
	for _, line := range []struct {
		key    string
		values []string
	}{{"method", s.Method}, {"path", s.Path}} {
		if line.values != nil && len(line.values) == 0 {
			return b.doc.Errorf(field+"."+line.key, "the list is empty: leave it out, or nothing is sent")
		}
		for _, value := range line.values {
			if value == "" || strings.ContainsAny(value, " \r\n") {
				return b.doc.Errorf(field+"."+line.key, "%q cannot stand in a request line", value)
			}
			if line.key == "path" && value[0] != '/' && value != "*" {
				return b.doc.Errorf(field+".path", "%q does not begin with /", value)
			}
		}
	}
	for _, h := range s.Headers {
		if err := requestline.CheckHeader(h); err != nil {
			return b.doc.Errorf(field+".headers", "%v", err)
		}
	}
	return nil
}

// checkStatement refuses statements of a request that contradict each other.
func (b *builder) checkStatement(field string, s requestSchema) error {
	switch {
	case s.Want == nil:
		return b.doc.Errorf(field+".want", "the request does not say what it wants")
	case s.Shadow != nil && s.Shadow.Shadow == ShadowNone && s.ShadowBy != nil:
		return b.doc.Errorf(field+".shadowBy", "no policy speaks where no shadow runs")
	}
	unjudged := ""
	switch s.Want.Want {
	case HandshakeFailure:
		unjudged = "no policy judges a handshake that fails"
	case Status(400), Status(401):
		unjudged = "no policy judges a request that the listener answers with " + s.Want.String()
	}
	switch {
	case unjudged == "":
	case s.By != nil:
		return b.doc.Errorf(field+".by", "%s", unjudged)
	case s.ShadowBy != nil:
		return b.doc.Errorf(field+".shadowBy", "%s", unjudged)
	case s.Shadow != nil && s.Shadow.Shadow != ShadowNone:
		return b.doc.Errorf(field+".shadow", "%s", unjudged)
	}
	return nil
}

func (b *builder) checkProtocol(field string, s requestSchema, in Inbound) error {
	_, status := s.Want.Status()
	switch {
	case in.Protocol == policy.TCP && (s.GRPC != "" || s.Authority != "" || len(s.Method)+len(s.Path)+len(s.Headers)+len(s.Token) > 0):
		return b.doc.Errorf(field, "inbound %s is tcp: a request to it has no method, path, authority, headers, token or grpc", in)
	case in.Protocol == policy.TCP && status:
		return b.doc.Errorf(field+".want", "inbound %s is tcp: it answers no status, use deny or close", in)
	case in.Protocol != policy.GRPC && s.GRPC != "":
		return b.doc.Errorf(field+".grpc", "inbound %s is %s, not grpc", in, in.Protocol)
	case in.Protocol == policy.HTTP2 || in.Protocol == policy.GRPC:
		for _, path := range s.Path {
			if !http2Target(path) {
				return b.doc.Errorf(field+".path", "%q cannot be sent over HTTP/2 as it is: ask an http inbound for it", path)
			}
			for _, method := range orNone(s.Method) {
				if refusal := requestline.Refuse(method, path, in.Protocol); refusal.Unanswered() {
					return b.doc.Errorf(field+".path", "%v: the access log gives no reason for it, so that nothing proves it: ask an http inbound for it", refusal.Why)
				}
			}
		}
	}
	return nil
}

// http2Target reports whether Go's HTTP/2 client sends the path byte for byte: the path
// goes through a URL. A query can have bytes beyond ASCII.
func http2Target(path string) bool {
	target, query, _ := strings.Cut(path, "?")
	_, err := url.PathUnescape(target)
	printable := !strings.ContainsFunc(target, func(r rune) bool { return r <= ' ' || r > '~' }) &&
		!strings.ContainsFunc(query, func(r rune) bool { return r <= ' ' || r == 0x7f })
	return err == nil && printable && (strings.HasPrefix(path, "/") || path == "*")
}

// inbound finds the inbound that a field of the document names.
func (b *builder) inbound(doc manifest.Document, field, name string) (Inbound, error) {
	known := make([]string, 0, len(b.built.Inbounds))
	for _, in := range b.built.Inbounds {
		if in.String() == name {
			return in, nil
		}
		known = append(known, in.String())
	}
	return Inbound{}, doc.Errorf(field, "there is no inbound %q: the case has %s", name, strings.Join(known, ", "))
}
