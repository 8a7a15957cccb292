package evidence

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/grpc/codes"

	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
)

// refusalBody is what Envoy's RBAC filter answers on HTTP.
const refusalBody = "RBAC: access denied"

// Find compares the sides with each other. Its error is a [Disagreement], or says that the
// transport failed.
func (e Evidence) Find() (Finding, error) {
	f := Finding{
		Status:  e.Answer.Status,
		Judged:  e.Log.Enforced.Ran,
		Verdict: e.Log.Enforced.Verdict,
		Shadow:  e.Log.Shadow,
	}
	var sides checklist
	switch {
	case e.Answer.Outcome == caller.Fault:
		return Finding{}, fmt.Errorf("evidence: transport fault, nothing is proven: %w", e.Answer.Err)
	case e.Log.TransportFailure != "" && !e.passedInPlaintext():
		f.Form = HandshakeFailed
		e.checkHandshake(&sides)
	case e.Answer.Outcome != caller.Answered:
		f.Form, f.Layer = Refused, policy.L4
		e.checkClosed(&sides)
	case e.refusedByHTTP():
		f.Form, f.Layer = Refused, policy.L7
		e.checkForbidden(&sides)
	case e.Arrival == nil && e.Call.Protocol.Layer() == policy.L7:
		f.Form, f.Status = Rejected, e.rejection()
		e.checkRejected(&sides, f.Status)
	default:
		f.Form = Served
		e.checkServed(&sides)
	}
	if e.Shared && e.Answer.Outcome == caller.Answered {
		e.checkEntry(&sides)
	}
	e.checkFilters(&sides, f)
	e.checkSNI(&sides)
	e.checkToken(&sides, f)
	e.checkShown(&sides)
	sides.want(e.Asked.Filters == e.Asked.Authorizer, "the access log says that an authorizer was asked %d times, and it was asked %d times", e.Asked.Filters, e.Asked.Authorizer)
	if len(sides) > 0 {
		return f, &Disagreement{Form: f.Form, Sides: sides}
	}
	return f, nil
}

// checkFilters compares the filters that ran with the end of the request. The filter that
// refused is the last that ran, and its layer gives the refusal its form.
func (e Evidence) checkFilters(sides *checklist, f Finding) {
	for i, filter := range e.Log.Filters {
		if !filter.Enforced.Ran || filter.Enforced.Verdict.Effect != policy.Deny {
			continue
		}
		if behind := e.Log.Filters[i+1:]; len(behind) > 0 {
			sides.want(false, "filter %d on %s refused, but filter %d on %s ran behind it", filter.Index, filter.Layer, behind[0].Index, behind[0].Layer)
		}
		sides.want(f.Form != Refused || filter.Layer == f.Layer, "filter %d on %s refused, but the refusal has the form of %s", filter.Index, filter.Layer, f.Layer)
		return
	}
}

// checkSNI compares the server name in the log with the name that was sent. Envoy keeps it in
// lower case.
func (e Evidence) checkSNI(sides *checklist) {
	want := ""
	if e.ReadsSNI && !e.Call.Plaintext {
		want = strings.ToLower(e.Call.SNI)
	}
	sides.want(e.Log.SNI == want, "the access log has the server name %q, the caller sent %q", e.Log.SNI, want)
}

// checkToken compares the claims in the log with the token that was sent. Envoy writes no
// claims of a token that it refuses, nor of a request that was refused before.
func (e Evidence) checkToken(sides *checklist, f Finding) {
	sent := e.Tokens.ForRequest(e.Call.Method, e.Call.Headers).Found(e.Call.Path, e.Call.Headers)
	if e.Log.Claims == nil && (e.refusedByAuthorizer() || f.Form != Served && (f.Form != Refused || f.Layer != policy.L7)) {
		return
	}
	sides.want(reflect.DeepEqual(e.Log.Claims, sent), "the access log has the claims %v, the caller sent %v", e.Log.Claims, sent)
}

// passedInPlaintext reports whether a plaintext caller got an answer, or was judged by a
// policy. The log of a permissive inbound names a TLS failure even then: the TLS inspector
// found no TLS.
func (e Evidence) passedInPlaintext() bool {
	return e.Call.Plaintext && (e.Answer.Outcome == caller.Answered || e.Log.Enforced.Ran)
}

func (e Evidence) refusedByHTTP() bool {
	return strings.HasPrefix(e.Log.Details, "rbac_access_denied") || e.Answer.Body == refusalBody || e.refusedByAuthorizer() && e.Log.Request
}

// refusedByAuthorizer reports whether the filter that refused the request has an authorizer
// behind it.
func (e Evidence) refusedByAuthorizer() bool {
	n := len(e.Log.Filters)
	return n > 0 && e.Log.Filters[n-1].Asks && e.Log.Filters[n-1].Enforced.Verdict.Effect == policy.Deny
}

func (e Evidence) checkHandshake(sides *checklist) {
	sides.want(e.Answer.Outcome != caller.Answered, "the caller got an answer: %s", e.Answer)
	sides.want(e.Arrival == nil, "the upstream saw a request")
	sides.want(!e.Log.Enforced.Ran, "the access log says that a policy judged it: %s", e.Log.Enforced.Verdict)
}

// checkUnauthorized compares the answer to a request that an authorizer refused, or gave no
// answer about. The status is the authorizer's, or that of the filter.
func (e Evidence) checkUnauthorized(sides *checklist) {
	sides.want(e.Answer.Body == "", "the caller got %q, and an authorizer of the lab says nothing", e.Answer.Body)
	sides.want(e.Arrival == nil, "the upstream saw the request")
	sides.want(strings.HasPrefix(e.Log.Details, "ext_authz_"), "the access log gives the reason %q, and no authorizer", e.Log.Details)
	sides.want(int(e.Log.Status) == e.Answer.Status, "the access log says status %d, the caller got %d", e.Log.Status, e.Answer.Status)
	e.checkPeer(sides)
}

func (e Evidence) checkClosed(sides *checklist) {
	sides.want(e.Answer.Outcome == caller.Closed, "the caller saw a %s", e.Answer)
	sides.want(e.Arrival == nil, "the upstream saw bytes of the caller")
	if e.refusedByAuthorizer() {
		e.checkPeer(sides)
		return
	}
	e.checkRefusal(sides, e.Log.Termination)
}

func (e Evidence) checkForbidden(sides *checklist) {
	if e.refusedByAuthorizer() {
		e.checkUnauthorized(sides)
		return
	}
	if e.Call.GRPC != "" {
		sides.want(e.Answer.GRPC == codes.PermissionDenied, "the caller got %s, not PERMISSION_DENIED", e.Answer)
	} else {
		sides.want(e.Answer.Status == 403, "the caller got %s, not 403", e.Answer)
	}
	// The answer to a HEAD request has no body.
	sides.want(e.Answer.Body == refusalBody || e.Call.Method == "HEAD", "the caller got %q, not %q", e.Answer.Body, refusalBody)
	sides.want(e.Arrival == nil, "the upstream saw the request")
	e.checkRefusal(sides, e.Log.Details)
}

// checkRefusal compares the two places where the log names the effective policy: the
// metadata of the engine, and the reason of the refusal.
func (e Evidence) checkRefusal(sides *checklist, reason string) {
	sides.want(e.Log.Enforced.Ran, "the access log has no result of an RBAC engine")
	sides.want(e.Log.Enforced.Verdict.Effect == policy.Deny, "the access log says %s", e.Log.Enforced.Verdict)
	name := e.Log.Enforced.Verdict.Origin
	if name == "" {
		name = "none"
	}
	// Envoy replaces white space in this text, and nothing else.
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\r\n\v\f", r) {
			return '_'
		}
		return r
	}, name)
	want := "rbac_access_denied_matched_policy[" + name + "]"
	sides.want(reason == want, "the access log gives the reason %q, not %q", reason, want)
	e.checkPeer(sides)
}

// rejection returns the HTTP status of the rejection. A gRPC call gets a gRPC status in its
// place (Grpc::Utility::httpToGrpcStatus).
func (e Evidence) rejection() int {
	if e.Call.GRPC == "" {
		return e.Answer.Status
	}
	switch e.Answer.GRPC {
	case codes.Internal:
		return 400
	case codes.Unauthenticated:
		return 401
	case codes.PermissionDenied:
		return 403
	case codes.Unimplemented:
		return 404
	case codes.Unavailable:
		return 503
	default:
		return e.Answer.Status
	}
}

func (e Evidence) checkRejected(sides *checklist, status int) {
	sides.want(status >= 400, "the caller got %s, but the upstream saw nothing", e.Answer)
	sides.want(int(e.Log.Status) == e.Answer.Status, "the access log says status %d, the caller got %d", e.Log.Status, e.Answer.Status)
}

func (e Evidence) checkServed(sides *checklist) {
	sides.want(e.Answer.GRPC == codes.OK, "the caller got %s", e.Answer)
	if e.Log.Enforced.Ran {
		sides.want(e.Log.Enforced.Verdict.Effect == policy.Allow, "the access log says %s", e.Log.Enforced.Verdict)
	}
	if e.Arrival == nil {
		sides.want(false, "the upstream saw nothing")
		return
	}
	sides.want(e.Arrival.Requests == 1, "the upstream saw %d requests", e.Arrival.Requests)
	if e.Call.Protocol.Layer() == policy.L7 {
		e.checkArrival(sides)
	} else {
		payload := e.Call.WithDefaults().Body
		sides.want(e.Arrival.Bytes == len(payload), "the upstream saw %d bytes, the caller sent %d", e.Arrival.Bytes, len(payload))
		sides.want(e.Answer.Body == payload, "the caller got %d bytes back that are not those it sent", len(e.Answer.Body))
	}
	sides.want(e.Log.Destination == e.Call.Destination, "the access log names the destination %s, the caller played %s", e.Log.Destination, e.Call.Destination)
	e.checkPeer(sides)
}

func (e Evidence) checkArrival(sides *checklist) {
	sent := e.Call.WithDefaults()
	sides.want(e.Answer.Status == 200, "the caller got %s", e.Answer)
	sides.want(int(e.Log.Status) == e.Answer.Status, "the access log says status %d, the caller got %d", e.Log.Status, e.Answer.Status)
	sides.want(e.Arrival.Method == sent.Method, "the upstream saw method %s, the caller sent %s", e.Arrival.Method, sent.Method)
	sides.want(e.Arrival.Authority == sent.Authority, "the upstream saw authority %q, the caller sent %q", e.Arrival.Authority, sent.Authority)
	e.checkHeaders(sides)
	if e.Call.GRPC == "" {
		e.checkBody(sides)
	}
	sides.want(requestline.Logged(e.Arrival.Path) == e.Log.Path, "the upstream saw path %q, the access log %q", e.Arrival.Path, e.Log.Path)
	// Envoy writes the URIs last and does not quote them. One URI may look like several
	// keys, so the URIs are compared as text.
	_, names, _ := strings.Cut(e.Arrival.XFCC(), "URI=")
	uris := strings.Join(e.uris(), ";URI=")
	sides.want(names == uris, "XFCC names %q, the caller is %q", names, uris)
}

// checkHeaders compares the lines of each header. Envoy may join them.
func (e Evidence) checkHeaders(sides *checklist) {
	sent := map[string][]string{}
	lines := requestline.Seen(e.Call.Headers, e.Call.Protocol, false)
	for _, h := range lines {
		sent[h.Name] = append(sent[h.Name], h.Value)
	}
	for name, values := range sent {
		if ownedByEnvoy(name) || e.Tokens.Looks(token.InHeader, name) {
			continue
		}
		seen := strings.Join(e.Arrival.Header.Values(name), ",")
		want, _ := joined(lines, name)
		sides.want(seen == want, "the upstream saw %q in the header %s, the caller sent %q", seen, name, values)
	}
}

// checkEntry compares the entry of the access log with the request. Where the codec refuses
// a request, Envoy answers 400 and logs neither method nor path.
func (e Evidence) checkEntry(sides *checklist) {
	if e.Answer.Status == 400 && e.Log.Status == 400 && e.Log.Path == "" {
		return
	}
	sent := e.Call.WithDefaults().Method
	method := sent
	if _, known := corev3.RequestMethod_value[method]; !known {
		method = corev3.RequestMethod_METHOD_UNSPECIFIED.String()
	}
	sides.want(e.Log.Method == method, "the access log has the method %s in its place, the caller sent %s", e.Log.Method, sent)
	sides.want(e.Path == "" || e.Log.Path == requestline.Logged(e.Path), "the access log has the path %q in its place, the caller's means %q", e.Log.Path, e.Path)
	// The checks of the other forms compare the status already.
	if e.refusedByHTTP() {
		sides.want(int(e.Log.Status) == e.Answer.Status, "the access log says status %d, the caller got %d", e.Log.Status, e.Answer.Status)
	}
}

func (e Evidence) checkBody(sides *checklist) {
	sent := e.Call.Body
	sides.want(e.Arrival.Bytes == len(sent), "the upstream saw %d bytes, the caller sent %d", e.Arrival.Bytes, len(sent))
	echo := sent[:min(len(sent), caller.BodyMax)]
	sides.want(e.Answer.Body == echo || e.Call.Method == "HEAD", "the caller got %d bytes back that are not those it sent", len(e.Answer.Body))
}

// ownedByEnvoy reports whether a listener may set, remove or join a header that the caller
// sent.
func ownedByEnvoy(name string) bool {
	name = strings.ToLower(name)
	for _, prefix := range []string{"x-forwarded-", "x-envoy-", "x-meshproof-"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return slices.Contains([]string{"connection", "keep-alive", "upgrade", "host", "te", "cookie", "x-request-id", "proxy-connection"}, name)
}

// checkPeer compares the identity in the log with the certificate that was sent.
func (e Evidence) checkPeer(sides *checklist) {
	sides.want(slices.Equal(e.Log.PeerURIs, e.uris()), "the access log names the peer %q, the caller is %q", e.Log.PeerURIs, e.uris())
}

func (e Evidence) uris() []string {
	if e.Call.Plaintext || e.Call.Credential == nil {
		return nil
	}
	return e.Call.Credential.URIs()
}
