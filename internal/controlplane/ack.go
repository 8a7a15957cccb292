package controlplane

import (
	"fmt"
	"strings"
	"sync"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"github.com/meshproof/meshproof/xds"
)

// resourceVersion is one version of one resource; an empty version stands for
// its removal.
type resourceVersion struct{ typeURL, name, version string }

type sent struct {
	stream int64
	nonce  string
}

// acks relates Envoy's answers to the versions they are about. A delta ACK names
// only the nonce of the response it answers.
type acks struct {
	mu      sync.Mutex
	flight  map[sent][]resourceVersion
	waiting map[resourceVersion]chan<- error
	// begun has the types that a stream already asked for.
	begun map[subscription]bool
}

type subscription struct {
	stream  int64
	typeURL string
}

func newACKs() *acks {
	return &acks{
		flight:  map[sent][]resourceVersion{},
		waiting: map[resourceVersion]chan<- error{},
		begun:   map[subscription]bool{},
	}
}

// await asks for the answer to each version. The channel is sent one value for
// each of them: nil, or the refusal.
func (a *acks) await(versions []resourceVersion) (answers <-chan error, cancel func()) {
	ch := make(chan error, len(versions))
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, v := range versions {
		a.waiting[v] = ch
	}
	return ch, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		for _, v := range versions {
			delete(a.waiting, v)
		}
	}
}

// responded notes what a response carries.
func (a *acks) responded(stream int64, resp *discoveryv3.DeltaDiscoveryResponse) {
	versions := make([]resourceVersion, 0, len(resp.Resources)+len(resp.RemovedResources))
	for _, r := range resp.Resources {
		versions = append(versions, resourceVersion{resp.TypeUrl, r.Name, r.Version})
	}
	for _, name := range resp.RemovedResources {
		versions = append(versions, resourceVersion{resp.TypeUrl, name, ""})
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.flight[sent{stream, resp.Nonce}] = versions
}

// requested takes Envoy's answer, and from the first request of a type on a new
// stream what Envoy has of it.
func (a *acks) requested(stream int64, req *discoveryv3.DeltaDiscoveryRequest) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if key := (subscription{stream, req.TypeUrl}); !a.begun[key] {
		a.begun[key] = true
		a.resumed(req)
	}
	key := sent{stream, req.ResponseNonce}
	versions := a.flight[key]
	delete(a.flight, key)
	for _, v := range versions {
		var err error
		if req.ErrorDetail != nil {
			err = fmt.Errorf("%s %q: %w: %s", shortType(v.typeURL), v.name, xds.ErrNACK, oneLine(req.ErrorDetail.Message))
		}
		a.settle(v, err)
	}
}

// resumed settles what Envoy took over from an earlier stream: the versions that
// it names are applied, and a resource that it does not name is removed. The
// cache says nothing about either on the new stream.
func (a *acks) resumed(req *discoveryv3.DeltaDiscoveryRequest) {
	for v := range a.waiting {
		version, has := req.InitialResourceVersions[v.name]
		if v.typeURL == req.TypeUrl && version == v.version && has == (v.version != "") {
			a.settle(v, nil)
		}
	}
}

// closed forgets what a broken stream was not answered for; Envoy says on the
// next one what it has.
func (a *acks) closed(stream int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for key := range a.flight {
		if key.stream == stream {
			delete(a.flight, key)
		}
	}
	for key := range a.begun {
		if key.stream == stream {
			delete(a.begun, key)
		}
	}
}

func (a *acks) settle(v resourceVersion, err error) {
	if ch, ok := a.waiting[v]; ok {
		delete(a.waiting, v)
		ch <- err
	}
}

func shortType(typeURL string) string {
	return strings.ToLower(typeURL[strings.LastIndexByte(typeURL, '.')+1:])
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
