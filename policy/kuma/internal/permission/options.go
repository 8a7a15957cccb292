package permission

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/meshproof/meshproof/policy/kuma/internal/legacy"
	"github.com/meshproof/meshproof/policy/kuma/internal/outbound"
	"github.com/meshproof/meshproof/policy/manifest"
)

// ShadowForm is the shape of the program's shadow. A program has a shadow as soon as
// one allowWithShadowDeny applies.
type ShadowForm uint8

// The forms of the shadow.
const (
	// Accepted is the form of the accepted design. It denies what an
	// allowWithShadowDeny matches, and everything else by "default". So a request that
	// is plainly allowed counts as a shadow denial too.
	Accepted ShadowForm = iota
	// Precise decides as if every allowWithShadowDeny were a deny.
	Precise
)

var shadowFormNames = [...]string{Accepted: "accepted", Precise: "precise"}

// String returns the name used in case files.
func (f ShadowForm) String() string { return shadowFormNames[f] }

// UnmarshalText reads the name used in case files. An unknown name is an error that
// lists the known ones.
func (f *ShadowForm) UnmarshalText(text []byte) error {
	i := slices.Index(shadowFormNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("shadowForm %q is unknown: use %s", text, strings.Join(shadowFormNames[:], " or "))
	}
	*f = ShadowForm(i)
	return nil
}

// Options are what the policies themselves do not say. The zero value is Kuma's
// default.
type Options struct {
	// Option is the design: policies are read and lowered by it.
	Option     Option     `yaml:"kumaOption"`
	ShadowForm ShadowForm `yaml:"shadowForm"`
	// SystemNamespace is the namespace of the control plane, whose policies apply
	// to the workloads of all namespaces; "" means kuma-system.
	SystemNamespace string `yaml:"systemNamespace"`
	// LegacyCompiler compiles policies with from.
	LegacyCompiler legacy.Compiler `yaml:"legacyCompiler"`
	// Routes says what the limits of a route come from.
	Routes outbound.Design `yaml:"kumaRoutes"`
}

// MarshalJSON prints every option that decides about authorization under its key, with the
// defaults filled in. A compiler of authorization is told no other.
func (o Options) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Option          int    `json:"kumaOption"`
		ShadowForm      string `json:"shadowForm"`
		SystemNamespace string `json:"systemNamespace"`
		LegacyCompiler  string `json:"legacyCompiler"`
	}{int(o.Option) + 1, o.ShadowForm.String(), o.ControlPlaneNamespace(), o.LegacyCompiler.String()})
}

// ControlPlaneNamespace is SystemNamespace, or its default.
func (o Options) ControlPlaneNamespace() string { return cmp.Or(o.SystemNamespace, "kuma-system") }

// Option is one of the three designs of MeshTrafficPermission with SPIFFE IDs.
// They let in and refuse the same requests. They differ in how a policy is written,
// in the names that Envoy reports, and in what the shadow says of a plain allow.
type Option uint8

const (
	// Option1 is the accepted design: an inbound policy without matches. Rules are
	// concatenated and each keeps the KRI of its policy.
	Option1 Option = iota
	// Option2 is a single-item policy. The lists of all policies are merged into one
	// conf, and every verdict of that conf has the origin MeshTrafficPermission.
	Option2
	// Option3 has conditions instead of matches. Rules of one action are one group, and
	// a decision tree asks the groups. The origin of a verdict is the action. Its shadow
	// has one form, under each [ShadowForm]: it allows what is plainly allowed.
	Option3
)

const options = 3

// String returns "option1", "option2" or "option3".
func (o Option) String() string { return "option" + strconv.Itoa(int(o)+1) }

// Attribution says on one line which name Envoy reports for a decision.
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

// UnmarshalText reads the text of String, or its number alone. An unknown text is an
// error that lists the known ones.
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

// MergedOrigin is the origin of each verdict that a matcher gives in Option 2. The
// lists of all policies are one list there, so that no single policy can be named,
// and Envoy refuses an action without a name.
const MergedOrigin = KindName
