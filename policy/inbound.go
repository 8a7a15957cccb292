package policy

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Protocol is what an inbound speaks behind its mTLS.
type Protocol uint8

// The protocols of an inbound. A grpc inbound takes plain HTTP/2 requests too.
const (
	HTTP Protocol = iota
	HTTP2
	GRPC
	TCP
)

var protocolNames = [...]string{HTTP: "http", HTTP2: "http2", GRPC: "grpc", TCP: "tcp"}

// String returns the name used in case files.
func (p Protocol) String() string {
	if int(p) < len(protocolNames) {
		return protocolNames[p]
	}
	return "protocol " + strconv.Itoa(int(p))
}

// Layer returns the layer on which requests to the inbound are judged.
func (p Protocol) Layer() Layer {
	if p == TCP {
		return L4
	}
	return L7
}

// UnmarshalText reads the name used in case files; an unknown one is an error
// that lists the known ones.
func (p *Protocol) UnmarshalText(text []byte) error {
	i := slices.Index(protocolNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("protocol %q is unknown: use one of %s", text, strings.Join(protocolNames[:], ", "))
	}
	*p = Protocol(i)
	return nil
}

// MarshalText returns the name used in case files.
func (p Protocol) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// Workload is the metadata that policies select by.
type Workload struct {
	Name      string
	Namespace string
	Mesh      string
	// Zone and Origin are those of a multi-zone control plane; empty on a single one.
	Zone   string
	Origin string
	Labels map[string]string
	// ServiceAccount is the account that the workload runs as; empty where it is not known.
	ServiceAccount string
	// IP is the address that policies may tell the workload by; not valid where none is known.
	IP netip.Addr
}

// Inbound is one listening port of a workload: the unit that gets a program.
type Inbound struct {
	Workload Workload
	// Name is optional.
	Name     string
	Port     uint16
	Protocol Protocol
	// TrustedHops is the number of entries of x-forwarded-for that the listener trusts, the last
	// ones: the first of them is the remote address of a request. 0 trusts no header.
	TrustedHops int
	// Tags are the tags of the inbound: legacy policies select by them. They are nil where the
	// workload's labels serve.
	Tags map[string]string
	// Routes are the routes behind the inbound, in the order of their trial; a
	// request that none of them matches passes to the workload all the same. On tcp
	// there are none.
	Routes []InboundRoute
}

// InboundRoute is a part of an inbound's requests that has a name, so that
// policies can target it.
type InboundRoute struct {
	Name string
	// When tells the requests of the route by path and method, as [Route.When] does.
	When Condition
}

// Section returns the inbound's name, or its port where it has none; an inbound
// with a name cannot be selected by its port.
func (i Inbound) Section() string {
	if i.Name != "" {
		return i.Name
	}
	return strconv.Itoa(int(i.Port))
}

// String returns "workload/section".
func (i Inbound) String() string { return i.Workload.Name + "/" + i.Section() }
