package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/sidecar"
	"github.com/meshproof/meshproof/internal/terminal"
)

// verification is what verify prints.
type verification struct {
	sidecar sidecar.Sidecar
	replays []replay
	// unverified has an entry for each inbound that the policies are about, or the sidecar
	// has, and that nothing was held against, or not all that decides, with the reason.
	unverified []string
	// leftOut are inbounds of Dataplanes that the sidecar is not of.
	leftOut []string
	// findings are facts about the sidecar that no policy speaks of.
	findings []string
	proven   provenAll
}

// match puts the sidecar's inbounds and those that policies are about together: by the
// address of the Dataplane, and by their ports.
func (v *verification) match(subjects []*verifySubject) error {
	isElsewhere := elsewhere(subjects, v.sidecar)
	var here []*verifySubject
	for _, s := range subjects {
		if isElsewhere(s) {
			v.leftOut = append(v.leftOut, fmt.Sprintf("%s: the sidecar is of another Dataplane, for it does not listen on %s", verifyName(s.in.Inbound), s.addresses[0]))
			continue
		}
		here = append(here, s)
	}
	for _, enforced := range v.sidecar.Inbounds {
		of, err := claimant(here, enforced)
		if err != nil {
			return err
		}
		if of == nil {
			about := "on this port"
			if !enforced.Address.IsValid() {
				about = "of this name"
			}
			v.unverified = append(v.unverified, enforcedTitle(enforced)+": the policies are about no inbound "+about)
			continue
		}
		of.claimed = true
		if err := v.claim(of, enforced); err != nil {
			return err
		}
	}
	for _, s := range here {
		if !s.claimed {
			v.unverified = append(v.unverified, fmt.Sprintf("%s: the sidecar has no inbound on port %d", s.in, s.in.Port))
		}
	}
	return nil
}

// claim plans the replay of what the sidecar enforces for an inbound, and says what is
// against taking it for the whole truth.
func (v *verification) claim(of *verifySubject, enforced sidecar.Inbound) error {
	title, bare := enforcedTitle(enforced), !enforced.Address.IsValid()
	if enforced.Incomplete {
		v.unverified = append(v.unverified, title+": a part of its filters cannot be replayed, see unknown")
		return nil
	}
	find := func(format string, a ...any) {
		v.findings = append(v.findings, title+": "+fmt.Sprintf(format, a...))
	}
	in := of.in
	if of.described && !bare {
		in.Port = enforced.Address.Port()
	}
	if in.Protocol.Layer() != enforced.Protocol.Layer() {
		if !of.described {
			find("it is a %s listener, the inbound speaks %s", enforced.Protocol, in.Protocol)
		}
		in.Protocol = enforced.Protocol
	}
	ip := enforced.Address.Addr()
	if len(of.addresses) > 0 && !bare && !ip.IsUnspecified() && !of.at(ip) {
		find("its address is not that of the Dataplane, %s", of.addresses[0])
	}
	if enforced.Unguarded() {
		find("it has no authorization filter: whoever gets there passes")
	}
	if enforced.Transport != sidecar.MutualTLS && !bare {
		find("its transport is %s: an identity is no better than that", enforced.Transport)
	}
	if beyond := v.beyond(enforced); len(beyond) > 0 {
		v.unverified = append(v.unverified, title+": "+strings.Join(beyond, "; "))
	}
	r, err := newReplay(of.c.Case, in, enforced)
	if err != nil {
		return err
	}
	v.replays = append(v.replays, r)
	return nil
}

// beyond is what decides about requests to an inbound, and that no replay of its RBAC
// filters asks.
func (v *verification) beyond(enforced sidecar.Inbound) []string {
	var out []string
	for _, u := range v.sidecar.Of(enforced) {
		if u.Kind != sidecar.Opaque && (u.Kind != sidecar.Beside || u.Position != sidecar.InFront) {
			continue
		}
		reason := u.Reason
		if u.Filter != "" {
			reason = fmt.Sprintf("filter %q: %s", u.Filter, reason)
		}
		if !slices.Contains(out, reason) {
			out = append(out, reason)
		}
	}
	return out
}

func (v *verification) exit() error {
	if err := v.proven.exit(); err != nil {
		return err
	}
	if len(v.unverified) > 0 {
		return &exitError{code: exitDiffers}
	}
	return nil
}

func (v *verification) writeText(w io.Writer, p terminal.Paint) {
	for _, one := range v.proven.all {
		one.writeText(w, p, v.proven.envoy)
	}
	section := func(title string, lines []string) {
		for _, line := range lines {
			fmt.Fprintf(w, "%s %s\n", p.Yellow(title+":"), terminal.Printable(line))
		}
	}
	section("not verified", v.unverified)
	section("finding", v.findings)
	section("unknown", v.unknown())
	section("left out", v.skipped())
	fmt.Fprintf(w, "%s %s (%s)\n", p.Mark(v.exit() == nil), v.sentence(), v.proven.runtime)
}

// sentence is what it all comes to.
func (v *verification) sentence() string {
	text := v.proven.sentence()
	if n := len(v.unverified); n > 0 {
		text += fmt.Sprintf("; %s not verified", terminal.Count(n, "inbound"))
	}
	return text
}

func (v *verification) unknown() []string {
	out := []string{}
	for _, u := range v.sidecar.Unknown {
		out = append(out, u.String())
	}
	return out
}

func (v *verification) skipped() []string {
	out := append([]string{}, v.leftOut...)
	for _, s := range v.sidecar.Skipped {
		out = append(out, fmt.Sprintf("listener %s: %s", s.Listener, s.Reason))
	}
	return out
}

// The JSON form of a verification: that of a proof, and what could not be proven.
type jsonVerification struct {
	jsonProof
	Unverified []string `json:"unverified"`
	Findings   []string `json:"findings"`
	Unknown    []string `json:"unknown"`
	LeftOut    []string `json:"leftOut"`
}

func (v *verification) writeJSON(w io.Writer) error {
	out := jsonVerification{
		jsonProof: v.proven.json(), Unverified: append([]string{}, v.unverified...), Findings: append([]string{}, v.findings...),
		Unknown: v.unknown(), LeftOut: v.skipped(),
	}
	out.Sentence = v.sentence()
	return terminal.WriteJSON(w, out)
}
