// Package verify compares the filters of a live sidecar with policies. It matches the
// inbounds of the sidecar with the inbounds of the policies, plans a proof for each pair,
// and names everything that no proof covers.
//
// It guarantees that nothing is passed over: each inbound of either side is proven, or
// unverified for a reason, or left out because the sidecar belongs to another Dataplane. It
// reads no files and starts no Envoy.
package verify

import (
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/advisory"
	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/openregex"
	"github.com/meshproof/meshproof/internal/proof"
	"github.com/meshproof/meshproof/internal/sidecar"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/policy"
)

// Verification is the result of comparing a sidecar with policies.
type Verification struct {
	// Replays are the inbounds to prove, Report has the results.
	Replays []Replay
	Report  proof.Report
	// Unverified are the inbounds that no proof covers, or covers only in part.
	Unverified []Unverified
	Findings   []Finding
	// Advisories name the released flaws of the Envoy that was asked.
	Advisories []string

	sidecar sidecar.Sidecar
	// pod are the addresses of the pod, as Istio's agent states them.
	pod []netip.Addr
	// guessed is set where neither the sidecar nor the user names the Envoy.
	guessed bool
	// namedRelease is set where the user takes a release for the sidecar's own build of it.
	namedRelease bool
	// leftOut are the inbounds of other Dataplanes.
	leftOut []string
	// described are the inbounds that files describe, or flags with a port.
	described []policy.Inbound
}

// Holds reports whether everything was proven, and decided as specified. Where nothing was
// asked, nothing is proven.
func (v *Verification) Holds() bool {
	return len(v.Report.Cases) > 0 && v.Report.Holds() && len(v.unverified(v.Unverified)) == 0
}

// Envoy returns the version that the sidecar states of itself, empty where it states none.
func (v *Verification) Envoy() string { return v.sidecar.Envoy }

// SetEnvoy says which Envoy is asked, whether the user named it, and how it behaves. Releases decide
// differently, so another Envoy than the sidecar's verifies nothing. Where the sidecar states no
// version, the user has to name it.
func (v *Verification) SetEnvoy(version, runtime string, named bool, behaves behavior.Set) {
	v.Report.Envoy, v.Report.Runtime = version, runtime
	for _, replay := range v.Replays {
		reason := openregex.Doubt(replay.Filters, replay.Proof.Case.Normalization, behaves)
		if reason == "" {
			continue
		}
		for _, name := range replay.Inbounds {
			v.notVerified(Sampled, name, reason)
		}
	}
	if named && v.isBuildOf(version) {
		v.namedRelease = true
		v.Findings = append(v.Findings, Finding{Fact: BuildOfRelease, Inbound: "the sidecar", Envoy: version, Build: v.sidecar.Envoy})
	}
	hasListeners := slices.ContainsFunc(v.sidecar.Inbounds, func(in sidecar.Inbound) bool { return in.Address.IsValid() })
	if hasListeners && !v.sidecar.IsDump {
		v.Findings = append(v.Findings, Finding{Fact: NoDump, Inbound: "the sidecar"})
	}
	if hasListeners && v.sidecar.Envoy == "" {
		if named {
			v.Findings = append(v.Findings, Finding{Fact: NoVersion, Inbound: "the sidecar", Envoy: version})
		} else {
			v.guessed = true
		}
	}
}

// SetAdvisories names the released flaws of the Envoy that was asked. Where a request passes the policies by one of them, the inbound is
// not verified: each request that a class has shows what the policies mean, and none of them makes use of a flaw.
func (v *Verification) SetAdvisories(known []advisory.Advisory, behaves behavior.Set) {
	v.Advisories = advisory.PresentIn(known, behaves)
	for _, replay := range v.Replays {
		passing := advisory.Bypassed(known, replay.Proof.Reading, behaves)
		for _, name := range replay.Inbounds {
			if len(passing) > 0 {
				v.notVerified(Flawed, name, passing...)
			}
		}
	}
}

// guess is what is not verified where nothing names the sidecar's Envoy.
const guess = "the sidecar's Envoy: the dump does not state its version, and Envoy %s was asked: name the version by --envoy"

// isOtherEnvoy reports whether another Envoy than the sidecar's was asked.
func (v *Verification) isOtherEnvoy() bool {
	return v.sidecar.Envoy != "" && v.Report.Envoy != v.sidecar.Envoy && !v.namedRelease
}

// isBuildOf reports whether the sidecar's Envoy is a build with a label, such as 1.40.0-dev, that has the
// number of the release.
func (v *Verification) isBuildOf(release string) bool {
	number, _, labelled := strings.Cut(v.sidecar.Envoy, "-")
	return labelled && number == release
}

// unverified returns everything that no proof covers, of the given inbounds and of the Envoy.
func (v *Verification) unverified(inbounds []Unverified) []string {
	out := lines(inbounds)
	if v.guessed {
		out = append(out, fmt.Sprintf(guess, v.Report.Envoy))
	}
	if v.isOtherEnvoy() {
		text := fmt.Sprintf("Envoy %s, which the sidecar runs: Envoy %s was asked, and releases decide differently", v.sidecar.Envoy, v.Report.Envoy)
		if v.isBuildOf(v.Report.Envoy) {
			text += fmt.Sprintf(": it is no release; --envoy %s takes the release for it", v.Report.Envoy)
		}
		out = append(out, text)
	}
	return out
}

// Sentence says in one sentence what was proven, and what was not.
func (v *Verification) Sentence() string {
	text := v.Report.Sentence()
	unverified := map[string]bool{}
	for _, u := range v.Unverified {
		unverified[u.Inbound] = true
	}
	if n := len(unverified); n > 0 {
		text += fmt.Sprintf("; %s not verified", terminal.Count(n, "inbound"))
	}
	if v.isOtherWorkload() {
		text += "; the dump is that of another workload"
	}
	if v.guessed {
		text += "; not verified on the sidecar's Envoy"
	}
	if v.isOtherEnvoy() {
		text += "; not verified on Envoy " + v.sidecar.Envoy
	}
	return text
}

// isOtherWorkload reports whether the policies are asked for another workload than that of the dump. What they say of it says
// nothing of the sidecar.
func (v *Verification) isOtherWorkload() bool {
	return slices.ContainsFunc(v.Unverified, func(u Unverified) bool { return u.Gap == OtherWorkload })
}

// WriteText prints each proof, everything that no proof covers, and a sentence.
func (v *Verification) WriteText(w io.Writer, p terminal.Paint) {
	for _, one := range v.Report.Cases {
		if v.isOtherWorkload() {
			fmt.Fprintf(w, "%s %s: of another workload, its requests are left out here\n", p.Mark(false), terminal.Printable(one.Result.Case.Name))
			continue
		}
		one.WriteText(w, p)
	}
	section := func(title string, lines []string) {
		for _, line := range lines {
			fmt.Fprintf(w, "%s %s\n", p.Yellow(title+":"), terminal.Printable(line))
		}
	}
	section("not verified", v.unverified(joinInbounds(v.Unverified)))
	section("finding", lines(v.Findings))
	unknown, notes := v.unknown()
	section("advisory", v.Advisories)
	section("unknown", unknown)
	section("note", notes)
	section("left out", v.skipped())
	fmt.Fprintf(w, "%s %s (%s)\n", p.Mark(v.Holds()), v.Sentence(), v.Report.Runtime)
}

// unknown returns what of the sidecar is not understood, and what is known to be harmless.
func (v *Verification) unknown() (unknown, notes []string) {
	unknown, notes = []string{}, []string{}
	for _, u := range v.sidecar.Unknown {
		if u.Kind == dump.Note {
			notes = append(notes, u.String())
		} else {
			unknown = append(unknown, u.String())
		}
	}
	return unknown, notes
}

// skipped returns what was left out of either side.
func (v *Verification) skipped() []string {
	out := append([]string{}, v.leftOut...)
	for _, s := range v.sidecar.Skipped {
		out = append(out, fmt.Sprintf("listener %s: %s", s.Listener, s.Reason))
	}
	return out
}

// equal returns the inbounds of each proof that is for several of them.
func (v *Verification) equal() map[string][]string {
	out := map[string][]string{}
	for _, r := range v.Replays {
		if len(r.Inbounds) > 1 {
			out[r.Proof.Case.Name] = r.Inbounds
		}
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

// verificationJSON is the JSON form of a verification: the proofs, and what they do not
// cover.
type verificationJSON struct {
	proof.JSON
	Unverified []string `json:"unverified"`
	Findings   []string `json:"findings"`
	Advisories []string `json:"advisories,omitempty"`
	Unknown    []string `json:"unknown"`
	Notes      []string `json:"notes"`
	LeftOut    []string `json:"leftOut"`
	// Equal has the inbounds of each case that is for several of them.
	Equal map[string][]string `json:"equal,omitempty"`
}

// MarshalJSON implements [json.Marshaler].
func (v *Verification) MarshalJSON() ([]byte, error) {
	unknown, notes := v.unknown()
	out := verificationJSON{v.Report.Form(), v.unverified(v.Unverified), lines(v.Findings), v.Advisories, unknown, notes, v.skipped(), v.equal()}
	out.Sentence, out.Holds = v.Sentence(), v.Holds()
	return terminal.MarshalJSON(out)
}

// Fact tells what a finding is.
type Fact uint8

const (
	// OtherProtocol is a listener of another layer than the inbound. The policies decide
	// alike on both, or it is a gap.
	OtherProtocol Fact = iota
	// OtherAddress is a listener with another address than the Dataplane states. The inbound
	// has a listener on its own address too, or it is a gap.
	OtherAddress
	// OtherFamily is a listener whose socket gets no connections of the family of the Dataplane's address. The inbound has
	// a listener for them too, or it is a gap.
	OtherFamily
	// Unguarded is an inbound without an authorization filter.
	Unguarded
	// NoVersion is a sidecar that does not state its version.
	NoVersion
	// BuildOfRelease is a sidecar whose Envoy is no release, for which the user named the release of its
	// number.
	BuildOfRelease
	// OtherTrustDomain is a sidecar whose rules name callers of another trust domain than those of the policies.
	OtherTrustDomain
	// NoDump is a sidecar of which there are listeners alone, as files, and no dump.
	NoDump
	// PassesOn is a listener of a transparent proxy, for the connections that no inbound gets.
	PassesOn
)

// Finding is a fact about an inbound of the sidecar that no policy speaks of.
type Finding struct {
	Fact Fact
	// Inbound names it.
	Inbound string
	// Found is the protocol of the listener, Wanted the protocol of the inbound.
	Found, Wanted policy.Protocol
	// Address is the address of the Dataplane.
	Address string
	// Envoy is the version that was asked, and Build the build that the sidecar runs.
	Envoy, Build string
	// Named is a trust domain that the sidecar's rules name, and Read one that those of the policies name.
	Named, Read string
}

// String names the inbound and the fact.
func (f Finding) String() string { return f.Inbound + ": " + f.text() }

func (f Finding) text() string {
	switch f.Fact {
	case OtherProtocol:
		return fmt.Sprintf("it is a %s listener, the inbound speaks %s", f.Found, f.Wanted)
	case OtherAddress:
		return "its address is not the Dataplane's, " + f.Address
	case OtherFamily:
		return "its socket takes no connections to the Dataplane's address, " + f.Address
	case BuildOfRelease:
		return fmt.Sprintf("it runs Envoy %s, a build that is no release, and Envoy %s was asked as the user named it: what its build changes is not known", f.Build, f.Envoy)
	case OtherTrustDomain:
		return fmt.Sprintf("its rules name callers of the trust domain %s, and those of the policies callers of %s: where %[1]s is that of the mesh, write --trust-domain %[1]s", f.Named, f.Read)
	case PassesOn:
		return "connections to addresses and ports of this machine that no inbound has pass here, and no policy is about them: those to 127.0.0.1 too, where a network brings packets for that address"
	case NoDump:
		return "its listeners stand in files without a dump: nothing shows whether it has others, and its clusters, its CAs and its runtime keys. For a live sidecar, take the whole answer to /config_dump"
	case NoVersion:
		return fmt.Sprintf("it does not state its version, Envoy %s was asked", f.Envoy)
	default:
		return "it has no authorization filter that enforces: every caller passes"
	}
}

// contradicts returns the gap of a finding for which other decisions may be meant.
func (f Finding) contradicts(why string) Unverified {
	return Unverified{Gap: Contradicted, Inbound: f.Inbound, Reasons: []string{f.text() + ": " + why}}
}
