package routeverdict

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/plainpath"
	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/policy"
)

// checkProtocol refuses a request that the outbound cannot take.
func checkProtocol(o *routing.Outbound, p casefile.RoutedRequest) error {
	_, isGRPC := p.Want.GRPC()
	_, isStatus := p.Want.Status()
	switch isTCP := o.Protocol.Layer() == policy.L4; {
	case isTCP && (p.GRPC != "" || p.Method != "" || p.Path != "" || p.Authority != "" || len(p.Headers) > 0):
		return fmt.Errorf("outbound %s is tcp: a request to it has no method, path, authority, headers or grpc", o.Service)
	case isTCP && (isGRPC || isStatus):
		return fmt.Errorf("outbound %s is tcp: it answers no status, use allow, cut, close or reset", o.Service)
	case p.GRPC != "" && o.Protocol != policy.GRPC:
		return fmt.Errorf("outbound %s is %s, not grpc", o.Service, o.Protocol)
	case p.GRPC == "" && slices.ContainsFunc(p.Headers, isOfGRPC):
		return fmt.Errorf("the request to outbound %s has the content type of gRPC and is no call: say grpc: Service/Method", o.Service)
	case p.Sends.Head > 0 && o.Protocol != policy.HTTP:
		return fmt.Errorf("outbound %s is %s: only the head of a request over HTTP/1.1 can have a pause", o.Service, o.Protocol)
	}
	return nil
}

// isOfGRPC reports whether a header makes proxies take a request for a call of gRPC.
func isOfGRPC(h policy.Header) bool {
	return strings.EqualFold(h.Name, "content-type") && strings.HasPrefix(h.Value, "application/grpc")
}

// calledPath is the path of a call.
var calledPath = regexp.MustCompile(`^/[A-Za-z_][A-Za-z0-9_.]*/[A-Za-z_][A-Za-z0-9_]*$`)

// AsCall returns the request as a call of gRPC, where the outbound speaks gRPC and a call is the same request to
// its routes: a POST to the path of a method.
func AsCall(o *routing.Outbound, p casefile.RoutedRequest) casefile.RoutedRequest {
	if o.Protocol != policy.GRPC || p.GRPC != "" || p.Method != "" && p.Method != "POST" || !calledPath.MatchString(p.Path) {
		return p
	}
	call := p
	call.GRPC, call.Method, call.Path = strings.TrimPrefix(p.Path, "/"), "", ""
	call.Headers = slices.DeleteFunc(slices.Clone(p.Headers), isOfGRPC)
	if o.Decide(Seen(o, call)).Route != o.Decide(Seen(o, p)).Route {
		return p
	}
	return call
}

// normalization is what the listener of an outbound does to paths on the release that is asked.
func (s Sidecar) normalization() policy.PathNormalization {
	n := routing.Normalization
	n.KeepDotParameters = !s.inbounds.Envoy().Fixed(behavior.DotParameters)
	return n
}

// normalize gives a request, and what the routes see of it, the path that the listener makes. The plain
// evaluator sees the path that package plainpath reads. A call of gRPC has no path that the listener could change.
func (s Sidecar) normalize(o *routing.Outbound, p casefile.RoutedRequest, seen, plain *policy.Request) (casefile.RoutedRequest, error) {
	if o.Protocol.Layer() == policy.L4 || p.GRPC != "" {
		return p, nil
	}
	_, target := requestline.MethodAndTarget(p.Method, p.Path, p.GRPC)
	path, err := s.normalization().Apply(target)
	second, ok := plainpath.Normalize(s.normalization(), target)
	switch {
	case err != nil:
		return p, fmt.Errorf("the sidecar refuses the request: %w", err)
	case !ok || second != path:
		return p, fmt.Errorf("the sidecar makes %q of the path, and by the second reading %q: meshproof contradicts itself", path, second)
	case path != target:
		p.Path = path
	}
	seen.Path, plain.Path = path, second
	return p, nil
}

// Seen returns a request as the routes of an outbound see it on the newest release.
func Seen(o *routing.Outbound, p casefile.RoutedRequest) policy.Request {
	if o.Protocol.Layer() == policy.L4 {
		return policy.Request{}
	}
	method, path := requestline.MethodAndTarget(p.Method, p.Path, p.GRPC)
	if normalized, err := routing.Normalization.Apply(path); err == nil {
		path = normalized
	}
	return policy.Request{
		Method: method, Path: path, Host: cmp.Or(p.Authority, o.Name), Headers: requestline.Seen(p.Headers, o.Protocol, p.GRPC != ""),
	}
}
