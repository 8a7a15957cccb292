package diff

import (
	"cmp"

	"github.com/meshproof/meshproof/internal/report/markdown"
	"github.com/meshproof/meshproof/policy"
)

// Markdown returns the changes for a comment on a pull request: the verdict, a row for each
// class that is decided otherwise, and what was made, not asked and warned of.
func (d *Difference) Markdown() string {
	reasons, verdict := d.lines()
	paragraphs := []string{d.mark() + " " + verdict}
	for _, reason := range reasons {
		paragraphs = append(paragraphs, "reason: "+reason)
	}
	if len(d.Cases) > 0 {
		paragraphs = append(paragraphs, d.Sentence())
	}
	for _, name := range d.OnlyOld {
		paragraphs = append(paragraphs, "only in OLD: "+name)
	}
	for _, name := range d.OnlyNew {
		paragraphs = append(paragraphs, "only in NEW: "+name)
	}
	var rows [][]string
	for _, one := range d.Cases {
		for _, in := range one.Inbounds {
			paragraphs = append(paragraphs, one.New.Name+": inbound "+in.Text)
		}
		paragraphs = append(paragraphs, one.errors()...)
		for _, found := range one.Comparisons {
			for _, c := range found.Changes {
				rows = append(rows, []string{kindSigns[c.Kind()] + " " + c.Kind().words(), found.Inbound.String(), c.Text, witnessText(c), c.Old.cell(shadowChanges(c)), c.New.cell(shadowChanges(c))})
			}
		}
	}
	if d.Assumed != "" {
		paragraphs = append(paragraphs, "assumed: "+d.Assumed)
	}
	for _, list := range []struct {
		title string
		texts []string
	}{{"not asked: ", texts(d.Unasked)}, {"not read: ", texts(d.Unread)}, {"warning: ", texts(d.Warnings)}, {"made: ", d.made()}, {"", d.firstTexts()}, {"", d.domainTexts()}, {"", d.besideTexts()}} {
		for _, text := range list.texts {
			paragraphs = append(paragraphs, list.title+text)
		}
	}
	if d.Routes != nil {
		paragraphs, rows = append(paragraphs, d.Routes.Paragraphs()...), append(rows, d.Routes.Rows()...)
	}
	return markdown.Sheet("What the change of policies decides otherwise", paragraphs, []string{"effect", "inbound", "requests", "such as", "old", "new"}, rows)
}

// text is the rule that decides, with the form of a refusal that differs in nothing else.
func (o Opinion) text() string { return o.formed(o.rule()) }

// formed is a text of what decides, with the form of the refusal.
func (o Opinion) formed(text string) string {
	if o.form == "" {
		return text
	}
	return text + " (" + o.form + ")"
}

// rule is the rule that decides.
func (o Opinion) rule() string {
	if o.Decision.Effect == policy.NoRoute {
		return cmp.Or(o.Reason, "no route takes the request: nothing judges it")
	}
	return cmp.Or(o.Reason, o.Decision.Verdict.String()+": no policy applies")
}

// placedText is the rule that decides, with its place.
func (o Opinion) placedText() string {
	if o.Place == "" {
		return o.text()
	}
	return o.Place + ": " + o.text()
}

// cell is what decides, for a row that says the requests: a rule that has a place goes by its name and that place. It has
// the shadow where that changes.
func (o Opinion) cell(shadow bool) string {
	out, observed := o.text(), "none"
	if o.Place != "" {
		out = o.formed(o.Place + ": " + o.Decision.Verdict.String())
	}
	if !shadow {
		return out
	}
	if o.Decision.Shadowed {
		observed = o.Decision.Shadow.String()
	}
	if o.ShadowPlace != "" {
		observed = o.ShadowPlace + ": " + observed
	}
	return out + "; shadow " + observed
}
