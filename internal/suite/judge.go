package suite

import (
	"cmp"
	"fmt"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/policy"
)

// judge holds one request's evidence against every opinion there is.
func (r *run) judge(q cases.Request, e evidence.Evidence) Request {
	out := Request{Request: q, Evidence: e}
	problem := func(format string, args ...any) { out.Problems = append(out.Problems, fmt.Sprintf(format, args...)) }
	finding, err := e.Find()
	out.Finding = finding
	if err != nil {
		problem("%v", err)
		return out
	}
	if !meets(q.Want, finding) {
		problem("the case wants %s, Envoy says %s", q.Want, describe(finding))
	}
	r.judgeAs(&out, problem)
	r.compareStated(q, finding, problem)
	return out
}

// judgeAs asks the policies, unless there is nothing that they could say.
func (r *run) judgeAs(out *Request, problem func(string, ...any)) {
	q, finding := out.Request, out.Finding
	in := r.inbound(q.To)
	if finding.Form == evidence.HandshakeFailed || q.From.Plaintext && !r.programs[q.To].JudgesPlaintext {
		// mTLS answered for the policies; the case's want is all there is to hold
		// against it.
		return
	}
	request, rejected := r.policyRequest(q, in)
	switch {
	case finding.Form == evidence.Refused && finding.Layer == policy.L4:
		// A connection is judged before Envoy reads what is asked for.
	case rejected != nil && (finding.Form != evidence.Rejected || finding.Status != 400):
		problem("the listener should answer 400 (%v), Envoy says %s", rejected, describe(finding))
		return
	case rejected != nil || finding.Form == evidence.Rejected && !finding.Judged:
		// The case says which status it wants.
		return
	}
	out.Judged, out.Seen = true, request
	out.Decision = policy.Decide(r.programs[q.To].Program, request)
	out.Rule = policy.Reason(r.programs[q.To].Program, request)
	if second := r.set.Evaluate(in.Inbound, request); second != out.Decision {
		problem("the oracle says %#v, the plain evaluator %#v: meshproof contradicts itself", out.Decision, second)
	}
	r.compare(in, *out, request, problem)
}

// compareStated holds the finding against what the request states of its policies.
// Where nobody judged it, nobody is named.
func (r *run) compareStated(q cases.Request, f evidence.Finding, problem func(string, ...any)) {
	if q.Shadow != nil && *q.Shadow != shadowOf(f) {
		problem("the case wants shadow %s, Envoy says %s", *q.Shadow, shadowOf(f))
	}
	if r.runner.AnyNames {
		return
	}
	if q.By != nil && *q.By != f.Verdict.Origin {
		problem("the case wants it decided by %s, Envoy names %s", *q.By, named(f.Verdict))
	}
	if q.ShadowBy != nil && *q.ShadowBy != f.Shadow.Verdict.Origin {
		problem("the case wants the shadow decided by %s, Envoy names %s", *q.ShadowBy, named(f.Shadow.Verdict))
	}
}

// same compares two verdicts, and who gave them unless any name will do.
func (r *run) same(a, b policy.Verdict) bool {
	return a == b || r.runner.AnyNames && a.Effect == b.Effect
}

func named(v policy.Verdict) string { return cmp.Or(v.Origin, "nobody") }

// compare holds the finding against the oracle.
func (r *run) compare(in cases.Inbound, out Request, request policy.Request, problem func(string, ...any)) {
	d, f := out.Decision, out.Finding
	// Without a gate there is no filter, so that all Envoy can say is that it served.
	judged := f.Judged && r.same(f.Verdict, d.Verdict)
	if len(r.programs[out.To].Gates) == 0 {
		judged = !f.Judged && f.Form == evidence.Served
	}
	if !judged {
		problem("the policies say %s, Envoy says %s", d.Verdict, describe(f))
	}
	if f.Form == evidence.Refused && f.Layer != d.Layer {
		problem("the refusal should come from an %s filter, Envoy refused on %s", d.Layer, f.Layer)
	}
	switch {
	case d.Shadowed != f.Shadow.Ran:
		problem("a shadow should run: %t, a shadow ran: %t", d.Shadowed, f.Shadow.Ran)
	case !r.same(d.Shadow, f.Shadow.Verdict):
		problem("the shadow should say %s, Envoy's says %s", d.Shadow, f.Shadow.Verdict)
	}
	if out.Evidence.Arrival != nil && in.Protocol.Layer() == policy.L7 && out.Evidence.Arrival.Path != request.Path {
		problem("the upstream saw path %q, judged was %q", out.Evidence.Arrival.Path, request.Path)
	}
}

// policyRequest is the request as the filters see it, or the reason why they see
// none.
func (r *run) policyRequest(q cases.Request, in cases.Inbound) (policy.Request, error) {
	request := policy.Request{URIs: q.From.Template.URIs, DNS: q.From.Template.DNS}
	if in.Protocol.Layer() == policy.L4 {
		return request, nil
	}
	request.Method, request.Path = q.Method, q.Path
	if request.Method == "" {
		request.Method = "GET"
	}
	if request.Path == "" {
		request.Path = "/"
	}
	if q.GRPC != "" {
		request.Method, request.Path = "POST", "/"+q.GRPC
	}
	var err error
	request.Path, err = r.normalization().Apply(request.Path)
	return request, err
}

func (r *run) inbound(name string) cases.Inbound {
	for _, in := range r.result.Case.Inbounds {
		if in.String() == name {
			return in
		}
	}
	panic("suite: package cases let a request to an unknown inbound pass: " + name)
}

func meets(want cases.Want, f evidence.Finding) bool {
	if code, ok := want.Status(); ok {
		switch f.Form {
		case evidence.Refused:
			return code == 403 && f.Layer == policy.L7
		case evidence.Rejected:
			// 403 is the form of a refusal, and this was none.
			return f.Status == code && code != 403
		default:
			return false
		}
	}
	switch want {
	case cases.Allow:
		return f.Form == evidence.Served
	case cases.Close:
		return f.Form == evidence.Refused && f.Layer == policy.L4
	case cases.HandshakeFailure:
		return f.Form == evidence.HandshakeFailed
	case cases.Refused:
		return f.Form != evidence.Served
	default:
		return f.Form == evidence.Refused
	}
}

func shadowOf(f evidence.Finding) cases.Shadow {
	switch {
	case !f.Shadow.Ran:
		return cases.ShadowNone
	case f.Shadow.Verdict.Effect == policy.Allow:
		return cases.ShadowAllow
	default:
		return cases.ShadowDeny
	}
}

func describe(f evidence.Finding) string {
	switch {
	case f.Form == evidence.Rejected:
		return fmt.Sprintf("%s with %d", f.Form, f.Status)
	case f.Judged:
		return fmt.Sprintf("%s (%s)", f.Form, f.Verdict)
	default:
		return f.Form.String()
	}
}
