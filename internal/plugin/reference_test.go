package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

// reference is meshproof's own compiler behind the protocol. It knows a request from its
// line only.
func reference(in io.Reader, out io.Writer, _ []string) {
	each(in, out, func(id string, ask []byte) {
		filters, err := compileLine(ask)
		if err != nil {
			text, _ := json.Marshal(err.Error())
			fmt.Fprintf(out, "{\"id\": %s, \"error\": %s}\n", id, text)
			return
		}
		fmt.Fprintf(out, "{\"id\": %s, \"filters\": %s}\n", id, filters)
	})
}

func compileLine(ask []byte) ([]byte, error) {
	var r struct {
		Inbound  inbound
		Policies []json.RawMessage
		Options  map[string]json.RawMessage
	}
	if err := json.Unmarshal(ask, &r); err != nil {
		return nil, err
	}
	var docs []manifest.Document
	for _, raw := range r.Policies {
		// JSON is YAML.
		read, err := manifest.Parse("policies.json", raw)
		if err != nil {
			return nil, err
		}
		docs = append(docs, read...)
	}
	opts := language.Options{}
	var trustDomain string
	if err := json.Unmarshal(r.Options["trustDomain"], &trustDomain); err != nil {
		return nil, err
	}
	opts.TrustDomain = spiffeid.RequireTrustDomainFromString(trustDomain)
	delete(r.Options, "trustDomain")
	text, err := json.Marshal(r.Options)
	if err != nil {
		return nil, err
	}
	read, err := manifest.Parse("options.json", text)
	if err != nil {
		return nil, err
	}
	opts.Document = read[0]
	filters, err := suite.CompileOne(context.Background(), suite.Reference, r.Inbound.policy(), docs, opts)
	if err != nil {
		return nil, err
	}
	return filtersJSON(filters)
}

func (i inbound) policy() policy.Inbound {
	w := i.Workload
	out := policy.Inbound{
		Name: i.Name, Port: i.Port, Protocol: i.Protocol, Tags: i.Tags,
		Workload: policy.Workload{Name: w.Name, Namespace: w.Namespace, Mesh: w.Mesh, Zone: w.Zone, Origin: w.Origin, Labels: w.Labels},
	}
	for _, r := range i.Routes {
		var when policy.And
		if r.Path != nil {
			p := attribute.Path.Exact(r.Path.Value)
			if r.Path.Type == "Prefix" {
				p.Match.Kind = policy.Segments
			}
			when = append(when, p)
		}
		if r.Method != "" {
			when = append(when, attribute.Method.Exact(r.Method))
		}
		out.Routes = append(out.Routes, policy.InboundRoute{Name: r.Name, When: when})
	}
	return out
}

func filtersJSON(f xds.Filters) ([]byte, error) {
	type named struct {
		Name string            `json:"name"`
		RBAC []json.RawMessage `json:"rbac"`
	}
	var out struct {
		Network []json.RawMessage `json:"network,omitempty"`
		HTTP    []json.RawMessage `json:"http,omitempty"`
		Routes  []named           `json:"routes,omitempty"`
	}
	var failed error
	marshal := func(m proto.Message) json.RawMessage {
		raw, err := protojson.Marshal(m)
		if err != nil {
			failed = err
		}
		return raw
	}
	for _, filter := range f.Network {
		out.Network = append(out.Network, marshal(filter))
	}
	for _, filter := range f.HTTP {
		out.HTTP = append(out.HTTP, marshal(filter))
	}
	for _, r := range f.Routes {
		of := named{Name: r.Name}
		for _, filter := range r.HTTP {
			of.RBAC = append(of.RBAC, marshal(filter))
		}
		out.Routes = append(out.Routes, of)
	}
	if failed != nil {
		return nil, failed
	}
	return json.Marshal(out)
}
