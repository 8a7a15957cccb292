package harness

import (
	"net/netip"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/internal/connection"
)

// sequence is a list of requests that go out one after the other, over one connection as
// long as it lasts.
type sequence struct {
	inbound Inbound
	// requests are the indices of the requests in the batch.
	requests []int
	// kept tells that the connection is kept for several requests.
	kept bool
}

// connectionKey is the same for requests that can share a connection.
type connectionKey struct {
	inbound    int
	credential *certs.Credential
	plaintext  bool
	source     netip.Addr
	// A gRPC client has one authority.
	grpc      bool
	authority string
}

// leastShare is the number of requests from which a further connection of the same caller
// pays. A handshake costs as much as a dozen requests.
const leastShare = 64

// useFreshConnections gives each request a connection of its own.
func (d *delivery) useFreshConnections() {
	for i, target := range d.targets {
		d.fresh = append(d.fresh, sequence{inbound: d.mesh.inbounds[target], requests: []int{i}})
	}
}

// shareConnections gives the requests of one caller to one inbound one connection. It gives
// them several where they are so many that other connections would be idle.
//
// A network filter judges the connection, not the request. So behind a network filter each
// request has a connection of its own, as on tcp.
func (d *delivery) shareConnections() {
	runs := map[connectionKey]int{}
	shareable := 0
	for i, target := range d.targets {
		in, r := d.mesh.inbounds[target], d.requests[i]
		if len(in.Filters.Network) > 0 || connection.MustBeAlone(d.mesh.call(in, r, netip.AddrPort{})) {
			d.fresh = append(d.fresh, sequence{inbound: in, requests: []int{i}})
			continue
		}
		key := connectionKey{inbound: target, credential: r.Credential, plaintext: r.Plaintext, source: r.SourceIP}
		if r.GRPC != "" {
			key.grpc, key.authority = true, r.Authority
		}
		run, ok := runs[key]
		if !ok {
			run = len(d.kept)
			runs[key] = run
			d.kept = append(d.kept, sequence{inbound: in, kept: true})
		}
		d.kept[run].requests = append(d.kept[run].requests, i)
		shareable++
	}
	connections := d.mesh.harness.options.concurrency.kept()
	share := max(leastShare, (shareable+connections-1)/connections)
	var shares []sequence
	for _, whole := range d.kept {
		for len(whole.requests) > share {
			part := whole
			part.requests, whole.requests = whole.requests[:share], whole.requests[share:]
			shares = append(shares, part)
		}
		shares = append(shares, whole)
	}
	d.kept = shares
}

// call is the call of a request to an inbound.
func (m *Mesh) call(in Inbound, r Request, source netip.AddrPort) caller.Call {
	return caller.Call{
		Dial:        m.slot.Dial,
		Source:      source,
		Destination: in.Address,
		Protocol:    in.Protocol,
		Credential:  r.Credential,
		Plaintext:   r.Plaintext,
		Server:      in.Identity,
		Bundles:     m.bundles,
		Method:      r.Method,
		Path:        r.Path,
		Authority:   r.Authority,
		Headers:     r.Headers,
		GRPC:        r.GRPC,
		Body:        r.Body,
	}
}

// sourceIP is the address that the caller of the request plays.
func (r Request) sourceIP() netip.Addr {
	if !r.SourceIP.IsValid() {
		return defaultSource
	}
	return r.SourceIP
}
