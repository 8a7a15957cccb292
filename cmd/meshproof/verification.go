package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/xds/sidecar"
)

// verification is what verify prints.
type verification struct {
	sidecar sidecar.Sidecar
	replays []replay
	// unverified are inbounds that the policies are about, or the sidecar has, and that
	// could not be held against each other, with the reason.
	unverified []string
	// findings are facts about the sidecar that no policy speaks of.
	findings []string
	proven   provenAll
}

// match puts the sidecar's inbounds and those that policies are about together, by their
// ports. Where the flags describe the workload, it has whatever ports the sidecar has,
// unless one was named.
func (v *verification) match(subjects []cases.Case, portNamed bool) error {
	type known struct {
		c       cases.Case
		in      cases.Inbound
		claimed bool
	}
	var inbounds []*known
	for _, c := range subjects {
		for _, in := range c.Inbounds {
			inbounds = append(inbounds, &known{c: c, in: in})
		}
	}
	open := len(inbounds) == 1 && subjects[0].Source == "" && !portNamed
	for _, enforced := range v.sidecar.Inbounds {
		// A folder may have filters without a listener around them.
		bare := !enforced.Address.IsValid()
		title := "filters of " + enforced.Listener
		if !bare {
			title = fmt.Sprintf("listener %s (%s)", enforced.Listener, enforced.Address)
		}
		var of *known
		for _, k := range inbounds {
			if isOf(enforced, k.in) || open {
				of = k
				break
			}
		}
		switch {
		case of == nil:
			v.unverified = append(v.unverified, title+": the policies are about no inbound on this port")
			continue
		case enforced.Incomplete:
			of.claimed = true
			v.unverified = append(v.unverified, title+": a part of its filters cannot be replayed, see unknown")
			continue
		}
		of.claimed = true
		in := of.in
		if open && !bare {
			in.Port = enforced.Address.Port()
		}
		if in.Protocol.Layer() != enforced.Protocol.Layer() {
			in.Protocol = enforced.Protocol
			if !open {
				v.findings = append(v.findings, fmt.Sprintf("%s: it is a %s listener, the inbound speaks %s", title, enforced.Protocol, of.in.Protocol))
			}
		}
		if enforced.Unguarded() {
			v.findings = append(v.findings, title+": it has no authorization filter: whoever gets there passes")
		}
		if enforced.Transport != sidecar.MutualTLS && !bare {
			v.findings = append(v.findings, fmt.Sprintf("%s: its transport is %s: an identity is no better than that", title, enforced.Transport))
		}
		r, err := newReplay(of.c, in, enforced)
		if err != nil {
			return err
		}
		v.replays = append(v.replays, r)
	}
	for _, k := range inbounds {
		if !k.claimed {
			v.unverified = append(v.unverified, fmt.Sprintf("%s: the sidecar has no inbound on port %d", k.in, k.in.Port))
		}
	}
	return nil
}

// isOf reports whether what a sidecar enforces is for an inbound: the port tells, or the
// name that compile gives to filters.
func isOf(enforced sidecar.Inbound, in cases.Inbound) bool {
	if !enforced.Address.IsValid() {
		return enforced.Chain == in.String()
	}
	return enforced.Address.Port() == in.Port
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

func (v *verification) writeText(w io.Writer, p paint) {
	for _, one := range v.proven.all {
		one.writeText(w, p, v.proven.envoy)
	}
	section := func(title string, lines []string) {
		for _, line := range lines {
			fmt.Fprintf(w, "%s %s\n", p.yellow(title+":"), printable(line))
		}
	}
	section("not verified", v.unverified)
	section("finding", v.findings)
	section("unknown", v.unknown())
	section("left out", v.skipped())
	fmt.Fprintf(w, "%s %s (%s)\n", p.mark(v.exit() == nil), v.proven.sentence(), v.proven.runtime)
}

func (v *verification) unknown() []string {
	var out []string
	for _, u := range v.sidecar.Unknown {
		out = append(out, u.String())
	}
	return out
}

func (v *verification) skipped() []string {
	var out []string
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
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(jsonVerification{v.proven.json(), v.unverified, v.findings, v.unknown(), v.skipped()})
}
