package diff

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/internal/report/summary"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/terminal"
)

// Difference is what a change of policies changes.
type Difference struct {
	// ToConfirm is true where the changes are to be shown on an Envoy. Envoy is the
	// version that was asked, empty where none was.
	ToConfirm bool
	Envoy     string
	// Cases are the pairs that were compared.
	Cases []Case
	// OnlyOld and OnlyNew name the cases that have no counterpart.
	OnlyOld, OnlyNew []string
}

// ForgetNames leaves out the changes that concern nothing but the names of policies.
func (d *Difference) ForgetNames() {
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

// Changed counts the cases that have a change.
func (d *Difference) Changed() int {
	n := 0
	for _, c := range d.Cases {
		if c.changes() > 0 {
			n++
		}
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

// Confirmed counts what became of the cases that [Difference.Confirm] ran.
func (d *Difference) Confirmed() summary.Tally {
	var results []result.Case
	for _, c := range d.Cases {
		for _, r := range []*result.Case{c.Before, c.After} {
			if r != nil {
				results = append(results, *r)
			}
		}
	}
	return summary.Of(results...)
}

// Widens reports whether a caller gets in who did not before, or may: a case that is new
// has nothing to be compared with.
func (d *Difference) Widens() bool {
	if d.counts()[Widened] > 0 || len(d.OnlyNew) > 0 {
		return true
	}
	return slices.ContainsFunc(d.Cases, func(c Case) bool {
		return slices.ContainsFunc(c.Inbounds, func(change InboundChange) bool { return change.Widens })
	})
}

// classes counts the classes, and reports whether all covers are complete.
func (d *Difference) classes() (n int, complete bool) {
	complete = true
	for _, c := range d.Cases {
		for _, found := range c.Comparisons {
			n += len(found.Cover.Classes)
			complete = complete && found.Cover.Complete()
		}
	}
	return n, complete
}

// Sentence says in one what changes, and what Envoy says of it.
func (d *Difference) Sentence() string {
	n, complete := d.classes()
	classes, cover := terminal.Plural(n, "class", "classes"), "; cover sampled"
	if complete {
		cover = "; cover complete"
	}
	var text string
	if d.Changes() == 0 {
		text = fmt.Sprintf("nothing changes in %s of requests%s", classes, cover)
	} else {
		counts := d.counts()
		text = fmt.Sprintf("%d of %s of requests change: access widens in %d, narrows in %d, the shadow changes in %d, the deciding policy in %d%s",
			d.Changes(), classes, counts[Widened], counts[Narrowed], counts[ShadowChanged], counts[OriginChanged], cover)
	}
	if slices.ContainsFunc(d.Cases, func(c Case) bool { return len(c.Inbounds) > 0 }) {
		text += "; the inbounds change, see above"
	}
	if n := len(d.OnlyOld) + len(d.OnlyNew); n > 0 {
		text += "; " + terminal.Count(n, "case") + " without a counterpart"
	}
	return text + d.evidence()
}

// evidence is what Envoy says of the changes.
func (d *Difference) evidence() string {
	t := d.Confirmed()
	switch {
	case d.ToConfirm && d.Changes() == 0:
		return "; nothing to confirm"
	case d.Envoy == "":
		return ""
	case t.Fault:
		return "; Envoy " + d.Envoy + " gave no answer, see above"
	case t.Failed > 0:
		return "; Envoy " + d.Envoy + " decides otherwise, see above"
	default:
		return "; shown on Envoy " + d.Envoy
	}
}
