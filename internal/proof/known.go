package proof

import (
	"fmt"
	"io"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/internal/routeverdict"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/internal/verdict"
)

// KnownAnswers are the answers that the built-in cases state, held against what meshproof
// expects. People wrote them from the designs, so that they do not share the mistakes of the
// oracle, the plain evaluator and the compiler: a mistake that all three make alike is found
// here, even if all classes are proven.
type KnownAnswers struct {
	// Answers and Cases count what was held.
	Answers, Cases int
	// Wrong says which answers meshproof contradicts.
	Wrong []string
}

// shared is what the oracle, the plain evaluator and the compiler have in common. Package
// evaluation of each dialect, and package plainpath, share nothing else with them; a test in
// internal/architecture holds that.
const shared = "the parsing of policies, Dataplanes and cases, which oracle, plain evaluator and compiler share"

// text says what the proof rests on.
func (k *KnownAnswers) text() string {
	known := fmt.Sprintf("all %s known answers of %s", terminal.Number(k.Answers), terminal.Count(k.Cases, "built-in case"))
	if n := len(k.Wrong); n > 0 {
		known = fmt.Sprintf("%s of %s known answers of %s are contradicted", terminal.Number(n), terminal.Number(k.Answers), terminal.Count(k.Cases, "built-in case"))
	}
	return "rests on " + shared + "; held against " + known
}

// mostWrong is how many contradicted answers are printed.
const mostWrong = 5

func (k *KnownAnswers) writeText(w io.Writer, p terminal.Paint) {
	for _, wrong := range k.Wrong[:min(len(k.Wrong), mostWrong)] {
		fmt.Fprintf(w, "%s meshproof contradicts a known answer: %s\n", p.Mark(false), terminal.Printable(wrong))
	}
	fmt.Fprintf(w, "%s %s\n", p.Mark(len(k.Wrong) == 0), k.text())
}

// knownJSON is the JSON form of what a proof rests on.
type knownJSON struct {
	Shared  string   `json:"shared"`
	Answers int      `json:"knownAnswers"`
	Cases   int      `json:"cases"`
	Wrong   []string `json:"wrong,omitempty"`
}

func (k *KnownAnswers) form() *knownJSON { return &knownJSON{shared, k.Answers, k.Cases, k.Wrong} }

// CheckKnownAnswers holds the answers of the cases against what meshproof expects on a
// version of Envoy, which behaves as its probes say.
func CheckKnownAnswers(all []cases.Case, envoy string, as behavior.Set) KnownAnswers {
	var out KnownAnswers
	for _, c := range all {
		if !c.Gate.Admits(envoy, as) {
			continue
		}
		out.Cases++
		reading, err := verdict.Read(c)
		if c.ExpectError != "" && err == nil {
			_, err = routeverdict.Read(reading)
		}
		if c.ExpectError != "" || err != nil {
			out.holdRefusal(c, err)
			continue
		}
		reading = reading.OnEnvoy(as)
		for _, q := range c.Requests {
			out.Answers++
			if why := reading.Inbound(q.To).Contradiction(q); why != "" {
				out.Wrong = append(out.Wrong, fmt.Sprintf("%s: %s: %s", q.Place, c.Name, why))
			}
		}
		out.holdRoutes(reading)
	}
	return out
}

// holdRefusal holds what a case says of its policies: that they are refused, and why, or that they are not.
func (k *KnownAnswers) holdRefusal(c cases.Case, err error) {
	k.Answers++
	if c.ExpectError == "" || err == nil || !strings.Contains(err.Error(), c.ExpectError) {
		k.Wrong = append(k.Wrong, fmt.Sprintf("%s: the case expects %q of its policies, meshproof says: %v", c.Place, c.ExpectError, err))
	}
}

// holdRoutes holds the answers of a case about requests through sidecars.
func (k *KnownAnswers) holdRoutes(reading *verdict.Reading) {
	c := reading.Case
	routes, err := routeverdict.Read(reading)
	if err != nil {
		k.Wrong = append(k.Wrong, fmt.Sprintf("%s: %s: %v", c.Place, c.Name, err))
	}
	if err != nil || routes == nil {
		return
	}
	for i, q := range c.RoutedRequests {
		k.Answers++
		if why := routes.Expected[i].Contradiction(q); why != "" {
			k.Wrong = append(k.Wrong, fmt.Sprintf("%s: %s: %s", q.Place, c.Name, why))
		}
	}
}
