package authorization

import (
	"cmp"
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

// WithListeners returns the options of a case that says how listeners normalize paths, beside the mesh
// config. The zero value says nothing.
func (o Options) WithListeners(n policy.PathNormalization) Options {
	o.listeners = n
	return o
}

// listens returns how listeners normalize paths, and what states it; "" where it is Istio's default.
func (o Options) listens() (by policy.PathNormalization, stated string) {
	switch own := o.Normalization.Path(); {
	case o.listeners != (policy.PathNormalization{}) && o.listeners != own:
		return o.listeners, "the pathNormalization of the case"
	case o.Normalization != Unstated:
		return own, "the normalization " + o.Normalization.String()
	default:
		return own, ""
	}
}

// lets returns what lets pass each path that listeners of the mesh may let pass: where the mesh config
// says nothing, a case may say what they do.
func (o Options) lets() policy.PathNormalization {
	by, stated := o.listens()
	if stated == "" {
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
	path := value
	by, name := o.listens()
	name = cmp.Or(name, "the normalization "+o.Normalization.String())
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
		return fmt.Sprintf("with %s the listener answers such a path with a 400", name)
	case seen != path:
		return fmt.Sprintf("with %s the listener rewrites such a path, here %s to %s, before it is compared", name, path, seen)
	}
	return ""
}
