package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/manifestdiff"
	"github.com/meshproof/meshproof/internal/report/summary"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/routediff"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/policy"
)

// Difference is the effect of a change of policies.
type Difference struct {
	// ToConfirm is true if an Envoy must show the changes. Envoy is its version, empty
	// before it was asked.
	ToConfirm bool
	Envoy     string
	// Cases are the pairs that were compared.
	Cases []Case
	// OnlyOld and OnlyNew name the cases that have no counterpart.
	OnlyOld, OnlyNew []string
	// Unasked are the policies that are asked on no inbound. Truncated says that there are
	// more pairs of targets than inbounds were made for.
	Unasked []lab.Unasked
	// Assumed says which inbound is compared because no file describes one; "" for none.
	Assumed   string
	Truncated bool
	// Unread are the changes beside the policies, which are not read: of workloads, services, meshes and
	// what tools do with the policies.
	Unread []manifestdiff.Change
	// Passed are the other differences beside the policies. A table says that they cannot matter, and nothing proves it.
	Passed []manifestdiff.Passed
	// Routes is the effect on the requests that workloads send; nil where neither side has a
	// route, a timeout or a service.
	Routes *routediff.Difference
	// Opens says what lets callers in now, or may, beside the classes of requests.
	Opens []string
	// Warnings are the warnings of lint and lowering about NEW.
	Warnings []policy.Warning
	// Arguments returns the arguments of a command that read NEW, but for some flags; nil for
	// no commands.
	Arguments func(withoutFlags ...string) []string
	// DenyWidening and Strict say what makes the verdict bad: access that widens or may
	// widen, and a warning.
	DenyWidening, Strict bool

	// compared is what differs of the workloads and the cases, and files of what is not read at all. They
	// count where all other changes are denied.
	compared, files []manifestdiff.Passed
	deniesOthers    bool
	// first counts the classes that a rule lets in now, and that got in by no rule before.
	first int
	// firstParts are the parts of the new policies that no proof is about, and that only shut out.
	firstParts []string
	// domain is a note about a trust domain that nobody states, "" for none.
	domain      string
	old, recent *lab.Files
	callers     lab.Callers
	// madeByNew are the inbounds that are made for NEW alone, where it has Dataplanes.
	madeByNew []lab.Made
}

// ForgetNames leaves out the changes that concern nothing but the names of policies.
func (d *Difference) ForgetNames() {
	if d.Routes != nil {
		d.Routes.ForgetNames()
	}
	for _, c := range d.Cases {
		for i := range c.Comparisons {
			found := &c.Comparisons[i]
			found.Changes = slices.DeleteFunc(found.Changes, func(change Change) bool { return change.Kind() == OriginChanged })
		}
	}
}

func (c Case) changes() int {
	n := 0
	for _, found := range c.Comparisons {
		n += len(found.Changes)
	}
	return n
}

// Changes counts the classes that are decided otherwise.
func (d *Difference) Changes() int {
	n := 0
	for _, c := range d.Cases {
		n += c.changes()
	}
	return n
}

// Changed counts the cases and the senders that have a change.
func (d *Difference) Changed() int {
	n := 0
	for _, c := range d.Cases {
		if c.changes() > 0 {
			n++
		}
	}
	if d.Routes != nil {
		n += d.Routes.Changed()
	}
	return n
}

// counts has the number of changes of each kind.
func (d *Difference) counts() map[Kind]int {
	out := map[Kind]int{}
	for _, c := range d.Cases {
		for _, found := range c.Comparisons {
			for _, change := range found.Changes {
				out[change.Kind()]++
			}
		}
	}
	return out
}

// Confirmed counts the results of the cases that [Difference.Confirm] ran.
func (d *Difference) Confirmed() summary.Tally {
	if d.Routes == nil {
		return d.confirmed()
	}
	return d.confirmed().Plus(summary.Count(d.Routes.Results()...))
}

// confirmed counts those about access.
func (d *Difference) confirmed() summary.Tally {
	var results []result.Case
	for _, c := range d.Cases {
		for _, r := range []*result.Case{c.OldResult, c.NewResult} {
			if r != nil {
				results = append(results, *r)
			}
		}
	}
	return summary.Count(results...)
}

// widenings says why access widens, or may widen.
func (d *Difference) widenings() []string {
	var out []string
	if n := d.counts()[Widened]; n > 0 {
		out = append(out, "access widens in "+terminal.Plural(n, "class", "classes")+" of requests")
	}
	for _, c := range d.Cases {
		for _, found := range c.Comparisons {
			for _, reason := range found.Unsendable {
				out = append(out, "access widens at "+found.Inbound.String()+" by requests that the lab cannot send: "+reason)
			}
		}
		for _, in := range c.Inbounds {
			if in.Widens != "" {
				out = append(out, in.Widens+" at "+in.Text)
			}
		}
	}
	out = append(out, d.Opens...)
	for _, name := range d.OnlyNew {
		out = append(out, "only NEW has "+name+", so that nothing can be compared")
	}
	if len(d.Unread) > 0 {
		out = append(out, "what meshproof does not judge has changed, and may let callers in: "+d.unread()+": review it by hand, in a change of its own")
	}
	if reasons := d.sampled(); len(reasons) > 0 {
		out = append(out, "the cover is sampled: "+strings.Join(reasons, "; "))
	}
	if d.Routes != nil {
		out = append(out, d.Routes.NotVerified()...)
	}
	return append(out, d.notAsked()...)
}

// unread names the first changes beside the policies. The output lists all of them.
func (d *Difference) unread() string {
	const most = 3
	all := texts(d.Unread)
	if n := len(all) - most; n > 1 {
		all = append(all[:most], fmt.Sprintf("%d more changes beside the policies, see above", n))
	}
	return strings.Join(all, ", ")
}

// notAsked says which policies were not compared.
func (d *Difference) notAsked() []string {
	var out []string
	for _, u := range d.Unasked {
		if !u.Inert {
			out = append(out, "nothing can be said of "+u.Policy+": "+u.Reason)
		}
	}
	if d.Truncated {
		out = append(out, "sampled: not each set of policies that may select one workload was compared, there are too many")
	}
	return out
}

// Failures says why the verdict is bad. A failed confirmation is not among them, see
// [Difference.Confirmed].
func (d *Difference) Failures() []string {
	out := d.notAsked()
	if d.DenyWidening {
		out = d.widenings()
	}
	if d.deniesOthers {
		out = append(out, d.otherChanges()...)
	}
	n := len(d.Warnings)
	if d.Routes != nil {
		n += len(d.Routes.Warnings)
	}
	if d.Strict && n > 0 {
		out = append(out, terminal.Count(n, "warning"))
	}
	return out
}

// Verdict is one line: whether the change passes the checks that were asked for, and why
// not.
func (d *Difference) Verdict() string {
	intro, reasons := d.judge()
	return intro + strings.Join(reasons, "; ")
}

// judge returns how the verdict begins, and the reasons that follow.
func (d *Difference) judge() (intro string, reasons []string) {
	widenings := d.widenings()
	switch failures := d.Failures(); {
	case len(failures) > 0:
		return "fails: ", failures
	case len(widenings) > 0:
		return "access widens, or may widen: ", widenings
	case len(d.Cases) == 0 && d.Routes != nil:
		return "no policy about access is there to compare: routes and timeouts let no caller in", nil
	default:
		return "access does not widen" + d.unproven(), nil
	}
}

// longestVerdict is the length of a verdict that people read as one line, in bytes.
const longestVerdict = 240

// lines returns a verdict for people. Where it is too long for one line, each reason has a line, and the verdict has the first
// of them.
func (d *Difference) lines() (reasons []string, verdict string) {
	verdict = d.Verdict()
	if len(verdict) <= longestVerdict {
		return nil, verdict
	}
	intro, reasons := d.judge()
	if len(reasons) < 2 {
		return nil, verdict
	}
	return reasons, intro + terminal.Abridge(reasons[0]) + "; and " + terminal.Count(len(reasons)-1, "more reason")
}

// classes counts the classes.
func (d *Difference) classes() int {
	n := 0
	for _, c := range d.Cases {
		for _, found := range c.Comparisons {
			n += found.classes
		}
	}
	return n
}

// sampled says of which requests the covers have examples only.
func (d *Difference) sampled() []string {
	var out []string
	for _, c := range d.Cases {
		for _, found := range c.Comparisons {
			out = append(out, found.Cover.Sampled...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
