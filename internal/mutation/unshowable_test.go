package mutation

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/mistake"
	"github.com/meshproof/meshproof/internal/routeverdict"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/verdict"
)

// A mistake in a limit is left out only for a reason that the program, the endpoints and the inbounds
// give. The same mistake for another workload, another backend or a shorter limit counts.
func TestUnshowable(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]map[string]string{
		"a connection that does not come about in time is given up": {
			"backend kri_msvc_default___gone_80": "takes or refuses", "backend kri_msvc_default___other_80": "takes or refuses", "backend kri_msvc_default___backend_80": "",
		},
		"a route of the producer with a time of the consumer and a permission of the operator": {
			"stranger": "the inbounds refuse", "web": "",
		},
		"a request that is no call gets statuses of HTTP from a gRPC service": {
			"kri_msvc_default___backend_80, route 1": "comes to an endpoint", "kri_msvc_default___backend_80, route 2": "",
		},
		"a request timeout ends a request without an answer": {"web": ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, c := range casetest.Stories(t) {
				if c.Name != name {
					continue
				}
				reading, err := verdict.Read(c)
				if err != nil {
					t.Fatal(err)
				}
				routes, err := routeverdict.Read(reading)
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range routes.Sidecars {
					for _, m := range mistake.OfSidecar(s.Program) {
						_, _, _, limited := changedLimit(s.Program, m.Proxy)
						reason := unshowable(s, m)
						if !limited {
							if reason != "" {
								t.Errorf("%s at %s is no mistake in a limit: %s", m.Kind, m.Where, reason)
							}
							continue
						}
						for of, text := range want {
							if (of == s.Name || strings.HasPrefix(m.Where, of)) && (reason == "") != (text == "") || !strings.Contains(reason, want[of]) && of == s.Name {
								t.Errorf("%s of %s at %s: %q, want %q", m.Kind, s.Name, m.Where, reason, text)
							}
						}
					}
				}
			}
		})
	}
}

// A limit that takes too long to wait for is named with both times.
func TestLongLimitIsUnshowable(t *testing.T) {
	t.Parallel()
	program := func(limit routing.Limit) routing.Proxy {
		return routing.Proxy{Outbounds: []routing.Outbound{{Name: "o", Routes: []routing.Route{{Name: "r", Request: limit}}}}}
	}
	long := routing.Limit{Time: 1e9 * 3600, Origin: "p"}
	s := routeverdict.Sidecar{}
	s.Program = program(long)
	m := mistake.Sidecar{Kind: mistake.LimitLost, Proxy: program(routing.Limit{Origin: "p"})}
	if got := unshowable(s, m); got != "the limit is 1h0m0s, and no request waits for longer than 2s" {
		t.Error(got)
	}
}
