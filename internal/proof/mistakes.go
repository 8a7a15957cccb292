package proof

import (
	"cmp"
	"slices"

	"github.com/meshproof/meshproof/internal/mistake"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
)

// Mistakes makes the mistakes of a compiler on an inbound: those in its program, and those in the selection of
// its policies. Some of them change no decision, and some are no valid program.
func Mistakes(in verdict.Inbound) []mistake.Mistake {
	return append(mistake.Enumerate(in.Program.Program), mistake.InSelection(selectionOf(in))...)
}

// selectionOf says how the policies of an inbound are selected.
func selectionOf(in verdict.Inbound) mistake.Selection {
	reading := in.Reading()
	s := mistake.Selection{
		Inbound:        in.Inbound.Inbound,
		Program:        func(other policy.Inbound) policy.Program { return reading.Set().Program(other).Program },
		ProgramWithout: in.ProgramWithout,
	}
	for _, other := range reading.Case.Inbounds {
		if other.String() != in.String() {
			s.OtherInbounds = append(s.OtherInbounds, other.Inbound)
		}
	}
	for _, doc := range reading.Case.Policies {
		var named struct {
			Name      string `yaml:"name"`
			Namespace string `yaml:"namespace"`
		}
		of := doc
		if metadata, ok := doc.Lookup("metadata"); ok {
			of = metadata
		}
		// A document whose name cannot be read is told by its place, and one that cannot be read as a value has no texts.
		_ = of.DecodeKnown(&named)
		var whole any
		if doc.Decode(&whole) == nil {
			s.Texts = textsOf(s.Texts, whole)
		}
		s.Policies = append(s.Policies, cmp.Or(named.Name, doc.Place("")))
		if named.Namespace != "" && !slices.Contains(s.Namespaces, named.Namespace) {
			s.Namespaces = append(s.Namespaces, named.Namespace)
		}
	}
	return s
}

// textsOf adds the texts of a value, at any depth.
func textsOf(to []string, value any) []string {
	switch value := value.(type) {
	case string:
		return append(to, value)
	case []any:
		for _, item := range value {
			to = textsOf(to, item)
		}
	case map[string]any:
		for _, of := range value {
			to = textsOf(to, of)
		}
	}
	return to
}

// askMistakes adds, for each mistake of a compiler that no request to the inbound shows so far,
// one that does. Witnesses and their neighbours differ from each other in one value, and some
// mistakes show in two.
func (p *Proof) askMistakes(i int, add func(policy.Request, int)) {
	in := p.Inbounds[i]
	if len(in.Cover.Classes) > mostBordered {
		return
	}
	// decided are the first requests, which show most mistakes, as the program decides them.
	type decided struct {
		request  policy.Request
		decision policy.Decision
	}
	var first []decided
	know := func(r policy.Request) {
		r = in.Placed(r)
		first = append(first, decided{r, policy.Decide(in.Program, r)})
	}
	for n, a := range p.asked {
		if a.inbound == i && len(first) < mostBordered && in.Judges(p.Case.Requests[n]) {
			know(a.request)
		}
	}
	for _, m := range Mistakes(in.Inbound) {
		if slices.ContainsFunc(first, func(d decided) bool { return policy.Decide(m.Program, d.request) != d.decision }) {
			continue
		}
		r, ok := m.Shown(in.Surface(), in.CanJudge, in.Program)
		if !ok {
			continue
		}
		class, known := in.Cover.Locate(r)
		if !known {
			class = classes.Unclassed
		}
		add(r, class)
		know(r)
	}
}
