package permission

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/meshproof/meshproof/policy/kuma/internal/legacy"
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
	for i, name := range shadowFormNames {
		if name == string(text) {
			*f = ShadowForm(i)
			return nil
		}
	}
	return fmt.Errorf("shadowForm %q is unknown: use accepted or precise", text)
}

// Options are what the policies themselves do not say. The zero value is Kuma's
// default.
type Options struct {
	// Option is the design by which policies are read and lowered.
	Option     Option     `yaml:"kumaOption"`
	ShadowForm ShadowForm `yaml:"shadowForm"`
	// SystemNamespace is the namespace of the control plane, whose policies apply
	// to the workloads of all namespaces; "" means kuma-system.
	SystemNamespace string `yaml:"systemNamespace"`
	// LegacyCompiler compiles policies with from.
	LegacyCompiler legacy.Compiler `yaml:"legacyCompiler"`
}

// MarshalJSON prints every option under its key, with the defaults filled in.
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
