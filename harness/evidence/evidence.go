// Package evidence decides what the traces of a request prove.
//
// It finds a decision only where all sides say the same: the answer that the caller saw,
// the request that the upstream saw, and the entry in Envoy's access log with the verdict
// of each filter. [Count] says how the counters of each filter must have moved. A deny is
// never inferred from silence. Where the sides disagree, the error says which of them.
//
// It does not know the policies, and it does not know what a case wants.
package evidence

import (
	"fmt"
	"strings"
	"time"

	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/internal/arrival"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// Evidence is all that was recorded of one request.
type Evidence struct {
	Call   caller.Call
	Answer caller.Answer
	// Arrival is what reached the upstream; nil where nothing did.
	Arrival *arrival.Record
	// Log is the entry of the access log: the entry of the request, or where the request
	// has none, the entry of its connection.
	Log xds.AccessLog
	// Shared is true for a request whose connection carried other requests too. Then its
	// entry was found by its place among the others, so [Evidence.Find] also compares the
	// entry with what was sent.
	Shared bool
	// Path is the path as the inbound normalizes it, for a request of a shared connection.
	// It is empty where that path is not known in advance.
	Path string
	// ReadsSNI is true where Envoy learns the server name of the handshake.
	ReadsSNI bool
	// Tokens is what Envoy demands of the token of a request.
	Tokens token.Demand
	// TrustedHops is the number of entries of x-forwarded-for that Envoy trusts.
	TrustedHops int
	// Headers are the names of the headers that the access log shows, and "host" for the
	// authority.
	Headers []string
	// Asked counts the questions to the authorizer about all requests of the connection; it is
	// set for the last one.
	Asked struct {
		// Filters is what Envoy's log says, and Authorizer what the authorizer saw.
		Filters, Authorizer int
	}
	// Retries counts the transport faults before this attempt. A request that has a
	// verdict is never sent again.
	Retries int
	// Took is the time from the first byte to the last piece of evidence.
	Took time.Duration
}

// Form is how a request ended.
type Form uint8

const (
	// Served means that the upstream got the request and the caller its answer.
	Served Form = iota
	// Refused means that an authorization filter refused it, in the form of its
	// layer.
	Refused
	// HandshakeFailed means that mTLS kept the caller out: no policy judged the request.
	HandshakeFailed
	// Rejected means that Envoy answered with a status of its own, and not because of
	// authorization: for example with 400, because of the path.
	Rejected
)

var formNames = [...]string{Served: "served", Refused: "refused", HandshakeFailed: "handshake failed", Rejected: "rejected"}

// String returns a few words for messages.
func (f Form) String() string { return formNames[f] }

// Finding is what the evidence proves.
type Finding struct {
	Form Form
	// Layer is the layer of the filter that refused the request.
	Layer policy.Layer
	// Status is the HTTP status of a request that was answered.
	Status int
	// Judged tells whether an enforcing engine ran. Then Verdict is the verdict of all
	// filters together; those of each filter are in [xds.AccessLog.Filters]. Else Verdict says nothing, and its zero value
	// reads as a deny: ask Form whether the request was served.
	Judged  bool
	Verdict policy.Verdict
	// Shadow is what all shadows together said.
	Shadow xds.Engine
}

// Disagreement is the error of evidence whose sides contradict each other. The form is the
// form that the caller's answer suggests.
type Disagreement struct {
	Form  Form
	Sides []string
}

// Error lists the sides that contradict the form.
func (d *Disagreement) Error() string {
	return fmt.Sprintf("evidence: it looks %s, but %s", d.Form, strings.Join(d.Sides, "; "))
}

type checklist []string

func (c *checklist) want(ok bool, format string, args ...any) {
	if !ok {
		*c = append(*c, fmt.Sprintf(format, args...))
	}
}
