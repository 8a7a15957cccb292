package sidecar

import (
	jwtauthnv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/rbac"
	"github.com/meshproof/meshproof/internal/tokenfilter"
)

// readTokens reads the filter for tokens of a connection manager, and reports whether the filter
// is one that stands where it can be understood: in front of RBAC on HTTP, but behind what asks an
// authorizer, the only one, and under the name that the filters ask for. All others are told about as filters of another kind.
func (c *chain) readTokens(f *hcmv3.HttpFilter, m proto.Message) bool {
	filter, ok := m.(*jwtauthnv3.JwtAuthentication)
	if !ok {
		return false
	}
	c.tokens = append(c.tokens, f.Name)
	if len(c.tokens) > 1 || f.Disabled || f.Name != rbac.TokenFilter || max(len(c.inbound.Filters.HTTP), len(c.replaceable)) > len(c.askers) {
		return false
	}
	demand, err := tokenfilter.Demand(filter)
	if err != nil {
		c.noteFilter(dump.BesideRBAC, f.Name, typeURL(filter), "it verifies tokens, and "+err.Error())
		return true
	}
	c.inbound.Tokens, c.inbound.TokenFilter = demand, filter
	for _, issuer := range demand.Issuers {
		for _, written := range issuer.Writes {
			c.rewritten = append(c.rewritten, rewritten{isHeader(written.Header), "a claim that the filter for tokens writes into it", false})
		}
	}
	c.noteFilter(dump.Note, f.Name, typeURL(filter), "it is read; where it verifies tokens, the lab signs by keys of its own")
	return true
}
