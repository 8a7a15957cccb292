package main

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/internal/proof"
	"github.com/meshproof/meshproof/internal/report/summary"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/terminal"
)

// difference is what diff prints.
type difference struct {
	// asked says that changes are to be confirmed; envoy is the version that was asked,
	// empty where none was.
	asked bool
	envoy string
	all   []compared
	// onlyOld and onlyNew name the cases that have no counterpart.
	onlyOld, onlyNew []string
}

// compared is one pair with what differs, and what Envoy says of it.
type compared struct {
	pair
	found         []proof.Comparison
	before, after *result.Case
}

// forgetNames leaves out the changes that are of nothing but names.
func (c *compared) forgetNames() {
	for i := range c.found {
		c.found[i].Changes = slices.DeleteFunc(c.found[i].Changes, func(change proof.Change) bool { return change.Kind() == proof.OriginChanged })
	}
}

func (c compared) changes() int {
	n := 0
	for _, found := range c.found {
		n += len(found.Changes)
	}
	return n
}

func (d *difference) changes() int {
	n := 0
	for _, one := range d.all {
		n += one.changes()
	}
	return n
}

// changed is how many pairs have a change.
func (d *difference) changed() int {
	n := 0
	for _, one := range d.all {
		if one.changes() > 0 {
			n++
		}
	}
	return n
}

// counts are the changes by kind.
func (d *difference) counts() map[proof.Kind]int {
	out := map[proof.Kind]int{}
	for _, one := range d.all {
		for _, found := range one.found {
			for _, change := range found.Changes {
				out[change.Kind()]++
			}
		}
	}
	return out
}

// confirmed is what the results come to.
func (d *difference) confirmed() summary.Tally {
	var results []result.Case
	for _, one := range d.all {
		for _, r := range []*result.Case{one.before, one.after} {
			if r != nil {
				results = append(results, *r)
			}
		}
	}
	return summary.Of(results...)
}

func (d *difference) exit(denyWidening bool) error {
	if err := exitOf(d.confirmed()); err != nil {
		return err
	}
	if denyWidening && d.widens() {
		return &exitError{code: exitDiffers}
	}
	return nil
}

// widens reports whether somebody gets in who did not before, or a case is new, so that
// nobody can tell.
func (d *difference) widens() bool {
	if d.counts()[proof.Widened] > 0 || len(d.onlyNew) > 0 {
		return true
	}
	return slices.ContainsFunc(d.all, func(one compared) bool {
		return slices.ContainsFunc(one.inbounds, func(c inboundChange) bool { return c.widens })
	})
}

// classes is how many classes there are, and whether the covers are complete.
func (d *difference) classes() (n int, complete bool) {
	complete = true
	for _, one := range d.all {
		for _, found := range one.found {
			n += len(found.Cover.Classes)
			complete = complete && found.Cover.Complete()
		}
	}
	return n, complete
}

// sentence is what it all comes to.
func (d *difference) sentence() string {
	classes, complete := d.classes()
	var text string
	if d.changes() == 0 {
		text = fmt.Sprintf("nothing changes in %s of requests%s", countClasses(classes), coverText(complete))
	} else {
		counts := d.counts()
		text = fmt.Sprintf("%d of %s of requests change: access widens in %d, narrows in %d, the shadow changes in %d, the deciding policy in %d%s",
			d.changes(), countClasses(classes), counts[proof.Widened], counts[proof.Narrowed], counts[proof.ShadowChanged], counts[proof.OriginChanged], coverText(complete))
	}
	inbounds := 0
	for _, one := range d.all {
		inbounds += len(one.inbounds)
	}
	if inbounds > 0 {
		text += "; the inbounds change, see above"
	}
	if n := len(d.onlyOld) + len(d.onlyNew); n > 0 {
		text += "; " + terminal.Count(n, "case") + " without a counterpart"
	}
	return text + d.evidence()
}

// evidence is what Envoy says of the changes.
func (d *difference) evidence() string {
	s := d.confirmed()
	switch {
	case d.asked && d.changes() == 0:
		return "; nothing to confirm"
	case d.envoy == "":
		return ""
	case s.Fault:
		return "; Envoy " + d.envoy + " gave no answer, see above"
	case s.Failed > 0:
		return "; Envoy " + d.envoy + " decides otherwise, see above"
	default:
		return "; shown on Envoy " + d.envoy
	}
}

func countClasses(n int) string {
	if n == 1 {
		return "1 class"
	}
	return fmt.Sprintf("%d classes", n)
}

func coverText(complete bool) string {
	if complete {
		return "; cover complete"
	}
	return "; cover sampled"
}
