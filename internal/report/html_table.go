package report

import (
	"cmp"
	"slices"
	"strings"
)

// pageTable is a truth table: who asked, and what for. Where more is asked for than
// there are callers, and a row could not hold it, the requests are its rows.
type pageTable struct {
	Callers []string
	// Common is what the leading … of a caller stands for, empty where none has one.
	Common   string
	Inbounds []pageInbound
	// Turned makes the requests rows, Upright has the heads of columns stand on end, so
	// that many fit.
	Turned, Upright bool
}

// pageWidest is how many requests a row may hold before the table is turned, or its
// heads stand on end where there are more callers still; pageWidestTurned is how many
// callers it may hold then.
const (
	pageWidest       = 5
	pageWidestTurned = 2
)

// pageInbound is what was asked of one inbound.
type pageInbound struct {
	Name     string
	Requests []pageAsked
}

// pageAsked is a request, with a cell for each caller.
type pageAsked struct {
	Text  string
	Cells [][]pageCell
}

// Row returns the cells of a caller.
func (t *pageTable) Row(caller int) [][]pageCell {
	var out [][]pageCell
	for _, in := range t.Inbounds {
		for _, asked := range in.Requests {
			out = append(out, asked.Cells[caller])
		}
	}
	return out
}

// pageCell is what became of a request, in one sign and one or two words.
type pageCell struct {
	Class, Sign, Shadow string
	// Label says all that the signs do.
	Label string
	// Evidence is the ID of the request's evidence.
	Evidence string
	// Wrong tells that it is not what the case wants, Gated that the case was skipped for
	// it, Differs that another run has something else.
	Wrong, Gated, Differs bool
}

// pageSign returns the class and the sign of an outcome.
func pageSign(outcome string) (class, sign string) {
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
		return "status", visible(outcome)
	}
}

func newPageCell(q Request, evidence string, gated, differs bool) pageCell {
	c := pageCell{Evidence: evidence, Wrong: !q.Passed, Gated: gated && !q.Passed, Differs: differs, Label: visible(q.Outcome)}
	c.Class, c.Sign = pageSign(q.Outcome)
	if q.Shadow != "" && q.Shadow != "none" {
		_, sign := pageSign(q.Shadow)
		c.Shadow = "◐" + sign
		c.Label += ", shadow " + visible(q.Shadow)
	}
	if c.Wrong {
		c.Label += ", not as wanted"
	}
	if c.Differs {
		c.Label += ", not the same on all runs"
	}
	return c
}

// pageLayout finds the callers and requests of a case, each where it first stands on
// any run, so that the tables of all runs can be laid side by side.
func pageLayout(runs []*Case) (callers []string, inbounds []pageInbound) {
	web := pageWeb(runs)
	for _, c := range pagePresent(runs) {
		for _, q := range c.Requests {
			if !slices.Contains(callers, q.From) {
				callers = append(callers, q.From)
			}
			at := slices.IndexFunc(inbounds, func(in pageInbound) bool { return in.Name == q.To })
			if at < 0 {
				at, inbounds = len(inbounds), append(inbounds, pageInbound{Name: q.To})
			}
			in, text := &inbounds[at], pageAsk(q, web[q.To])
			if !slices.ContainsFunc(in.Requests, func(a pageAsked) bool { return a.Text == text }) {
				in.Requests = append(in.Requests, pageAsked{Text: text})
			}
		}
	}
	return callers, inbounds
}

// pageWeb tells which inbounds speak HTTP, by what their callers were answered: the
// reports do not say, and a request that is not spelt out is GET / there alone.
func pageWeb(runs []*Case) map[string]bool {
	web := map[string]bool{}
	for _, c := range pagePresent(runs) {
		for _, q := range c.Requests {
			if strings.HasPrefix(q.Evidence.Caller, "HTTP ") || q.Method != "" || q.Path != "" {
				web[q.To] = true
			}
		}
	}
	return web
}

// pageAsk is what a request asks for; on an inbound that is not web, it may be no more
// than a connection.
func pageAsk(q Request, web bool) string {
	var text string
	switch {
	case q.GRPC != "":
		text = "gRPC " + q.GRPC
	case web:
		text = cmp.Or(q.Method, "GET") + " " + cmp.Or(q.Path, "/")
	default:
		text = "connect"
	}
	return strings.Join(append([]string{text}, q.Header...), ", ")
}

// pageElide returns callers with the trust domain that most share left out, and that
// trust domain.
func pageElide(callers []string) ([]string, string) {
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
