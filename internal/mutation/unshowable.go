package mutation

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/mistake"
	"github.com/meshproof/meshproof/internal/routeclasses"
	"github.com/meshproof/meshproof/internal/routeverdict"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/routingconfig"
	"github.com/meshproof/meshproof/internal/script"
)

// unshowable says why no request in the lab of a case can show a mistake in a limit, and "" where one
// could. It follows from the limit, from the endpoints, and from what the inbounds decide.
func unshowable(s routeverdict.Sidecar, m mistake.Sidecar) string {
	cluster, bound, limit, ok := changedLimit(s.Program, m.Proxy)
	switch {
	case !ok:
		return ""
	case limit.Time > routeverdict.LongestWait:
		return fmt.Sprintf("the limit is %s, and no request waits for longer than %s", limit.Time, routeverdict.LongestWait)
	case bound == routing.Connection && !slices.ContainsFunc(s.Endpoints[cluster], func(e routingconfig.Endpoint) bool { return e.Reach == script.BlackHole }):
		return "each endpoint of the backend takes or refuses a connection at once"
	case bound == routing.RequestHeaders:
	case alwaysEnds(s, m, routing.Denied):
		return "the inbounds refuse each request that the limit is for"
	case alwaysEnds(s, m, routing.NoBackend, routing.NoEndpoint):
		return "no request that the limit is for comes to an endpoint"
	}
	return ""
}

// changedLimit returns the only limit that two programs do not share, as the original has it. The
// cluster is empty for a limit of a route or a listener.
func changedLimit(original, mutant routing.Proxy) (cluster string, bound routing.Bound, limit routing.Limit, ok bool) {
	for i, was := range original.Clusters {
		for bound := range routing.Bounds {
			if was.Limits[bound] != mutant.Clusters[i].Limits[bound] {
				return was.Name, bound, was.Limits[bound], true
			}
		}
	}
	for i, was := range original.Outbounds {
		is := mutant.Outbounds[i]
		if was.Headers != is.Headers {
			return "", routing.RequestHeaders, was.Headers, true
		}
		if len(was.Routes) != len(is.Routes) {
			continue
		}
		for k, r := range was.Routes {
			for bound, limits := range map[routing.Bound][2]routing.Limit{
				routing.Request: {r.Request, is.Routes[k].Request}, routing.StreamIdle: {r.StreamIdle, is.Routes[k].StreamIdle}, routing.Idle: {r.Idle, is.Routes[k].Idle},
			} {
				// A route in another place has other limits and another name.
				if limits[0] != limits[1] && r.Name == is.Routes[k].Name {
					return "", bound, limits[0], true
				}
			}
		}
	}
	return "", 0, routing.Limit{}, false
}

// alwaysEnds reports whether each class of requests that a mistake changes ends for one of the causes.
func alwaysEnds(s routeverdict.Sidecar, m mistake.Sidecar, causes ...routing.Cause) bool {
	some := false
	for _, o := range s.Program.Outbounds {
		for _, c := range routeclasses.Cut(o, *m.Proxy.Outbound(o.Name)).Classes {
			if !m.Changes(s.Program, o.Name, c.Witness) {
				continue
			}
			x := s.Expect(casefile.RoutedRequest{From: s.Name, To: o.Name, Method: c.Witness.Method, Path: c.Witness.Path, Headers: c.Witness.Headers})
			if x.Unclear != nil || slices.ContainsFunc(x.Outcomes, func(o routeverdict.Outcome) bool { return !slices.Contains(causes, o.Cause) }) {
				return false
			}
			some = true
		}
	}
	return some
}
