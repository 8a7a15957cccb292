package rbac

import (
	"fmt"
	"strconv"
	"strings"

	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	accesslogdatav3 "github.com/envoyproxy/go-control-plane/envoy/data/accesslog/v3"
	networkinputsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/network/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"

	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

var portInput = inputOf(&networkinputsv3.DestinationPortInput{})

var _ = add(row{
	attribute: attribute.DestinationPort,
	since:     "1.36.4",
	input:     &networkinputsv3.DestinationPortInput{},
	predicate: func(m policy.Match) *predicateProto {
		if m.Kind == policy.Range {
			m = policy.Match{Kind: policy.Regex, Value: portsRegex(m)}
		}
		return single(portInput, stringMatcher(m))
	},
	permission: func(m policy.Match) *rbacv3.Permission {
		if m.Kind == policy.Range {
			first, last, _ := endpoint.Ports(m.Value)
			return &rbacv3.Permission{Rule: &rbacv3.Permission_DestinationPortRange{
				DestinationPortRange: &typev3.Int32Range{Start: int32(first), End: int32(last) + 1},
			}}
		}
		port, _ := endpoint.Port(m.Value)
		return &rbacv3.Permission{Rule: &rbacv3.Permission_DestinationPort{DestinationPort: uint32(port)}}
	},
	logged: func(common *accesslogdatav3.AccessLogCommon, _ *accesslogdatav3.HTTPRequestProperties) []string {
		if port := common.GetDownstreamLocalAddress().GetSocketAddress().GetPortValue(); port != 0 {
			return []string{strconv.Itoa(int(port))}
		}
		return nil
	},
})

// portsRegex spells a range of ports out: a matcher sees the port as a text, and compares no
// numbers.
func portsRegex(m policy.Match) string {
	first, last, _ := endpoint.Ports(m.Value)
	var parts []string
	for low := int(first); low <= int(last); {
		// Each part is a number and some free digits behind it.
		step := 1
		for low > 0 && low%(10*step) == 0 && low+10*step-1 <= int(last) {
			step *= 10
		}
		digits := len(strconv.Itoa(step)) - 1
		same := low/step + min(9-low/step%10, (int(last)+1-low)/step-1)
		part := strconv.Itoa(low / step / 10)
		if low/step < 10 {
			part = ""
		}
		parts = append(parts, part+class(low/step%10, same%10)+free(digits))
		low = (same + 1) * step
	}
	return strings.Join(parts, "|")
}

// class is one digit between two.
func class(low, high int) string {
	if low == high {
		return strconv.Itoa(low)
	}
	return fmt.Sprintf("[%d-%d]", low, high)
}

// free is a number of digits.
func free(digits int) string {
	switch digits {
	case 0:
		return ""
	case 1:
		return "[0-9]"
	default:
		return fmt.Sprintf("[0-9]{%d}", digits)
	}
}
