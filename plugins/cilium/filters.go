package main

import (
	"encoding/json"
	"fmt"
	"slices"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	rbac "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	httprbac "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	networkrbac "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	matcher "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	npds "github.com/cilium/proxy/go/cilium/api"

	"github.com/cilium/cilium/pkg/policy/api"
)

// auditPrefix names the shadow of audit mode.
const auditPrefix = "cilium_audit_"

// compile returns a network filter for what the datapath lets through, and a filter for
// requests where the proxy bounds some of them. In audit mode the first one only observes, as
// the datapath does.
func (r request) compile(rules api.Rules) (filters, error) {
	entries := entriesOf(rules, r.Options.Cilium.ClusterName)
	callers := r.callersOf(entries)
	of, err := r.newAgent(entries, callers)
	if err != nil || !of.enforces() {
		return filters{}, err
	}
	var all table
	for _, c := range callers {
		v, err := of.verdictOf(c)
		if err != nil {
			return filters{}, err
		}
		all = append(all, row{c, v})
	}
	audit, proxied := r.Options.Cilium.PolicyAuditMode, of.redirects(callers)
	var out filters
	f := &networkrbac.RBAC{}
	if audit {
		if proxied && of.readsBytes() {
			f.Rules = all.ends()
		}
		f.ShadowRules = all.connections(of.closes)
		if f.ShadowRules != nil {
			f.ShadowRulesStatPrefix = auditPrefix
		}
	} else {
		f.Rules = all.withoutLost().connections(of.closes)
	}
	if f.Rules != nil || f.ShadowRules != nil {
		if err := appendMessage(&out.Network, f); err != nil {
			return filters{}, err
		}
	}
	if of.closes && proxied && !of.readsBytes() || slices.ContainsFunc(all, row.isBounded) {
		err = appendMessage(&out.HTTP, &httprbac.RBAC{Rules: all.requests(audit)})
	}
	return out, err
}

// table has the verdict about each caller.
type table []row

type row struct {
	caller
	verdict
}

func (r row) isBounded() bool { return r.bounded }
func (r row) isDenied() bool  { return r.denied }
func (r row) isPassing() bool { return r.passes }

// withoutLost shuts out the callers whose connections the proxy ends.
func (t table) withoutLost() table {
	out := slices.Clone(t)
	for i, r := range out {
		out[i].passes, out[i].denied = r.passes && !r.lost, r.denied || r.lost
	}
	return out
}

// ends shuts out the callers whose connections the proxy ends.
func (t table) ends() *rbac.RBAC {
	out := &rbac.RBAC{Action: rbac.RBAC_DENY, Policies: map[string]*rbac.Policy{}}
	for _, r := range t {
		if r.lost {
			out.Policies[r.String()] = &rbac.Policy{Permissions: []*rbac.Permission{anything()}, Principals: []*rbac.Principal{t.principal(r, row.isDenied)}}
		}
	}
	return out
}

// connections lets the callers in that pass. Where the policies close nothing, it shuts out those
// that a deny rule names; nil where there is none.
func (t table) connections(closes bool) *rbac.RBAC {
	out := &rbac.RBAC{Policies: map[string]*rbac.Policy{}}
	except := row.isDenied
	if !closes {
		out.Action, except = rbac.RBAC_DENY, nil
	}
	for _, r := range t {
		if r.passes == closes {
			out.Policies[r.String()] = &rbac.Policy{Permissions: []*rbac.Permission{anything()}, Principals: []*rbac.Principal{t.principal(r, except)}}
		}
	}
	if !closes && len(out.Policies) == 0 {
		return nil
	}
	return out
}

// requests lets through what the proxy lets through, and what it does not get: in audit mode
// also the connections that the datapath would drop.
func (t table) requests(audit bool) *rbac.RBAC {
	out := &rbac.RBAC{Policies: map[string]*rbac.Policy{}}
	for _, r := range t {
		if !r.passes && !audit {
			continue
		}
		except := row.isDenied
		switch {
		case r.denied:
			except = nil
		case !r.passes:
			except = row.isPassing
		}
		p := &rbac.Policy{Permissions: []*rbac.Permission{anything()}, Principals: []*rbac.Principal{t.principal(r, except)}}
		if r.bounded {
			p.Permissions = nil
			for _, rule := range r.rules {
				p.Permissions = append(p.Permissions, permission(rule))
			}
		}
		out.Policies[r.String()] = p
	}
	return out
}

// String names the caller.
func (c caller) String() string {
	if c.spiffe != "" {
		return fmt.Sprintf("%d %s", c.number, c.spiffe)
	}
	return c.block.String()
}

// principal is met by the caller. Cilium has no caller with the certificates of two workloads. Here
// such a caller is both of them, and the function tells which workloads it must not be.
func (t table) principal(of row, except func(row) bool) *rbac.Principal {
	all := []*rbac.Principal{of.is()}
	for _, r := range t {
		switch {
		case r.spiffe == of.spiffe && r.spiffe != "":
		case r.spiffe != "":
			if of.spiffe == "" || except != nil && except(r) {
				all = append(all, not(r.is()))
			}
		case of.spiffe == "" && of.block.Bits() < r.block.Bits() && of.block.Overlaps(r.block):
			// The agent knows an address by the narrowest block.
			all = append(all, not(r.is()))
		}
	}
	if len(all) == 1 {
		return all[0]
	}
	return &rbac.Principal{Identifier: &rbac.Principal_AndIds{AndIds: &rbac.Principal_Set{Ids: all}}}
}

// is returns the principal of the SPIFFE ID or of the block.
func (c caller) is() *rbac.Principal {
	if c.spiffe != "" {
		name := &matcher.StringMatcher{MatchPattern: &matcher.StringMatcher_Exact{Exact: c.spiffe}}
		return &rbac.Principal{Identifier: &rbac.Principal_Authenticated_{Authenticated: &rbac.Principal_Authenticated{PrincipalName: name}}}
	}
	block := &core.CidrRange{AddressPrefix: c.block.Addr().String(), PrefixLen: wrapperspb.UInt32(uint32(c.block.Bits()))}
	return &rbac.Principal{Identifier: &rbac.Principal_DirectRemoteIp{DirectRemoteIp: block}}
}

func not(of *rbac.Principal) *rbac.Principal {
	return &rbac.Principal{Identifier: &rbac.Principal_NotId{NotId: of}}
}

func anything() *rbac.Permission {
	return &rbac.Permission{Rule: &rbac.Permission_Any{Any: true}}
}

// permission has the header matchers of the proxy's rule. Its actions on headers change requests,
// and refuse none.
func permission(of *npds.HttpNetworkPolicyRule) *rbac.Permission {
	if len(of.Headers) == 0 {
		return anything()
	}
	var all []*rbac.Permission
	for _, h := range of.Headers {
		all = append(all, &rbac.Permission{Rule: &rbac.Permission_Header{Header: h}})
	}
	return &rbac.Permission{Rule: &rbac.Permission_AndRules{AndRules: &rbac.Permission_Set{Rules: all}}}
}

func appendMessage(to *[]json.RawMessage, m proto.Message) error {
	text, err := protojson.MarshalOptions{}.Marshal(m)
	*to = append(*to, text)
	return err
}
