package verify

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/sidecar"
)

// Gap tells why an inbound is not verified.
type Gap uint8

const (
	// NoPolicies is an inbound of the sidecar without policies.
	NoPolicies Gap = iota
	// NoListener is an inbound of the policies that the sidecar lacks.
	NoListener
	// NotReplayable is an inbound whose filters were not all read.
	NotReplayable
	// OtherJudges is an inbound where something besides RBAC decides too.
	OtherJudges
	// Sampled is an inbound whose classes are not all asked: its filters ask for something
	// that no class can be made for, or there are too many classes.
	Sampled
	// WeakTransport is an inbound that does not demand mTLS.
	WeakTransport
	// Contradicted is an inbound that the sidecar and the policies' side describe
	// differently, so that other decisions may be meant.
	Contradicted
	// Flawed is an inbound whose policies a request passes by a released flaw of the sidecar's Envoy.
	Flawed
	// OtherWorkload is an inbound of the policies, of a workload that the dump is not of.
	OtherWorkload
)

// Unverified is an inbound of either side without a proof, or with a proof of a part only.
type Unverified struct {
	Gap Gap
	// Inbound names it.
	Inbound string
	// Port is the port of an inbound without a listener. Filters is true for an inbound of
	// the sidecar that has filters without a listener.
	Port    uint16
	Filters bool
	// Reasons say what else decides, or which requests are not asked.
	Reasons []string
	// Transport is a transport that is too weak.
	Transport sidecar.Transport
}

// notVerified adds what no proof covers of an inbound, with the reasons that its gap needs.
func (v *Verification) notVerified(gap Gap, inbound string, reasons ...string) {
	v.Unverified = append(v.Unverified, Unverified{Gap: gap, Inbound: inbound, Reasons: reasons})
}

// String names the inbound and the reason.
func (u Unverified) String() string {
	switch u.Gap {
	case NoPolicies:
		about := "on this port"
		if u.Filters {
			about = "of this name"
		}
		return u.Inbound + ": the policies are about no inbound " + about
	case NoListener:
		return fmt.Sprintf("%s: the sidecar has no inbound on port %d", u.Inbound, u.Port)
	case NotReplayable:
		return u.Inbound + ": a part of its filters cannot be replayed, see unknown"
	case Sampled:
		return u.Inbound + ": not all of its requests can be asked: " + strings.Join(u.Reasons, "; ")
	case WeakTransport:
		return fmt.Sprintf("%s: its transport is %s: callers need no certificate of the mesh", u.Inbound, u.Transport)
	default:
		return u.Inbound + ": " + strings.Join(u.Reasons, "; ")
	}
}

// mostNamed bounds the inbounds that one line names.
const mostNamed = 3

// joinInbounds returns an entry for each reason, with the names of all inbounds that it holds for.
func joinInbounds(all []Unverified) (out []Unverified) {
	var names [][]string
	for _, u := range all {
		name := u.Inbound
		u.Inbound = ""
		i := slices.IndexFunc(out, func(other Unverified) bool { return reflect.DeepEqual(other, u) })
		if i < 0 {
			i = len(out)
			out, names = append(out, u), append(names, nil)
		}
		if !slices.Contains(names[i], name) {
			names[i] = append(names[i], name)
		}
	}
	for i := range out {
		if more := len(names[i]) - mostNamed; more > 1 {
			names[i] = append(names[i][:mostNamed], fmt.Sprintf("%d more", more))
		}
		out[i].Inbound = strings.Join(names[i], ", ")
	}
	return out
}
