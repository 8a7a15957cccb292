package routing

import (
	"fmt"
	"slices"
	"strings"
)

// Service is what an outbound leads to, as a user names it.
type Service struct {
	Kind, Namespace, Name string
	// Section is the name of the port, or its number where it has none.
	Section string
}

// String returns kind/name:port, with the namespace in front of the name where there is one.
func (s Service) String() string {
	if s.Namespace != "" {
		return fmt.Sprintf("%s/%s/%s:%s", s.Kind, s.Namespace, s.Name, s.Section)
	}
	return fmt.Sprintf("%s/%s:%s", s.Kind, s.Name, s.Section)
}

// Definition is a part of a document that decides about requests, and that the outbound side of no
// workload has: what is behind a service, or a bound on the requests that a workload gets.
type Definition struct {
	// Identifier is that of a service, of its port, or of a policy. Field is the path of the part,
	// and Text what stands there, on one line.
	Identifier, Field, Text string
	// Place is "file:line".
	Place string
	// Port is true for the port of a service, with inbounds behind it, and Inbound for a bound on
	// the requests that a workload gets.
	Port, Inbound bool
}

// meets reports whether a text names the outbound: its identifier, or kind/name:port. The
// namespace may be left out, and a port has a name or a number.
func (o *Outbound) meets(text string) bool {
	if text == o.Name {
		return true
	}
	for _, namespace := range []string{o.Service.Namespace, ""} {
		for _, port := range []string{o.Service.Section, fmt.Sprint(o.Port)} {
			s := o.Service
			if s.Namespace, s.Section = namespace, port; s.String() == text {
				return true
			}
		}
	}
	return false
}

// Find returns the one outbound that a user names: by its identifier, or as in
// MeshService/backend:80 or MeshService/backend-ns/backend:http. The error lists the outbounds
// that there are, or those that the name could mean.
func (p Proxy) Find(text string) (*Outbound, error) {
	var found []*Outbound
	var names []string
	for i := range p.Outbounds {
		o := &p.Outbounds[i]
		names = append(names, o.Service.String())
		if o.meets(text) {
			found = append(found, o)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, fmt.Errorf("there is no outbound %q: use one of %s", text, listed(names))
	}
	names = nil
	for _, o := range found {
		names = append(names, o.Name)
	}
	return nil, fmt.Errorf("%q may mean %d outbounds: use one of %s", text, len(found), listed(names))
}

// mostListed is how many outbounds an error lists.
const mostListed = 20

func listed(names []string) string {
	names = slices.Compact(names)
	if n := len(names) - mostListed; n > 0 {
		return fmt.Sprintf("%s, and %d more", strings.Join(names[:mostListed], ", "), n)
	}
	return strings.Join(names, ", ")
}
