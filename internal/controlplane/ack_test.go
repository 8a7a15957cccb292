package controlplane

import (
	"errors"
	"testing"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/meshproof/meshproof/xds"
)

func listenerVersion(name, version string) resourceVersion {
	return resourceVersion{resource.ListenerType, name, version}
}

func response(nonce string, versions ...resourceVersion) *discoveryv3.DeltaDiscoveryResponse {
	r := &discoveryv3.DeltaDiscoveryResponse{TypeUrl: resource.ListenerType, Nonce: nonce}
	for _, v := range versions {
		if v.version == "" {
			r.RemovedResources = append(r.RemovedResources, v.name)
			continue
		}
		r.Resources = append(r.Resources, &discoveryv3.Resource{Name: v.name, Version: v.version})
	}
	return r
}

func ack(nonce string) *discoveryv3.DeltaDiscoveryRequest {
	return &discoveryv3.DeltaDiscoveryRequest{TypeUrl: resource.ListenerType, ResponseNonce: nonce}
}

func nack(nonce, message string) *discoveryv3.DeltaDiscoveryRequest {
	r := ack(nonce)
	r.ErrorDetail = status.New(codes.Internal, message).Proto()
	return r
}

// told returns the next value of the channel, without waiting.
func told(answers <-chan error) []error {
	var out []error
	for {
		select {
		case err := <-answers:
			out = append(out, err)
		default:
			return out
		}
	}
}

func TestACKs(t *testing.T) {
	t.Parallel()
	one, two, gone := listenerVersion("one", "v1"), listenerVersion("two", "v1"), listenerVersion("one", "")
	const refused = `listener "one": refused by Envoy: bad thing`
	for name, tt := range map[string]struct {
		wait []resourceVersion
		play func(*acks)
		want []string
	}{
		"ACK": {[]resourceVersion{one}, func(a *acks) {
			a.responded(1, response("n1", one))
			a.requested(1, ack("n1"))
		}, []string{""}},
		"subscription is no ACK": {[]resourceVersion{one}, func(a *acks) {
			a.requested(1, &discoveryv3.DeltaDiscoveryRequest{TypeUrl: resource.ListenerType, ResourceNamesSubscribe: []string{"one"}})
			a.responded(1, response("n1", one))
		}, nil},
		"not sent yet": {[]resourceVersion{one}, func(a *acks) {
			a.responded(1, response("n1", two))
			a.requested(1, ack("n1"))
		}, nil},
		"older version": {[]resourceVersion{one}, func(a *acks) {
			a.responded(1, response("n1", listenerVersion("one", "v0")))
			a.requested(1, ack("n1"))
		}, nil},
		"nonce of another stream": {[]resourceVersion{one}, func(a *acks) {
			a.responded(1, response("n1", one))
			a.requested(2, ack("n1"))
		}, nil},
		"one response for two": {[]resourceVersion{one, two}, func(a *acks) {
			a.responded(1, response("n1", one, two))
			a.requested(1, ack("n1"))
		}, []string{"", ""}},
		"two responses, answered crosswise": {[]resourceVersion{one, two}, func(a *acks) {
			a.responded(1, response("n1", one))
			a.responded(1, response("n2", two))
			a.requested(1, ack("n2"))
			a.requested(1, nack("n1", "bad thing"))
		}, []string{"", refused}},
		"ACK twice": {[]resourceVersion{one}, func(a *acks) {
			a.responded(1, response("n1", one))
			a.requested(1, ack("n1"))
			a.requested(1, ack("n1"))
		}, []string{""}},
		"NACK on one line": {[]resourceVersion{one}, func(a *acks) {
			a.responded(1, response("n1", one))
			a.requested(1, nack("n1", "bad\n  thing\n"))
		}, []string{refused}},
		"removal": {[]resourceVersion{gone}, func(a *acks) {
			a.responded(1, response("n1", gone))
			a.requested(1, ack("n1"))
		}, []string{""}},
		"reconnect after an ACK that was lost": {[]resourceVersion{one}, func(a *acks) {
			a.responded(1, response("n1", one))
			a.closed(1)
			first := ack("")
			first.InitialResourceVersions = map[string]string{"one": "v1"}
			a.requested(2, first)
		}, []string{""}},
		"reconnect without it": {[]resourceVersion{one}, func(a *acks) {
			a.responded(1, response("n1", one))
			a.closed(1)
			first := ack("")
			first.InitialResourceVersions = map[string]string{"one": "v0"}
			a.requested(2, first)
		}, nil},
		"reconnect and sent again": {[]resourceVersion{one}, func(a *acks) {
			a.responded(1, response("n1", one))
			a.closed(1)
			a.requested(2, ack(""))
			a.responded(2, response("n1", one))
			a.requested(2, ack("n1"))
		}, []string{""}},
		"reconnect without what was removed": {[]resourceVersion{gone}, func(a *acks) {
			a.responded(1, response("n1", gone))
			a.closed(1)
			first := ack("")
			first.InitialResourceVersions = map[string]string{"two": "v1"}
			a.requested(2, first)
		}, []string{""}},
		"reconnect with what was removed": {[]resourceVersion{gone}, func(a *acks) {
			first := ack("")
			first.InitialResourceVersions = map[string]string{"one": "v1"}
			a.requested(2, first)
		}, nil},
		"subscription is no removal": {[]resourceVersion{gone}, func(a *acks) {
			first := ack("")
			first.InitialResourceVersions = map[string]string{"one": "v1"}
			a.requested(1, first)
			a.requested(1, ack(""))
		}, nil},
		"another type has nothing of it": {[]resourceVersion{gone}, func(a *acks) {
			a.requested(1, &discoveryv3.DeltaDiscoveryRequest{TypeUrl: resource.SecretType})
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newACKs()
			answers, cancel := a.await(tt.wait)
			tt.play(a)
			got := told(answers)
			if len(got) != len(tt.want) {
				t.Fatalf("got %q, want %q", got, tt.want)
			}
			for i, err := range got {
				if (err != nil || tt.want[i] != "") && (err == nil || err.Error() != tt.want[i]) {
					t.Errorf("answer %d: got %v, want %q", i, err, tt.want[i])
				}
				if err != nil && !errors.Is(err, xds.ErrNACK) {
					t.Errorf("answer %d: %v does not wrap ErrNACK", i, err)
				}
			}
			cancel()
			if len(a.waiting) > 0 {
				t.Errorf("after cancel %d versions are waited for", len(a.waiting))
			}
		})
	}
}

// TestACKsForgetStreams shows that a broken stream leaves nothing behind.
func TestACKsForgetStreams(t *testing.T) {
	t.Parallel()
	a := newACKs()
	a.responded(1, response("n1", listenerVersion("one", "v1")))
	a.responded(2, response("n1", listenerVersion("two", "v1")))
	a.requested(1, ack("n0"))
	a.requested(2, ack("n0"))
	a.closed(1)
	if len(a.flight) != 1 || len(a.begun) != 1 {
		t.Errorf("%d responses and %d subscriptions are known, want those of stream 2 only", len(a.flight), len(a.begun))
	}
}

// TestACKsAwaitTwice shows that an earlier push that gave up waiting does not disturb the
// next push of the same version.
func TestACKsAwaitTwice(t *testing.T) {
	t.Parallel()
	a := newACKs()
	one := listenerVersion("one", "v1")
	_, cancel := a.await([]resourceVersion{one})
	cancel()
	answers, cancel := a.await([]resourceVersion{one})
	defer cancel()
	a.responded(1, response("n1", one))
	a.requested(1, ack("n1"))
	if got := told(answers); len(got) != 1 || got[0] != nil {
		t.Errorf("got %v, want one ACK", got)
	}
}
