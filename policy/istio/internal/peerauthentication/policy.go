// Package peerauthentication reads the PeerAuthentication of Istio: whether an inbound takes
// mTLS, plaintext, or both.
//
// It guarantees that the mode of an inbound is the one that Istio composes: that of the mesh,
// of the namespace, of the workload, of the port, the last that is set. Without any it is
// PERMISSIVE. A field that is unknown is refused, and so is what Istio's webhook refuses.
//
// Of two that are about the same, Istio takes the one that was created first. Where the files
// do not say which that is and the two differ, the inbound has no mode, and [Check] says so.
package peerauthentication

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/meshproof/meshproof/internal/added"
	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/policy/manifest"
)

const (
	group            = "security.istio.io"
	kind             = "PeerAuthentication"
	defaultNamespace = "default"
)

// Kinds is the one kind.
var Kinds = []manifest.Head{{APIVersion: group, Kind: kind}}

// Owns reports whether the document is a PeerAuthentication of Istio, in any version.
func Owns(doc manifest.Document) bool {
	head := doc.Type()
	of, _, _ := strings.Cut(head.APIVersion, "/")
	return head.Type == "" && head.Kind == kind && of == group
}

// resource is the resource as security.istio.io declares it.
type resource struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
	Metadata   struct {
		Name        string            `yaml:"name"`
		Namespace   string            `yaml:"namespace"`
		Labels      map[string]string `yaml:"labels"`
		Annotations map[string]string `yaml:"annotations"`
		added.Metadata
	} `yaml:"metadata"`
	Spec   spec              `yaml:"spec"`
	Status manifest.Document `yaml:"status"`
}

type spec struct {
	Selector *struct {
		MatchLabels map[string]string `yaml:"matchLabels"`
	} `yaml:"selector"`
	MTLS  *mutualTLS            `yaml:"mtls"`
	Ports map[string]*mutualTLS `yaml:"portLevelMtls"`
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
func (p Policy) String() string {
	return p.resource.Metadata.Namespace + "/" + p.resource.Metadata.Name
}

// labels are those that the policy selects by.
func (p Policy) labels() map[string]string {
	if p.resource.Spec.Selector == nil {
		return nil
	}
	return p.resource.Spec.Selector.MatchLabels
}

// ParseAll parses each document. Where there is an error it returns no policies, and all
// errors joined, one line each.
func ParseAll(docs []manifest.Document) ([]Policy, error) {
	var errs []error
	var ps []Policy
	for _, doc := range docs {
		p, err := parse(doc)
		if err == nil && slices.ContainsFunc(ps, func(other Policy) bool { return other.String() == p.String() }) {
			err = doc.Errorf("metadata.name", "%s %s is defined twice: delete one of the two", kind, p)
		}
		errs, ps = append(errs, err), append(ps, p)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return ps, nil
}

func parse(doc manifest.Document) (Policy, error) {
	p := Policy{doc: doc, ports: map[uint16]mtls.Mode{}}
	if err := doc.Decode(&p.resource); err != nil {
		return Policy{}, err
	}
	r := &p.resource
	r.Metadata.Namespace = cmp.Or(r.Metadata.Namespace, defaultNamespace)
	var errs []error
	refuse := func(field, format string, args ...any) { errs = append(errs, doc.Errorf(field, format, args...)) }
	if _, version, _ := strings.Cut(r.APIVersion, "/"); version != "v1" && version != "v1beta1" {
		refuse("apiVersion", "%q is no version of %s: use %s/v1", r.APIVersion, kind, group)
	}
	if r.Metadata.Name == "" {
		refuse("metadata.name", "a name is required")
	} else if reasons := validation.IsDNS1123Subdomain(r.Metadata.Name); reasons != nil {
		refuse("metadata.name", "%q is no name of a Kubernetes object: %s", r.Metadata.Name, reasons[0])
	}
	if at, ok := doc.At("metadata.creationTimestamp"); ok {
		var text *string
		if err := at.Decode(&text); err != nil {
			errs = append(errs, err)
		} else if text != nil {
			created, err := time.Parse(time.RFC3339, *text)
			if err != nil {
				refuse("metadata.creationTimestamp", "%q is no time of a Kubernetes object: write one as 2026-01-31T12:00:00Z", *text)
			}
			p.created = created
		}
	}
	for _, key := range slices.Sorted(maps.Keys(p.labels())) {
		if key == "" || strings.Contains(key+p.labels()[key], "*") {
			refuse("spec.selector.matchLabels", "the label %q is no label: a key is needed, and there are no wildcards", key+": "+p.labels()[key])
		}
	}
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
		if err != nil || port == 0 {
			refuse(field, "%q is no port: write a number from 1 to 65535", key)
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
	if _, ok := modes[m.Mode]; !ok {
		refuse(field+".mode", "%q is unknown: use STRICT, PERMISSIVE, DISABLE or UNSET", m.Mode)
	}
}
