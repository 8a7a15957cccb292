// Package peerauthentication reads the PeerAuthentication of Istio: whether an inbound takes
// mTLS, plaintext, or both.
//
// It guarantees the mode of an inbound that Istio composes. The mode of a port comes before the
// mode of its workload, then of the namespace, then of the mesh. Without any mode it is PERMISSIVE. A field that is unknown is refused, and so is what Istio's webhook refuses.
//
// Of two policies with one target, Istio takes the older one. Where the files do not tell which is
// older and the two differ, the inbound has no mode, and [Check] says so.
package peerauthentication

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/internal/policylist"
	"github.com/meshproof/meshproof/policy/istio/internal/object"
	"github.com/meshproof/meshproof/policy/manifest"
)

const kind = "PeerAuthentication"

// Kinds is the one kind.
var Kinds = []manifest.Head{{APIVersion: object.Group, Kind: kind}}

// Owns reports whether the document is a PeerAuthentication of Istio, in any version.
func Owns(doc manifest.Document) bool { return object.Owns(doc, kind) }

// resource is the resource as security.istio.io declares it.
type resource struct {
	object.Object
	Spec spec `yaml:"spec"`
}

type spec struct {
	Selector *object.Selector      `yaml:"selector"`
	MTLS     *mutualTLS            `yaml:"mtls"`
	Ports    map[string]*mutualTLS `yaml:"portLevelMtls"`
}

type mutualTLS struct {
	Mode string `yaml:"mode"`
}

// modes are the texts of a mode. UNSET takes the mode of what stands above.
var modes = map[string]mtls.Mode{
	"": mtls.Unset, "UNSET": mtls.Unset, "DISABLE": mtls.Disable, "PERMISSIVE": mtls.Permissive, "STRICT": mtls.Strict,
}

func (m *mutualTLS) mode() mtls.Mode {
	if m == nil {
		return mtls.Unset
	}
	return modes[m.Mode]
}

// Policy is a valid PeerAuthentication.
type Policy struct {
	doc      manifest.Document
	resource resource
	ports    map[uint16]mtls.Mode
	// created is when the API server made it; the zero value where the file does not say.
	created time.Time
}

// String returns "namespace/name".
func (p Policy) String() string { return p.resource.String() }

// labels are those that the policy selects by.
func (p Policy) labels() map[string]string { return p.resource.Spec.Selector.Labels() }

// ParseAll parses each document. Where there is an error it returns no policies, and all
// errors joined, one line each.
func ParseAll(docs []manifest.Document) ([]Policy, error) { return policylist.Parse(docs, parse) }

func parse(doc manifest.Document) (Policy, error) {
	p := Policy{doc: doc, ports: map[uint16]mtls.Mode{}}
	if err := doc.Decode(&p.resource); err != nil {
		return Policy{}, err
	}
	r := &p.resource
	var errs []error
	refuse := func(field, format string, args ...any) { errs = append(errs, doc.Errorf(field, format, args...)) }
	r.Complete(refuse)
	r.RefuseDryRun(refuse)
	r.Spec.Selector.Check(refuse)
	created, err := metadata.Created(doc)
	errs = append(errs, err)
	p.created = created
	p.checkMode("spec.mtls", r.Spec.MTLS, refuse)
	switch {
	case r.Spec.Ports == nil:
	case len(r.Spec.Ports) == 0:
		refuse("spec.portLevelMtls", "it names no port: leave it out")
	case len(p.labels()) == 0:
		refuse("spec.portLevelMtls", "only a policy with a selector has modes for ports: one for a mesh or a namespace has none")
	}
	for _, key := range slices.Sorted(maps.Keys(r.Spec.Ports)) {
		field := fmt.Sprintf("spec.portLevelMtls[%q]", key)
		port, err := strconv.ParseUint(key, 10, 16)
		if err != nil || port == 0 || key != strconv.FormatUint(port, 10) {
			refuse(field, "%q is no port: write a number from 1 to 65535", key)
		}
		if r.Spec.Ports[key] == nil {
			refuse(field, "the port has no mode: write {mode: STRICT}, or leave it out")
		}
		p.checkMode(field, r.Spec.Ports[key], refuse)
		p.ports[uint16(port)] = r.Spec.Ports[key].mode()
	}
	return p, errors.Join(errs...)
}

func (p Policy) checkMode(field string, m *mutualTLS, refuse func(field, format string, args ...any)) {
	if m == nil {
		return
	}
	if _, ok := modes[m.Mode]; !ok || m.Mode == "" && object.IsSet(p.doc, field+".mode") {
		refuse(field+".mode", "%q is unknown: use STRICT, PERMISSIVE, DISABLE or UNSET", m.Mode)
	}
}

// SpecFields returns the fields that its documents may have in their spec.
func SpecFields() []string { return manifest.Fields(resource{}, "spec") }
