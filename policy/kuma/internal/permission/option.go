package permission

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/meshproof/meshproof/policy/manifest"
)

// Option is one of the three designs of MeshTrafficPermission with SPIFFE IDs.
// They decide alike; they differ in how a policy is written, in whom a decision
// is attributed to, and in what the shadow says of a plain allow.
type Option uint8

const (
	// Option1 is the accepted design: an inbound policy without matches. Rules are
	// concatenated and each keeps the KRI of its policy.
	Option1 Option = iota
	// Option2 is a single-item policy: the lists of all policies are merged into one
	// conf, and every verdict of it has the origin MeshTrafficPermission.
	Option2
	// Option3 has conditions in the place of matches: rules of one action are one
	// group, and a decision tree asks the groups. The origin of a verdict is the
	// action. Its shadow has one form: what is plainly allowed is allowed there too,
	// whatever [ShadowForm] says.
	Option3
)

const options = 3

// String returns "option1", "option2" or "option3".
func (o Option) String() string { return "option" + strconv.Itoa(int(o)+1) }

// Attribution says on one line whom Envoy names for a decision.
func (o Option) Attribution() string {
	switch o {
	case Option2:
		return "Envoy names no policy: every action is called " + MergedOrigin
	case Option3:
		return "Envoy names no policy: an action is called Deny, Allow or AllowWithShadowDeny"
	default:
		return "Envoy names the policy that decided, by its KRI"
	}
}

// UnmarshalText reads the text of String, or its number alone; an unknown one is
// an error that lists the known ones.
func (o *Option) UnmarshalText(text []byte) error {
	n, err := strconv.Atoi(strings.TrimPrefix(string(text), "option"))
	if err != nil || n < 1 || n > options {
		return fmt.Errorf("option %q is unknown: use option1, option2 or option3", text)
	}
	*o = Option(n - 1)
	return nil
}

// UnmarshalManifest reads the number used in case files.
func (o *Option) UnmarshalManifest(d manifest.Document) error {
	var n uint8
	if err := d.Decode(&n); err != nil {
		return err
	}
	if n < 1 || n > options {
		return fmt.Errorf("kumaOption %d is unknown: use 1, 2 or 3", n)
	}
	*o = Option(n - 1)
	return nil
}

// mergedOrigin is the origin of every verdict of Option 2 that a matcher gave. Once
// the lists of all policies are one, no single policy can be named; Envoy refuses
// an action without a name.
const MergedOrigin = KindName
