package page

import (
	"cmp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/internal/servername"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
)

// table is a truth table of callers and requests. Callers are rows. Where there are more
// requests than callers, and too many for a row, requests are rows.
type table struct {
	Callers []string
	// Common is the text for which the leading … of a caller stands, "" for none.
	Common   string
	Inbounds []inboundTable
	// Turned makes the requests rows. Upright turns the heads of columns by 90 degrees, so
	// that many columns fit.
	Turned, Upright bool
}

// widest bounds the requests in a row. With more of them the table is turned, or its heads
// are upright if there are more callers still. widestTurned bounds the callers in a row of a
// turned table.
const (
	widest       = 5
	widestTurned = 2
)

// inboundTable has the requests to one inbound.
type inboundTable struct {
	Name     string
	Requests []requestCells
}

// requestCells is a request with the cells of each caller.
type requestCells struct {
	Text  string
	Cells [][]cell
}

// Row returns the cells of a caller.
func (t *table) Row(caller int) [][]cell {
	var out [][]cell
	for _, in := range t.Inbounds {
		for _, asked := range in.Requests {
			out = append(out, asked.Cells[caller])
		}
	}
	return out
}

// cell is the outcome of a request, as a sign and one or two words.
type cell struct {
	Class, Sign, Shadow string
	// Label says in words what the signs say.
	Label string
	// Evidence is the ID of the request's evidence.
	Evidence string
	// Wrong: the outcome is not what the case wants. Gated: the case was skipped for that.
	// Differs: another run has another decision.
	Wrong, Gated, Differs bool
}

// outcomeSign returns the class and the sign of an outcome.
func outcomeSign(outcome string) (class, sign string) {
	switch outcome {
	case "allow":
		return "allow", "✓"
	case "deny":
		return "deny", "✗"
	case "handshake failed":
		return "handshake", "TLS"
	case "unproven":
		return "unproven", "?"
	default:
		return "status", report.Visible(outcome)
	}
}

func newCell(q report.Request, evidence string, gated, differs bool) cell {
	c := cell{Evidence: evidence, Wrong: !q.Passed, Gated: gated && !q.Passed, Differs: differs, Label: report.Visible(q.Outcome)}
	c.Class, c.Sign = outcomeSign(q.Outcome)
	if q.Shadow != "" && q.Shadow != "none" {
		_, sign := outcomeSign(q.Shadow)
		c.Shadow = "◐" + sign
		c.Label += ", shadow " + report.Visible(q.Shadow)
	}
	if c.Wrong {
		c.Label += ", not as wanted"
	}
	if c.Differs {
		c.Label += ", not the same on all runs"
	}
	return c
}

// layOut finds the callers and requests of a case, in the order of their first appearance in
// any run, so that the tables of all runs have the same rows and columns.
func layOut(runs []*report.Case) (callers []string, inbounds []inboundTable) {
	protocols := findProtocols(runs)
	for _, c := range presentCases(runs) {
		for _, q := range c.Requests {
			if !slices.Contains(callers, q.From) {
				callers = append(callers, q.From)
			}
			at := slices.IndexFunc(inbounds, func(in inboundTable) bool { return in.Name == q.To })
			if at < 0 {
				at, inbounds = len(inbounds), append(inbounds, inboundTable{Name: q.To})
			}
			in, text := &inbounds[at], askText(q, protocols[q.To])
			if !slices.ContainsFunc(in.Requests, func(a requestCells) bool { return a.Text == text }) {
				in.Requests = append(in.Requests, requestCells{Text: text})
			}
		}
	}
	return callers, inbounds
}

// findProtocols returns what each inbound speaks, by its name. A run that an older meshproof wrote does not state it; then
// another run of the same case may.
func findProtocols(runs []*report.Case) map[string]string {
	protocols := map[string]string{}
	for _, c := range presentCases(runs) {
		for _, q := range c.Requests {
			protocols[q.To] = cmp.Or(protocols[q.To], q.Protocol)
		}
	}
	return protocols
}

// askText is what a request asks for on an inbound of a protocol. It defaults method and path as the caller does.
func askText(q report.Request, protocol string) string {
	var text string
	switch {
	case q.GRPC != "":
		text = "gRPC " + q.GRPC
	case protocol == policy.TCP.String():
		text = "connect"
	case protocol == "" && q.Method == "" && q.Path == "":
		text = "request" // the results do not name its protocol
	default:
		method, path := requestline.MethodAndTarget(q.Method, q.Path, "")
		text = method + " " + path
	}
	return strings.Join(append([]string{text + servername.Clause(q.SNI) + token.WithText(q.Token) + report.FromAddress(q.Source)}, q.Header...), ", ")
}

// elideTrustDomain returns the callers without the trust domain that most of them share, and
// that trust domain.
func elideTrustDomain(callers []string) ([]string, string) {
	count, common := map[string]int{}, ""
	for _, c := range callers {
		domain, _, found := strings.Cut(strings.TrimPrefix(c, "spiffe://"), "/")
		if !found || !strings.HasPrefix(c, "spiffe://") {
			continue
		}
		domain = "spiffe://" + domain
		count[domain]++
		if count[domain] > max(1, count[common]) {
			common = domain
		}
	}
	if common == "" {
		return callers, ""
	}
	short := slices.Clone(callers)
	for i, c := range callers {
		if rest, found := strings.CutPrefix(c, common+"/"); found {
			short[i] = "…/" + rest
		}
	}
	return short, common
}
