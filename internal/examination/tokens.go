package examination

import (
	"fmt"

	jwtauthnv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"

	"github.com/meshproof/meshproof/internal/tokenfilter"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
)

// tokensApart says in what a compiler's filter for tokens demands something else than the
// policies. A compiler that says nothing of tokens leaves them to the lab.
func tokensApart(in verdict.Inbound, filter *jwtauthnv3.JwtAuthentication) []string {
	if filter == nil || in.Protocol.Layer() == policy.L4 {
		return nil
	}
	demand, err := tokenfilter.Stated(filter)
	if err != nil {
		return []string{fmt.Sprintf("the filter for tokens cannot be read: %v", err)}
	}
	if why := in.Program.Tokens.Difference(demand); why != "" {
		return []string{fmt.Sprintf("the filter for tokens does not demand what the policies demand: %s", why)}
	}
	return nil
}
