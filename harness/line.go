package harness

import (
	"net/netip"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/internal/connection"
)

// line is a run of requests that go out one after the other, over one connection as
// long as it lasts.
type line struct {
	inbound Inbound
	// requests are their numbers in the batch.
	requests []int
	// kept tells that the requests may share a connection.
	kept bool
}

// lineKey tells apart those who cannot share a connection.
type lineKey struct {
	inbound    int
	credential *certs.Credential
	plaintext  bool
	source     netip.Addr
	// A client of gRPC has one authority.
	grpc      bool
	authority string
}

// leastShare is the number of requests for which a further connection of the same
// caller pays: its handshake costs as much as a dozen of them.
const leastShare = 64

// apart gives each request a connection of its own.
func (d *delivery) apart() {
	for i, at := range d.targets {
		d.lines = append(d.lines, line{inbound: d.mesh.inbounds[at], requests: []int{i}})
	}
}

// together gives the requests of one caller to one inbound a connection, or several
// where there are so many of them that other connections would idle.
//
// A network filter judges the connection and not the request, so that behind one each
// request is a connection, as on tcp.
func (d *delivery) together() {
	runs := map[lineKey]int{}
	shareable := 0
	for i, at := range d.targets {
		in, r := d.mesh.inbounds[at], d.requests[i]
		if len(in.Filters.Network) > 0 || connection.MustBeAlone(d.mesh.call(in, r, netip.AddrPort{})) {
			d.lines = append(d.lines, line{inbound: in, requests: []int{i}})
			continue
		}
		key := lineKey{inbound: at, credential: r.Credential, plaintext: r.Plaintext, source: r.SourceIP}
		if r.GRPC != "" {
			key.grpc, key.authority = true, r.Authority
		}
		run, ok := runs[key]
		if !ok {
			run = len(d.kept)
			runs[key] = run
			d.kept = append(d.kept, line{inbound: in, kept: true})
		}
		d.kept[run].requests = append(d.kept[run].requests, i)
		shareable++
	}
	connections := d.mesh.harness.options.concurrency.kept()
	share := max(leastShare, (shareable+connections-1)/connections)
	var shares []line
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

// call is what the request makes its caller do.
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

// plays is the address that the caller of a request plays.
func (r Request) plays() netip.Addr {
	if !r.SourceIP.IsValid() {
		return defaultSource
	}
	return r.SourceIP
}
