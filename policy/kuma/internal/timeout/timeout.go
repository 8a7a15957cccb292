// Package timeout reads MeshTimeout: how much time requests to a destination, or those of a
// route, may take.
//
// It guarantees that a policy sets at least one bound in each item, that the bound exists on
// what the item is for, and that a refusal names file, line and field. The bounds on the
// requests that a workload gets, under from and rules, are read and are no part of a proof:
// [Timeout.Inbound] says that there are some.
package timeout

import (
	"fmt"
	"strings"
	"time"

	"github.com/meshproof/meshproof/internal/kri"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/policy/kuma/internal/destination"
	"github.com/meshproof/meshproof/policy/kuma/internal/reference"
	"github.com/meshproof/meshproof/policy/kuma/internal/resource"
	"github.com/meshproof/meshproof/policy/kuma/internal/route"
	"github.com/meshproof/meshproof/policy/kuma/internal/target"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Kind is the kind of the policies that the package reads.
var Kind = resource.Kind{Name: "MeshTimeout", Type: kri.MeshTimeout}

// Timeout is a valid MeshTimeout. It is immutable; [Parse] makes it.
type Timeout struct {
	resource.Resource
	Target target.Target
	// Role is one of [resource.Roles]: as the label states, or as a control plane would
	// compute it. Overwritten says that a control plane writes another role over it.
	Role, Overwritten string
	To                []Item
	// Inbound is the field with bounds on the requests that a workload gets, which are not
	// proven; empty where there is none.
	Inbound string
}

// Item is what a policy says about some destinations or routes.
type Item struct {
	Ref  reference.Ref
	Conf Conf
}

// Conf has the limits that an item sets. A limit without an origin is not set.
type Conf routing.Limits

// Set reports whether the conf sets a bound. A limit of 0 sets that there is none.
func (c *Conf) Set(b routing.Bound) bool { return c[b].Origin != "" }

// Merge sets the limits that over sets, as RFC 7396 does.
func (c *Conf) Merge(over Conf) {
	for b := range routing.Bounds {
		if over.Set(b) {
			c[b] = over[b]
		}
	}
}

// Fields are the paths of the bounds in a conf.
var Fields = [routing.Bounds]string{
	routing.Connection: "connectionTimeout", routing.Idle: "idleTimeout",
	routing.Request: "http.requestTimeout", routing.StreamIdle: "http.streamIdleTimeout", routing.MaxStream: "http.maxStreamDuration",
	routing.MaxConnection: "http.maxConnectionDuration", routing.RequestHeaders: "http.requestHeadersTimeout",
}

type specSchema struct {
	TargetRef *target.Ref        `yaml:"targetRef"`
	To        []itemSchema       `yaml:"to"`
	From      *manifest.Document `yaml:"from"`
	Rules     *manifest.Document `yaml:"rules"`
}

type itemSchema struct {
	TargetRef reference.Schema `yaml:"targetRef"`
	Default   confSchema       `yaml:"default"`
}

type confSchema struct {
	ConnectionTimeout *duration `yaml:"connectionTimeout"`
	IdleTimeout       *duration `yaml:"idleTimeout"`
	HTTP              *struct {
		RequestTimeout        *duration `yaml:"requestTimeout"`
		StreamIdleTimeout     *duration `yaml:"streamIdleTimeout"`
		MaxStreamDuration     *duration `yaml:"maxStreamDuration"`
		MaxConnectionDuration *duration `yaml:"maxConnectionDuration"`
		RequestHeadersTimeout *duration `yaml:"requestHeadersTimeout"`
	} `yaml:"http"`
}

// setsNoHTTP reports whether http is written without a time that Kuma counts: that of the headers alone is none (validateHttp of its
// MeshTimeout, in each release up to 2.14).
func (c confSchema) setsNoHTTP() bool {
	if c.HTTP == nil {
		return false
	}
	for b, d := range c.durations() {
		if strings.HasPrefix(Fields[b], "http.") && routing.Bound(b) != routing.RequestHeaders && d != nil {
			return false
		}
	}
	return true
}

func (c confSchema) durations() (out [routing.Bounds]*duration) {
	out[routing.Connection], out[routing.Idle] = c.ConnectionTimeout, c.IdleTimeout
	if h := c.HTTP; h != nil {
		out[routing.Request], out[routing.StreamIdle], out[routing.MaxStream] = h.RequestTimeout, h.StreamIdleTimeout, h.MaxStreamDuration
		out[routing.MaxConnection], out[routing.RequestHeaders] = h.MaxConnectionDuration, h.RequestHeadersTimeout
	}
	return out
}

// duration is a time as Go writes it, such as 1m30s.
type duration struct{ time.Duration }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *duration) UnmarshalText(text []byte) (err error) {
	if d.Duration, err = time.ParseDuration(string(text)); err != nil || d.Duration < 0 {
		return fmt.Errorf("%q is no time: write a number and a unit, such as 500ms, 5s or 1h; 0s is no limit", text)
	}
	// Envoy's timers count milliseconds. A shorter time would be none at all.
	if d.Duration%time.Millisecond != 0 {
		return fmt.Errorf("%q is no whole number of milliseconds, which is what Envoy counts", text)
	}
	return nil
}

// kinds are the kinds that an item may be for.
var kinds = []reference.Kind{
	{Name: reference.Mesh}, {Name: destination.MeshService.Name, Sections: true}, {Name: destination.MeshMultiZoneService.Name, Sections: true},
	{Name: destination.MeshExternalService.Name}, {Name: route.MeshHTTPRoute.Name}, {Name: route.MeshTCPRoute.Name},
}

// ParseAll parses each document as [resource.ParseAll] does.
func ParseAll(docs []manifest.Document, systemNamespace string) ([]Timeout, error) {
	parse := func(doc manifest.Document) (Timeout, error) { return Parse(doc, systemNamespace) }
	return resource.ParseAll(docs, parse, func(t *Timeout) resource.Resource { return t.Resource })
}

// Parse reads one policy. Policies of the system namespace apply to the callers of all
// namespaces. Every error is a [*manifest.Error].
func Parse(doc manifest.Document, systemNamespace string) (Timeout, error) {
	head, spec, err := resource.Parse[specSchema](Kind, doc)
	if err != nil {
		return Timeout{}, err
	}
	t := Timeout{Resource: head}
	switch {
	case spec.Rules != nil && (spec.To != nil || spec.From != nil):
		return Timeout{}, doc.Errorf("spec.rules", "must not be set beside to or from: a policy is for the requests that a workload sends, or for those that it gets")
	case spec.From != nil && len(spec.To) > 0 && !head.Universal && head.Namespace != systemNamespace:
		return Timeout{}, doc.Errorf("spec.from", "must not be set beside to, which Kuma refuses on Kubernetes: write two policies")
	case spec.Rules != nil:
		t.Inbound = "spec.rules"
	case spec.From != nil:
		t.Inbound = "spec.from"
	case len(spec.To) == 0:
		return Timeout{}, doc.Errorf("spec.to", "the items are missing: name at least one destination")
	}
	if t.Inbound != "" && len(spec.To) == 0 {
		t.Role = head.Role(systemNamespace, resource.RoleOwner)
		return t, nil
	}
	if t.Target, err = target.ParseOutbound(doc, spec.TargetRef); err != nil {
		return Timeout{}, err
	}
	var own []bool
	for i, schema := range spec.To {
		item, err := parseItem(&head, fmt.Sprintf("spec.to[%d]", i), schema)
		if err != nil {
			return Timeout{}, err
		}
		t.To = append(t.To, item)
		own = append(own, item.Ref.IsOwn(&head))
	}
	t.Overwritten = head.OverwrittenRoleWith(systemNamespace, own)
	t.Role, err = head.RoleWith(systemNamespace, own)
	return t, err
}

func parseItem(head *resource.Resource, field string, schema itemSchema) (item Item, err error) {
	doc := head.Doc
	if item.Ref, err = reference.Parse(doc, field+".targetRef", schema.TargetRef, kinds...); err != nil {
		return Item{}, err
	}
	for b, d := range schema.Default.durations() {
		if d == nil {
			continue
		}
		bound := routing.Bound(b)
		at := field + ".default." + Fields[bound]
		if !isFor(item.Ref.Kind, bound) {
			return Item{}, doc.Errorf(at, "a %s has no such bound: set it on the service", item.Ref.Kind)
		}
		if bound == routing.Connection && d.Duration == 0 {
			return Item{}, doc.Errorf(at, "the time to connect needs a limit: Envoy refuses 0s")
		}
		item.Conf[bound] = routing.Limit{Time: d.Duration, Origin: head.Origin, Place: doc.Place(at)}
	}
	if schema.Default.setsNoHTTP() {
		return Item{}, doc.Errorf(field+".default.http", "no time but that of the headers is set, which Kuma refuses: leave http out, or set one of requestTimeout, streamIdleTimeout, maxStreamDuration and maxConnectionDuration")
	}
	if item.Conf == (Conf{}) {
		return Item{}, doc.Errorf(field+".default", "no time is set: without one the item has no effect")
	}
	return item, nil
}

// isFor reports whether a bound exists on resources of a kind: on a route those of its level,
// as seed 003 asks of the validation; elsewhere all of them.
func isFor(kind string, b routing.Bound) bool {
	switch kind {
	case route.MeshHTTPRoute.Name:
		return b.Level() == routing.OfRoute
	case route.MeshTCPRoute.Name:
		return b == routing.Idle
	}
	return true
}

// SpecFields returns the fields that its documents may have in their spec.
func SpecFields() []string { return manifest.Fields(specSchema{}) }
