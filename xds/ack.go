package xds

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
)

// ErrNACK is wrapped by the error of a push that Envoy refused. The previous
// configuration stays live.
var ErrNACK = errors.New("refused by Envoy")

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
}

func newACKs() *acks {
	return &acks{flight: map[sent][]resourceVersion{}, waiting: map[resourceVersion]chan<- error{}}
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

// requested takes Envoy's answer, and on a new stream the versions that Envoy
// says it already has.
func (a *acks) requested(stream int64, req *discoveryv3.DeltaDiscoveryRequest) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for name, version := range req.InitialResourceVersions {
		a.settle(resourceVersion{req.TypeUrl, name, version}, nil)
	}
	key := sent{stream, req.ResponseNonce}
	versions := a.flight[key]
	delete(a.flight, key)
	for _, v := range versions {
		var err error
		if req.ErrorDetail != nil {
			err = fmt.Errorf("%s %q: %w: %s", shortType(v.typeURL), v.name, ErrNACK, oneLine(req.ErrorDetail.Message))
		}
		a.settle(v, err)
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
