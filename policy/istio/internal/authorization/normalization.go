package authorization

import (
	"fmt"
	"strings"

	"github.com/meshproof/meshproof/policy"
)

// Normalization is pathNormalization.normalization of Istio's mesh config.
type Normalization uint8

// The values, see MeshConfig.ProxyPathNormalization of istio.io/api. Unstated is Istio's
// default, which is that of Base.
const (
	Unstated Normalization = iota
	None
	Base
	MergeSlashes
	DecodeAndMergeSlashes
)

var normalizations = [...]struct {
	name string
	path policy.PathNormalization
}{
	Unstated:              {"DEFAULT", policy.PathNormalization{KeepSlashes: true, EscapedSlashes: policy.KeepEscapedSlashes}},
	None:                  {"NONE", policy.PathNormalization{Raw: true, KeepSlashes: true, EscapedSlashes: policy.KeepEscapedSlashes}},
	Base:                  {"BASE", policy.PathNormalization{KeepSlashes: true, EscapedSlashes: policy.KeepEscapedSlashes}},
	MergeSlashes:          {"MERGE_SLASHES", policy.PathNormalization{EscapedSlashes: policy.KeepEscapedSlashes}},
	DecodeAndMergeSlashes: {"DECODE_AND_MERGE_SLASHES", policy.PathNormalization{EscapedSlashes: policy.UnescapeSlashes}},
}

// String returns the name that Istio has.
func (n Normalization) String() string { return normalizations[n].name }

// Path returns what a listener does.
func (n Normalization) Path() policy.PathNormalization { return normalizations[n].path }

// UnmarshalText reads the name that Istio has; an unknown one is an error that lists the known
// ones.
func (n *Normalization) UnmarshalText(text []byte) error {
	var known []string
	for i, of := range normalizations {
		if of.name == string(text) {
			*n = Normalization(i)
			return nil
		}
		known = append(known, of.name)
	}
	return fmt.Errorf("normalization %q is unknown: use one of %s", text, strings.Join(known, ", "))
}
