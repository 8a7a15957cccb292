package diff

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/internal/manifestdiff"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/policy/manifest"
)

// compareBeside compares what stands beside the policies. With symmetric, neither side came first. Routes and
// timeouts count as policies where they are compared.
func compareBeside(old, recent Side, symmetric, routed bool) (manifestdiff.Result, error) {
	was, errOld := old.Manifests()
	is, errNew := recent.Manifests()
	if err := errors.Join(errOld, errNew); err != nil {
		return manifestdiff.Result{}, err
	}
	was.Options, is.Options = old.Options.Document, recent.Options.Document
	for _, released := range dialects.Released(was.Policies, is.Policies) {
		is.Released = append(is.Released, manifestdiff.Released(released))
	}
	if routed {
		was.Services, is.Services = servicesOf(old.Routing), servicesOf(recent.Routing)
	} else {
		was.Uncompared, is.Uncompared = old.Routing, recent.Routing
	}
	return manifestdiff.Compare(was, is, symmetric), nil
}

// servicesOf returns those of routes, timeouts and services that have no rule.
func servicesOf(routing []manifest.Document) []manifest.Document {
	return slices.DeleteFunc(slices.Clone(routing), func(doc manifest.Document) bool {
		return slices.ContainsFunc([]string{"spec.to", "spec.from", "spec.rules"}, func(field string) bool {
			_, has := doc.Lookup(field)
			return has
		})
	})
}

// DenyOtherChanges makes the verdict bad where anything but the policies differs, whether or not it can matter: each
// document, and each file of the folders that is not read.
func (d *Difference) DenyOtherChanges() error {
	was, errOld := d.old.UnreadFiles()
	is, errNew := d.recent.UnreadFiles()
	d.files, d.deniesOthers = manifestdiff.RestOf(was, is), true
	return errors.Join(errOld, errNew)
}

// denied are all differences beside the policies that are not named otherwise, where they are denied.
func (d *Difference) denied() []manifestdiff.Passed {
	if !d.deniesOthers {
		return nil
	}
	return slices.Concat(d.Passed, d.compared, d.files)
}

// otherChanges says what differs although all changes but those of policies are denied.
func (d *Difference) otherChanges() (out []string) {
	if len(d.Unread) > 0 && !d.DenyWidening {
		out = append(out, "more than the policies may change: "+d.unread())
	}
	if denied := d.denied(); len(denied) > 0 {
		out = append(out, "more than the policies changes: "+count(denied)+" beside them: "+some(denied))
	}
	return out
}

// besideTexts are lines about what differs and passes: a note that counts it, or a line for each object where all of it is
// denied.
func (d *Difference) besideTexts() (out []string) {
	if d.deniesOthers {
		for _, text := range texts(d.denied()) {
			out = append(out, "differs: "+text)
		}
		return out
	}
	if len(d.Passed) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("note: beside the policies, %s %s: %s", count(d.Passed), d.passes(), some(d.Passed))}
}

// unproven bounds a good verdict, where differences pass: no class of requests shows that they cannot matter.
func (d *Difference) unproven() string {
	if len(d.Passed) == 0 || d.deniesOthers {
		return ""
	}
	return fmt.Sprintf(" by the policies; %s beside them %s by a table, without a proof", count(d.Passed), d.passes())
}

// passes is the verb of what [Difference.unproven] counts.
func (d *Difference) passes() string {
	if len(d.Passed) == 1 && len(d.Passed[0].Fields) < 2 {
		return "passes"
	}
	return "pass"
}

// count counts the differences, and the objects that have them.
func count(all []manifestdiff.Passed) string {
	n := 0
	for _, p := range all {
		n += max(1, len(p.Fields))
	}
	return terminal.Count(n, "difference") + " in " + terminal.Count(len(all), "object")
}

// some names the first differences, and counts the others.
func some(all []manifestdiff.Passed) string {
	const most = 5
	var out []string
	for _, p := range all {
		for _, field := range p.Fields {
			out = append(out, p.Object+" "+field)
		}
		if len(p.Fields) == 0 {
			out = append(out, p.Object+" "+p.Effect)
		}
	}
	if more := len(out) - most; more > 1 {
		out = append(out[:most], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(out, ", ")
}
