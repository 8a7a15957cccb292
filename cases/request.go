package cases

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/policy"
)

// addRequests crosses the lists of each request.
func (b *builder) addRequests() error {
	for i, s := range b.schema.Requests {
		field := fmt.Sprintf("requests[%d]", i)
		if err := b.checkRequest(field, s); err != nil {
			return err
		}
		var source netip.Addr
		if s.SourceIP != "" {
			var err error
			if source, err = netip.ParseAddr(s.SourceIP); err != nil || !source.Is4() {
				return b.doc.Errorf(field+".sourceIP", "%q is not an IPv4 address", s.SourceIP)
			}
		}
		for _, from := range s.From {
			caller, err := b.caller(field+".from", from)
			if err != nil {
				return err
			}
			for _, to := range s.To {
				inbound, err := b.inbound(field+".to", to)
				if err != nil {
					return err
				}
				if err := b.checkProtocol(field, s, inbound); err != nil {
					return err
				}
				for _, method := range orNone(s.Method) {
					for _, path := range orNone(s.Path) {
						request := Request{
							Place: b.doc.Place(field), From: caller, To: to, Method: method, Path: path,
							Authority: s.Authority, Headers: s.Headers, GRPC: s.GRPC, SourceIP: caller.SourceIP,
							Want: *s.Want, By: s.By, Shadow: s.Shadow, ShadowBy: s.ShadowBy,
						}
						if source.IsValid() {
							request.SourceIP = source
						}
						b.out.Requests = append(b.out.Requests, request)
					}
				}
			}
		}
	}
	return nil
}

// orNone lets an absent list cross as one empty value.
func orNone(list []string) []string {
	if len(list) == 0 {
		return []string{""}
	}
	return list
}

func (b *builder) checkRequest(field string, s requestSchema) error {
	switch {
	case len(s.From) == 0:
		return b.doc.Errorf(field+".from", "the request does not say who sends it")
	case len(s.To) == 0:
		return b.doc.Errorf(field+".to", "the request does not say where it goes")
	case s.Want == nil:
		return b.doc.Errorf(field+".want", "the request does not say what it wants")
	case s.GRPC != "" && (strings.Count(s.GRPC, "/") != 1 || strings.HasPrefix(s.GRPC, "/")):
		return b.doc.Errorf(field+".grpc", "%q is not of the form Service/Method", s.GRPC)
	case s.GRPC != "" && len(s.Method)+len(s.Path) > 0:
		return b.doc.Errorf(field+".grpc", "a gRPC call has no method or path of its own")
	}
	for i, path := range s.Path {
		if strings.ContainsAny(path, " \r\n") || path == "" {
			return b.doc.Errorf(fmt.Sprintf("%s.path[%d]", field, i), "%q cannot stand in a request line", path)
		}
	}
	for i, method := range s.Method {
		if method == "" || strings.ContainsAny(method, " \r\n") {
			return b.doc.Errorf(fmt.Sprintf("%s.method[%d]", field, i), "%q cannot stand in a request line", method)
		}
	}
	for _, h := range s.Headers {
		if h.Name == "" || strings.ContainsAny(h.Name, " :\r\n") || strings.ContainsAny(h.Value, "\r\n") {
			return b.doc.Errorf(field+".headers", "%q: %q cannot stand in a header line", h.Name, h.Value)
		}
	}
	return nil
}

func (b *builder) checkProtocol(field string, s requestSchema, in Inbound) error {
	switch {
	case in.Protocol == policy.TCP && (s.GRPC != "" || s.Authority != "" || len(s.Method)+len(s.Path)+len(s.Headers) > 0):
		return b.doc.Errorf(field, "inbound %s is tcp: a request to it has no method, path, authority, headers or grpc", in)
	case in.Protocol != policy.GRPC && s.GRPC != "":
		return b.doc.Errorf(field+".grpc", "inbound %s is %s, not grpc", in, in.Protocol)
	default:
		return nil
	}
}

func (b *builder) caller(field, name string) (Caller, error) {
	switch {
	case name == "plaintext":
		return Caller{Name: name, Plaintext: true}, nil
	case name == "anonymous":
		return Caller{Name: name, Anonymous: true}, nil
	case strings.HasPrefix(name, "spiffe://"):
		id, err := spiffeid.FromString(name)
		if err != nil {
			return Caller{}, b.doc.Errorf(field, "%q is not a SPIFFE ID: %v", name, err)
		}
		return sound(name, id), nil
	}
	if c, ok := b.callers[name]; ok {
		return c, nil
	}
	if c, ok := b.workloads[name]; ok {
		return c, nil
	}
	known := slices.Concat([]string{"plaintext", "anonymous"}, sortedKeys(b.callers), sortedKeys(b.workloads))
	return Caller{}, b.doc.Errorf(field, "there is no caller %q: use a SPIFFE ID or one of %s", name, strings.Join(known, ", "))
}

func (b *builder) inbound(field, name string) (Inbound, error) {
	var known []string
	for _, in := range b.out.Inbounds {
		if in.String() == name {
			return in, nil
		}
		known = append(known, in.String())
	}
	return Inbound{}, b.doc.Errorf(field, "there is no inbound %q: the case has %q", name, known)
}

func (b *builder) addCounters() error {
	for _, name := range sortedKeys(b.schema.Counters) {
		field := "counters." + name
		if _, err := b.inbound(field, name); err != nil {
			return err
		}
		c := Counters{Inbound: name}
		for counter, value := range b.schema.Counters[name] {
			switch counter {
			case "allowed":
				c.Allowed = &value
			case "denied":
				c.Denied = &value
			case "shadow_allowed":
				c.ShadowAllowed = &value
			case "shadow_denied":
				c.ShadowDenied = &value
			default:
				return b.doc.Errorf(field, "counter %q is unknown: use allowed, denied, shadow_allowed, shadow_denied", counter)
			}
		}
		b.out.Counters = append(b.out.Counters, c)
	}
	return nil
}
