package inspect

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/meshproof/meshproof/internal/dataplane"
	"github.com/meshproof/meshproof/internal/kri"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/outbound"
	"github.com/meshproof/meshproof/policy/kuma/internal/timeout"
)

// outboundItem is an outbound in a list.
type outboundItem struct {
	KRI      string          `json:"kri"`
	Port     uint16          `json:"port"`
	Protocol policy.Protocol `json:"protocol"`
}

// OutboundPolicies is the answer about one outbound, or about one of its routes.
type OutboundPolicies struct {
	// Policies has an entry for each kind of policy with a conf there. There is one kind, so
	// that it has one entry at most.
	Policies []OutboundPolicy `json:"policies"`
	// Warnings are the policies, and parts of policies, without an effect on the proxy.
	Warnings []Warning `json:"warnings"`
}

// OutboundPolicy is what the policies of one kind come to.
type OutboundPolicy struct {
	Kind string      `json:"kind"`
	Conf TimeoutConf `json:"conf"`
	// Origins are the policies with a part in the conf.
	Origins []Origin `json:"origins"`
}

// TimeoutConf has the bounds as a MeshTimeout writes them. A bound that no policy sets is
// absent.
type TimeoutConf struct {
	ConnectionTimeout *TimeoutValue      `json:"connectionTimeout,omitempty"`
	IdleTimeout       *TimeoutValue      `json:"idleTimeout,omitempty"`
	HTTP              *TimeoutConfOfHTTP `json:"http,omitempty"`
}

// TimeoutConfOfHTTP has the bounds that a tcp outbound lacks.
type TimeoutConfOfHTTP struct {
	RequestTimeout        *TimeoutValue `json:"requestTimeout,omitempty"`
	StreamIdleTimeout     *TimeoutValue `json:"streamIdleTimeout,omitempty"`
	MaxStreamDuration     *TimeoutValue `json:"maxStreamDuration,omitempty"`
	MaxConnectionDuration *TimeoutValue `json:"maxConnectionDuration,omitempty"`
	RequestHeadersTimeout *TimeoutValue `json:"requestHeadersTimeout,omitempty"`
}

// TimeoutValue is a bound, and the field of the policy that it comes from.
type TimeoutValue struct {
	// Value is a time as Go writes it, such as 1m30s.
	Value  string `json:"value"`
	Origin string `json:"origin"`
	Place  string `json:"place"`
}

// OutboundRoutes are the routes of an outbound in the order of their trial.
type OutboundRoutes struct {
	Routes []OutboundRoute `json:"routes"`
	// Warnings are the policies, and parts of policies, without an effect on the proxy.
	Warnings []Warning `json:"warnings"`
}

// OutboundRoute is a part of the requests to an outbound.
type OutboundRoute struct {
	// KRI is the rule of a route, or the outbound itself for the requests that no rule takes.
	KRI string `json:"kri"`
	// When tells the requests in words.
	When     string            `json:"when"`
	Backends []OutboundBackend `json:"backends"`
}

// OutboundBackend is a share of the requests of a route.
type OutboundBackend struct {
	// KRI is empty for a backend that does not exist: its share is answered 500.
	KRI    string `json:"kri,omitempty"`
	Weight uint32 `json:"weight"`
}

// asked is the outbound side of a dataplane that a request is about.
type asked struct {
	proxy    outbound.Proxy
	outbound *routing.Outbound
	warnings []Warning
}

// lastProxy keeps the outbound side that was made last: one page asks for several answers about one
// dataplane, and each proxy of a big mesh takes megabytes.
type lastProxy struct {
	mu    sync.Mutex
	plane *dataplane.Dataplane
	proxy outbound.Proxy
}

// proxyOf returns the outbound side of a dataplane. Nothing of it may be changed.
func (l *lastProxy) proxyOf(d *dataplane.Dataplane, from *outbound.Resources) outbound.Proxy {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.plane != d {
		l.plane, l.proxy = d, from.ProxyOf(d.Caller())
	}
	return l.proxy
}

// ask finds what a request is about.
func (h handler) ask(req *http.Request) (asked, *problem) {
	m, d, refusal := h.resources.find(req.PathValue("mesh"), req.PathValue("name"))
	if refusal != nil {
		return asked{}, refusal
	}
	a := asked{proxy: h.resources.last.proxyOf(d, h.resources.outbounds)}
	a.warnings = m.outboundWarnings(a.proxy)
	text := req.PathValue("outbound")
	if text == "" {
		return a, nil
	}
	if _, err := kri.Parse(text); err != nil {
		return asked{}, badRequest("%v", err)
	}
	if a.outbound = a.proxy.Outbound(text); a.outbound == nil {
		names := make([]string, len(a.proxy.Outbounds))
		for i, o := range a.proxy.Outbounds {
			names[i] = o.Name
		}
		return asked{}, notFound("dataplane %q has no outbound %s: it has %s", d.Name, text, orNone(names))
	}
	return a, nil
}

// outboundWarnings has a warning for each policy, or part of one, without an effect on the
// proxy, and one for each part without an effect on any. The list is never nil.
func (m *mesh) outboundWarnings(proxy outbound.Proxy) []Warning {
	out := slices.Clone(m.mismatches)
	for _, i := range proxy.Ignored {
		if !slices.ContainsFunc(m.mismatches, func(w Warning) bool { return w.Place == i.Place }) {
			out = append(out, Warning{Reason: Ignored, KRI: i.Origin, Place: i.Place, Message: i.Reason})
		}
	}
	return append([]Warning{}, out...)
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// serveOutbound serves an answer about the outbound side of a dataplane.
func (h handler) serveOutbound(answer func(asked, *http.Request) (any, *problem)) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		a, refusal := h.ask(req)
		var body any
		if refusal == nil {
			body, refusal = answer(a, req)
		}
		if refusal != nil {
			refusal.write(w)
			return
		}
		ok(w, body)
	}
}

func listOutbounds(a asked, _ *http.Request) (any, *problem) {
	items := make([]outboundItem, len(a.proxy.Outbounds))
	for i, o := range a.proxy.Outbounds {
		items[i] = outboundItem{KRI: o.Name, Port: o.Port, Protocol: o.Protocol}
	}
	return list[outboundItem]{Total: len(items), Items: items}, nil
}

func outboundPolicies(a asked, _ *http.Request) (any, *problem) {
	var rule outbound.Rule
	if i := slices.IndexFunc(a.proxy.Rules, func(r outbound.Rule) bool { return r.ID.String() == a.outbound.Name }); i >= 0 {
		rule = a.proxy.Rules[i]
	}
	return newOutboundPolicies(rule.Conf, rule.Origins, a.warnings), nil
}

func outboundRoutes(a asked, _ *http.Request) (any, *problem) {
	out := OutboundRoutes{Routes: []OutboundRoute{}, Warnings: a.warnings}
	for _, r := range a.outbound.Routes {
		route := OutboundRoute{KRI: r.Name, When: "always", Backends: []OutboundBackend{}}
		if r.When != nil {
			route.When = r.When.String()
		}
		for _, b := range r.Backends {
			route.Backends = append(route.Backends, OutboundBackend{KRI: b.Cluster, Weight: b.Weight})
		}
		out.Routes = append(out.Routes, route)
	}
	return out, nil
}

func routePolicies(a asked, req *http.Request) (any, *problem) {
	text := req.PathValue("route")
	if _, err := kri.Parse(text); err != nil {
		return nil, badRequest("%v", err)
	}
	i := slices.IndexFunc(a.outbound.Routes, func(r routing.Route) bool { return r.Name == text })
	if i < 0 {
		names := make([]string, len(a.outbound.Routes))
		for i, r := range a.outbound.Routes {
			names[i] = r.Name
		}
		return nil, notFound("outbound %s has no route %s: it has %s", a.outbound.Name, text, strings.Join(slices.Compact(names), ", "))
	}
	conf, origins := routeConf(a.outbound.Routes[i], a.outbound.Protocol)
	return newOutboundPolicies(conf, origins, a.warnings), nil
}

// routeConf is what policies say about a route, and those that say it.
func routeConf(r routing.Route, protocol policy.Protocol) (conf timeout.Conf, origins []string) {
	if protocol.Layer() == policy.L4 {
		conf[routing.Idle] = r.Idle
	} else {
		conf[routing.Request], conf[routing.StreamIdle] = r.Request, r.StreamIdle
	}
	for b := range routing.Bounds {
		if conf.Set(b) && !slices.Contains(origins, conf[b].Origin) {
			origins = append(origins, conf[b].Origin)
		}
	}
	return conf, origins
}

func newOutboundPolicies(conf timeout.Conf, origins []string, warnings []Warning) OutboundPolicies {
	out := OutboundPolicies{Policies: []OutboundPolicy{}, Warnings: warnings}
	if len(origins) == 0 {
		return out
	}
	p := OutboundPolicy{Kind: timeout.Kind.Name, Conf: newTimeoutConf(conf)}
	for _, origin := range origins {
		p.Origins = append(p.Origins, Origin{KRI: origin})
	}
	out.Policies = append(out.Policies, p)
	return out
}

func newTimeoutConf(conf timeout.Conf) TimeoutConf {
	value := func(b routing.Bound) *TimeoutValue {
		if !conf.Set(b) {
			return nil
		}
		return &TimeoutValue{Value: conf[b].Time.String(), Origin: conf[b].Origin, Place: conf[b].Place}
	}
	http := TimeoutConfOfHTTP{
		RequestTimeout: value(routing.Request), StreamIdleTimeout: value(routing.StreamIdle), MaxStreamDuration: value(routing.MaxStream),
		MaxConnectionDuration: value(routing.MaxConnection), RequestHeadersTimeout: value(routing.RequestHeaders),
	}
	out := TimeoutConf{ConnectionTimeout: value(routing.Connection), IdleTimeout: value(routing.Idle)}
	if http != (TimeoutConfOfHTTP{}) {
		out.HTTP = &http
	}
	return out
}
