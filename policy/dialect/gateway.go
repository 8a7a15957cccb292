package dialect

import (
	"fmt"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/gateway"
	"github.com/meshproof/meshproof/policy/manifest"
)

// parseGateway returns nil where there is no policy of that dialect.
func parseGateway(docs []manifest.Document) ([]gateway.Policy, error) {
	if len(docs) == 0 {
		return nil, nil
	}
	return gateway.ParseAll(docs)
}

func (s Set) gatewayProgram(in policy.Inbound) Program {
	selection := gateway.Select(s.gateway, in)
	p := Program{Program: gateway.Lower(selection, in, s.options.Gateway), JudgesPlaintext: true}
	for _, ignored := range selection.Ignored {
		p.Ignored = append(p.Ignored, fmt.Sprintf("%s: %s", ignored.Policy, ignored.Reason))
	}
	return p
}
