package verify

import (
	"fmt"
	"io"

	"github.com/meshproof/meshproof/internal/proof"
	"github.com/meshproof/meshproof/internal/sidecar"
	"github.com/meshproof/meshproof/internal/terminal"
)

// Verification is what became of holding a sidecar against policies.
type Verification struct {
	// Replays are the inbounds to be proven, Report what became of them.
	Replays []Replay
	Report  proof.Report
	// Unverified are the inbounds that no proof covers, or not in all that decides.
	Unverified []Unverified
	Findings   []Finding

	sidecar sidecar.Sidecar
	// leftOut are inbounds of Dataplanes that the sidecar is not of.
	leftOut []string
}

// Holds reports whether everything was proven, and decided as specified.
func (v *Verification) Holds() bool { return v.Report.Holds() && len(v.Unverified) == 0 }

// Sentence says in one what was proven, and what was not.
func (v *Verification) Sentence() string {
	text := v.Report.Sentence()
	if n := len(v.Unverified); n > 0 {
		text += fmt.Sprintf("; %s not verified", terminal.Count(n, "inbound"))
	}
	return text
}

// WriteText prints each proof, everything that no proof covers, and a sentence.
func (v *Verification) WriteText(w io.Writer, p terminal.Paint) {
	for _, one := range v.Report.Cases {
		one.WriteText(w, p)
	}
	section := func(title string, lines []string) {
		for _, line := range lines {
			fmt.Fprintf(w, "%s %s\n", p.Yellow(title+":"), terminal.Printable(line))
		}
	}
	section("not verified", lines(v.Unverified))
	section("finding", lines(v.Findings))
	section("unknown", lines(v.sidecar.Unknown))
	section("left out", v.skipped())
	fmt.Fprintf(w, "%s %s (%s)\n", p.Mark(v.Holds()), v.Sentence(), v.Report.Runtime)
}

// skipped returns what was left out of either side.
func (v *Verification) skipped() []string {
	out := append([]string{}, v.leftOut...)
	for _, s := range v.sidecar.Skipped {
		out = append(out, fmt.Sprintf("listener %s: %s", s.Listener, s.Reason))
	}
	return out
}

func lines[T fmt.Stringer](all []T) []string {
	out := make([]string, len(all))
	for i, one := range all {
		out[i] = one.String()
	}
	return out
}

// The JSON form of a verification: that of the proofs, and what they do not cover.
type verificationJSON struct {
	proof.JSON
	Unverified []string `json:"unverified"`
	Findings   []string `json:"findings"`
	Unknown    []string `json:"unknown"`
	LeftOut    []string `json:"leftOut"`
}

// MarshalJSON implements [json.Marshaler].
func (v *Verification) MarshalJSON() ([]byte, error) {
	out := verificationJSON{v.Report.Form(), lines(v.Unverified), lines(v.Findings), lines(v.sidecar.Unknown), v.skipped()}
	out.Sentence = v.Sentence()
	return terminal.MarshalJSON(out)
}
