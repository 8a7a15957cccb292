// This file goes into internal/rbac: it says how Envoy is asked for the port of the caller.

package rbac

import (
	networkinputsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/network/v3"

	"github.com/meshproof/meshproof/policy/attribute"
)

var _ = add(row{attribute: attribute.SourcePort, since: "1.36.4", input: &networkinputsv3.SourcePortInput{}})
