package routediff

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/routeverdict"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/script"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
)

// Shown is what an Envoy did with one request under the policies before and after.
type Shown struct{ Old, New result.RoutedRequest }

// evidence is what an Envoy shows of a change.
type evidence struct {
	shown []Shown
	// unshown names the limits that differ and no request shows, and notShown what else differs that one
	// request cannot show: the shares of several backends, and the protocol of a backend.
	unshown, notShown []string
	// indexes are the places of the requests in both cases.
	indexes []int
}

// confirmation is a case for each side, with the same requests.
type confirmation struct {
	sender      *Sender
	old, recent cases.Case
	evidence    []*evidence
	// waits are the limits that differ.
	waits []wait
}

// Confirm sends a request of each change through the sidecar of its workload, under the policies before and
// after, and one that waits for each limit that changes, where a request can show it: the same request
// is ended on one side, and answered or ended later on the other. It returns the results.
func (d *Difference) Confirm(ctx context.Context, envoy string, run func(context.Context, ...*verdict.Reading) []result.Case) ([]result.Case, error) {
	var out []result.Case
	for c, err := range d.confirmations() {
		if err != nil {
			return nil, err
		}
		s := c.sender
		old, errOld := verdict.Read(c.old)
		recent, errNew := verdict.Read(c.recent)
		if errOld != nil || errNew != nil {
			return nil, fmt.Errorf("the policies of %s: %w", s.Name(), cmp.Or(errOld, errNew))
		}
		s.results = run(ctx, old, recent)
		before, after := s.results[0].RoutedRequests, s.results[1].RoutedRequests
		for _, e := range c.evidence {
			for _, k := range e.indexes {
				if k < min(len(before), len(after)) {
					e.shown = append(e.shown, Shown{before[k], after[k]})
				}
			}
		}
		out = append(out, s.results...)
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	d.Envoy = envoy
	return out, nil
}

// confirmations are the cases of each sender with a change, or the error that no case can be made.
func (d *Difference) confirmations() iter.Seq2[*confirmation, error] {
	return func(yield func(*confirmation, error) bool) {
		for i := range d.Senders {
			if s := &d.Senders[i]; d.changes(s) && !yield(d.ask(s)) {
				return
			}
		}
	}
}

// Results are what became of the cases of [Difference.Confirm].
func (d *Difference) Results() (out []result.Case) {
	for _, s := range d.Senders {
		out = append(out, s.results...)
	}
	return out
}

// Changed counts the senders with a change.
func (d *Difference) Changed() (n int) {
	for i := range d.Senders {
		if d.changes(&d.Senders[i]) {
			n++
		}
	}
	return n
}

func (d *Difference) changes(s *Sender) bool {
	return len(s.Clusters) > 0 || slices.ContainsFunc(s.Comparisons, func(c Comparison) bool { return len(c.Changes) > 0 }) ||
		slices.ContainsFunc(d.Services, func(c ClusterChange) bool { return c.Case == s.Case && len(s.requestsTo(c.Cluster)) > 0 })
}

// requestsTo has a request of each class that both sides send to a backend.
func (s *Sender) requestsTo(cluster string) (out []witness) {
	for _, found := range s.Comparisons {
		for _, class := range found.Cover.Classes {
			if isTo(cluster, found.Old.Decide(class.Witness)) && isTo(cluster, found.New.Decide(class.Witness)) {
				out = append(out, witness{found, class.Witness})
			}
		}
	}
	return out
}

// witness is a request to an outbound.
type witness struct {
	Comparison
	request policy.Request
}

// wait is a limit that differs, with requests that may show it.
type wait struct {
	evidence   *evidence
	field      Field
	candidates []casefile.RoutedRequest
}

// ask makes the cases of a sender, once.
func (d *Difference) ask(s *Sender) (*confirmation, error) {
	if s.asked != nil {
		return s.asked, nil
	}
	old, errOld := s.old.caseOf(s.recent, s.oldInbound, "old")
	recent, errNew := s.recent.caseOf(s.old, s.newInbound, "new")
	if err := cmp.Or(errOld, errNew); err != nil {
		return nil, err
	}
	c := &confirmation{sender: s, old: old, recent: recent}
	c.addClasses()
	c.addClusters()
	c.addServices(d)
	if err := c.addWaits(); err != nil {
		return nil, err
	}
	s.asked = c
	return c, nil
}

// note makes room for what an Envoy shows of a change.
func (c *confirmation) note() *evidence {
	e := &evidence{}
	c.evidence = append(c.evidence, e)
	return e
}

// add adds a request to both cases.
func (c *confirmation) add(e *evidence, r casefile.RoutedRequest) {
	e.indexes = append(e.indexes, len(c.old.RoutedRequests))
	c.old.RoutedRequests, c.recent.RoutedRequests = append(c.old.RoutedRequests, sentBy(c.sender.oldInbound, r)...), append(c.recent.RoutedRequests, sentBy(c.sender.newInbound, r)...)
}

// addClasses adds a request of each class that changes, and notes its limits that change.
func (c *confirmation) addClasses() {
	for i := range c.sender.Comparisons {
		found := &c.sender.Comparisons[i]
		for k := range found.Changes {
			change := &found.Changes[k]
			change.evidence = c.note()
			c.add(change.evidence, found.ask(change.Witness))
			for _, f := range change.Fields {
				if f.kind == Moved && sharesBackend(change.Old, change.New) {
					change.evidence.notShown = append(change.evidence.notShown, fmt.Sprintf("%s %s → %s: one request takes one of the backends, and both sides have one in common", f.Name, f.Old.Text, f.New.Text))
				}
				if f.limits != nil {
					c.waits = append(c.waits, wait{change.evidence, f, found.waiting(f, change.Witness)})
				}
			}
		}
	}
}

// addClusters notes the limits of backends that change.
func (c *confirmation) addClusters() {
	for i := range c.sender.Clusters {
		change := &c.sender.Clusters[i]
		change.evidence = c.note()
		for _, f := range change.Fields {
			if f.limits == nil {
				if f.kind == Moved {
					change.evidence.notShown = append(change.evidence.notShown, fmt.Sprintf("%s %s → %s: a request is answered alike", f.Name, f.Old.Text, f.New.Text))
				}
				continue
			}
			w := wait{evidence: change.evidence, field: f}
			for _, to := range c.sender.requestsTo(change.Cluster) {
				w.candidates = append(w.candidates, to.waiting(f, to.request)...)
			}
			c.waits = append(c.waits, w)
		}
	}
}

// addServices adds a request to each backend whose inbounds change.
func (c *confirmation) addServices(d *Difference) {
	for i := range d.Services {
		change := &d.Services[i]
		if to := c.sender.requestsTo(change.Cluster); change.Case == c.sender.Case && change.evidence == nil && len(to) > 0 {
			change.evidence = c.note()
			c.add(change.evidence, to[0].Comparison.ask(to[0].request))
		}
	}
}

// addWaits adds, for each limit that changes, the first request that shows it, or names the limit where
// none does.
func (c *confirmation) addWaits() error {
	var all []casefile.RoutedRequest
	for _, w := range c.waits {
		all = append(all, w.candidates...)
	}
	before, errOld := routeverdict.ExpectAll(c.old, sentBy(c.sender.oldInbound, all...))
	after, errNew := routeverdict.ExpectAll(c.recent, sentBy(c.sender.newInbound, all...))
	if err := cmp.Or(errOld, errNew); err != nil {
		return err
	}
	for _, w := range c.waits {
		n := len(w.candidates)
		shows := -1
		for i := n - 1; i >= 0; i-- {
			if w.field.shownBy(before[i], after[i]) {
				shows = i
			}
		}
		why := w.field.unseen(before[:n], after[:n])
		before, after = before[n:], after[n:]
		if shows < 0 {
			w.evidence.unshown = append(w.evidence.unshown, fmt.Sprintf("%s %s → %s: %s", w.field.Name, w.field.Old.Text, w.field.New.Text, why))
			continue
		}
		c.add(w.evidence, w.candidates[shows])
	}
	return nil
}

// sentBy are requests that a workload sends.
func sentBy(workload policy.Inbound, requests ...casefile.RoutedRequest) []casefile.RoutedRequest {
	out := slices.Clone(requests)
	for i := range out {
		out[i].From = workload.Workload.Name
	}
	return out
}

// sharesBackend reports whether a request may take one backend under both decisions.
func sharesBackend(old, recent routing.Decision) bool {
	return slices.ContainsFunc(old.Backends, func(b routing.Backend) bool { return b.Weight > 0 && isTo(b.Cluster, recent) })
}

// isTo reports whether a decision sends requests to the backend.
func isTo(cluster string, d routing.Decision) bool {
	return slices.ContainsFunc(d.Backends, func(b routing.Backend) bool { return b.Cluster == cluster && b.Weight > 0 })
}

// caseOf returns a case without requests for the sidecar of a workload. A side without Dataplanes has
// those of the other.
func (s Side) caseOf(other Side, workload policy.Inbound, name string) (cases.Case, error) {
	files := *s.Files
	if len(files.Dataplanes) == 0 {
		files.Dataplanes = other.Dataplanes
	}
	sender, err := files.Sender(s.Surroundings, workload)
	if err != nil {
		return cases.Case{}, err
	}
	c, err := files.SenderCase(s.Surroundings, sender)
	c.Name += " (" + name + ")"
	return c.Case, err
}

// ask is a witness as a sidecar gets it.
func (c Comparison) ask(r policy.Request) casefile.RoutedRequest {
	asked := casefile.RoutedRequest{Place: "a request to " + c.New.Service.String(), To: c.New.Name, Method: r.Method, Path: r.Path, Headers: r.Headers}
	if call := routeverdict.AsCall(c.New, asked); routeverdict.AsCall(c.Old, asked).GRPC == call.GRPC {
		return call
	}
	return asked
}

var neverAnswers, _ = script.Named("never")

// waiting are requests that may show another limit. The first is ended by the shorter time alone. The second
// is ended by both, each at its time.
func (c Comparison) waiting(f Field, witness policy.Request) []casefile.RoutedRequest {
	short := f.limits.shorter()
	if !routeverdict.IsWaitedFor(short) || f.limits.bound == routing.Connection {
		return nil
	}
	first, second := c.ask(witness), c.ask(witness)
	first.Place, second.Place = f.Name+" to "+c.New.Service.String(), f.Name+" to "+c.New.Service.String()
	if !routeverdict.Linger(&first, f.limits.bound, c.New.Protocol, short*3/2) {
		first.Answer.After = short * 3 / 2
	}
	if !routeverdict.Linger(&second, f.limits.bound, c.New.Protocol, 2*max(f.limits.old, f.limits.recent)) {
		second.Answer = neverAnswers
	}
	if max(f.limits.old, f.limits.recent) > routeverdict.LongestWait {
		return []casefile.RoutedRequest{first}
	}
	return []casefile.RoutedRequest{first, second}
}

// shownBy reports whether both ends of a request are clear, and the shorter limit ends it at each backend.
func (f Field) shownBy(old, recent routeverdict.Expectation) bool {
	if old.Unclear != nil || recent.Unclear != nil {
		return false
	}
	ended := recent
	if f.limits.shorter() == f.limits.old {
		ended = old
	}
	return ended.EndsBy(f.limits.bound)
}

// unseen says why no request shows the change of the limit.
func (f Field) unseen(old, recent []routeverdict.Expectation) string {
	ended := recent
	if f.limits.shorter() == f.limits.old {
		ended = old
	}
	why := routeverdict.Unseen(f.limits.bound, f.limits.shorter(), ended...)
	if f.limits.shorter() == f.limits.old {
		return why + " under the old policies"
	}
	return why + " under the new ones"
}

// limits are the two times of a limit; 0 for none.
type limits struct {
	bound       routing.Bound
	old, recent time.Duration
}

// shorter is the shorter time of the two.
func (l *limits) shorter() time.Duration {
	if l.old == 0 || l.recent != 0 && l.recent < l.old {
		return l.recent
	}
	return l.old
}
