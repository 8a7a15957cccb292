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

// lets returns what lets pass each path that listeners of the mesh may let pass: where the mesh config
// says nothing, a case may say what they do.
func (o Options) lets() policy.PathNormalization {
	by := o.Normalization.Path()
	if o.Normalization == Unstated {
		by = None.Path()
	}
	// Not every release drops the parameters of dots.
	by.KeepDotParameters = true
	return by
}

// rewritten says why no request has a path of a policy by then, because the listener rewrites or
// refuses such a path first, and "" where a request may have it. Of a beginning and of an end it
// knows the whole segments.
func (o Options) rewritten(value string) string {
	path, by := value, o.Normalization.Path()
	// Not every release drops the parameters of dots.
	by.KeepDotParameters = true
	switch rest, starts := strings.CutPrefix(value, "*"); {
	case starts && !strings.HasPrefix(rest, "/"):
		return ""
	case starts:
		path = "/x" + rest
	case strings.HasSuffix(value, "*"):
		path = value[:strings.LastIndexByte(value, '/')+1] + "x"
	}
	switch seen, err := by.Apply(path); {
	case err != nil:
		return fmt.Sprintf("with the normalization %s the listener answers such a path with a 400", o.Normalization)
	case seen != path:
		return fmt.Sprintf("with the normalization %s the listener rewrites such a path, here %s to %s, before it is compared", o.Normalization, path, seen)
	}
	return ""
}
