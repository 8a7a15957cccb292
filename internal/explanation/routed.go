package explanation

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/internal/routeverdict"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/policy"
)

// RoutedRequest is the way of one request through two proxies: the route and the limits that the
// sidecar of its sender gives it, and what the inbounds of each backend decide.
type RoutedRequest struct {
	Sender   string `json:"sender"`
	Identity string `json:"identity"`
	Outbound string `json:"outbound"`
	Service  string `json:"service"`
	// Place is "file:line" of the service.
	Place    string   `json:"place"`
	Protocol string   `json:"protocol"`
	Port     uint16   `json:"port"`
	Request  string   `json:"request,omitempty"`
	Headers  []string `json:"headers,omitempty"`
	// Answer is what the sidecar answers by itself; empty where the request goes on.
	Answer string  `json:"answer,omitempty"`
	Routes []Route `json:"routes"`
	// Limits are those of the listener and of the route.
	Limits   []Limit   `json:"limits"`
	Backends []Backend `json:"backends"`
	// Notes say what else may set a limit: a header of the caller.
	Notes []string `json:"notes,omitempty"`
	// Ignored is what has no effect on the sender, and Warnings what has none on any workload.
	Ignored  []string `json:"ignored,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	// told are the warnings of the inbounds so far: each is told at the first one.
	told map[string]bool
}

// Route is a route in the order of the trial.
type Route struct {
	Name  string `json:"name"`
	When  string `json:"when"`
	Place string `json:"place,omitempty"`
	// Takes is true for the route that takes the request.
	Takes bool `json:"takes"`
	// Misses are the parts of the condition that the request does not meet. Routes behind the
	// taken route are not tried, so that they may have no misses either.
	Misses []string `json:"misses,omitempty"`
	// Sends is the place of the backends; empty where they are the destination itself.
	Sends string `json:"sends,omitempty"`
}

// Limit is a bound on a time, with its origin.
type Limit struct {
	Bound routing.Bound `json:"bound"`
	// Time is a time as Go writes it, or "no limit".
	Time string `json:"time"`
	// By is the policy that says so, and "default" for the default of the mesh.
	By    string `json:"by"`
	Place string `json:"place,omitempty"`
}

// Backend is a share of the requests of a route.
type Backend struct {
	// Cluster is empty for a backend that does not exist: its share is answered 500, and on tcp
	// it is closed.
	Cluster  string  `json:"cluster,omitempty"`
	Weight   uint32  `json:"weight"`
	Share    string  `json:"share"`
	Protocol string  `json:"protocol,omitempty"`
	Limits   []Limit `json:"limits,omitempty"`
	// Inbounds explain what each inbound behind the backend decides about the request.
	Inbounds Explanations `json:"inbounds"`
}

// ExplainRouted explains a request of a workload to one of its outbounds, in the files or in the one case that
// has both. It returns nil where the files say nothing about outbounds, or to names none of them but may
// name an inbound.
func ExplainRouted(files *lab.Files, s lab.Surroundings, from Caller, to string, request cases.Request) (*RoutedRequest, error) {
	meshes := files.Meshes(s)
	switch {
	case len(meshes) == 0 || !lab.NamesOutbound(to) && !files.OnlyRouting():
		return nil, nil
	case to == "":
		return nil, fmt.Errorf("--to: %s has routes, timeouts and services alone: name a port of a service, such as MeshService/backend:80", files.Name)
	}
	var found *RoutedRequest
	var in []string
	var last error
	for _, mesh := range meshes {
		r, err := throughMesh(mesh, from, to, request)
		if err != nil {
			last = err
			continue
		}
		found, in = r, append(in, cmp.Or(mesh.Case, mesh.Name))
	}
	switch {
	case found == nil:
		return nil, last
	case len(in) > 1:
		return nil, fmt.Errorf("--to: %d cases have a sidecar of %s with the outbound %s: choose one of them by --case: %s", len(in), from.Name, to, strings.Join(in, "; "))
	}
	return found, nil
}

// throughMesh explains a request in one mesh.
func throughMesh(mesh lab.Mesh, from Caller, to string, request cases.Request) (*RoutedRequest, error) {
	senders, err := mesh.Senders(mesh.Surroundings)
	if err != nil {
		return nil, err
	}
	name := from.Name
	if len(from.URIs) == 1 && len(from.DNS) == 0 {
		name = from.URIs[0]
	}
	sender, err := lab.FindSender(senders, name)
	if err != nil {
		return nil, fmt.Errorf("--from: %w", err)
	}
	outbound, err := sender.Find(to)
	if err != nil {
		return nil, fmt.Errorf("--to: %s: %w", sender.Workload.Workload.Name, err)
	}
	var subjects []lab.Subject
	if !mesh.OnlyRouting() {
		if subjects, err = mesh.Subjects("", mesh.Surroundings); err != nil && !errors.As(err, new(*lab.NothingError)) {
			return nil, err
		}
	}
	return explainRouted(sender, outbound, subjects, request)
}

// explainRouted explains a request to an outbound. The subjects are the inbounds of the mesh.
func explainRouted(sender lab.Sender, o *routing.Outbound, subjects []lab.Subject, q cases.Request) (*RoutedRequest, error) {
	p := &RoutedRequest{
		Sender: sender.Workload.Workload.Name, Identity: sender.Identity.String(), Outbound: o.Name, Service: o.Service.String(), Place: o.Place,
		Protocol: o.Protocol.String(), Port: o.Port, Routes: []Route{}, Limits: []Limit{}, Backends: []Backend{},
		told: map[string]bool{},
	}
	request := routeverdict.Seen(o, casefile.RoutedRequest{Method: q.Method, Path: q.Path, Authority: q.Authority, Headers: q.Headers, GRPC: q.GRPC})
	isHTTP := o.Protocol.Layer() == policy.L7
	if isHTTP {
		p.Request = request.Method + " " + request.Path
		for _, h := range q.Headers {
			p.Headers = append(p.Headers, requestline.Line(h))
		}
	}
	d := o.Decide(request)
	p.addRoutes(o, &request)
	for bound := range routing.Bounds {
		ofRoute := bound.Level() != routing.OfCluster && isHTTP || bound == routing.Idle && !isHTTP
		if ofRoute && d.Route != "" {
			p.Limits = append(p.Limits, limitOf(bound, d.Limits[bound]))
		}
	}
	switch {
	case d.Route == "":
		p.Answer = "404: no route takes the request"
	case len(d.Backends) == 0 && isHTTP:
		p.Answer = "500: no backend of the route exists"
	case len(d.Backends) == 0:
		p.Answer = "the connection is closed: no backend of the route exists"
	}
	if err := p.addBackends(sender, d, subjects, q); err != nil {
		return nil, err
	}
	if isHTTP {
		p.noteStreamDuration(sender, d, request.Headers)
	}
	for _, i := range sender.Ignored {
		p.Ignored = append(p.Ignored, i.String())
	}
	for _, m := range sender.Mismatches {
		p.Warnings = append(p.Warnings, m.String())
	}
	return p, nil
}

// addRoutes tells of each route why it takes the request or not, up to the route that does.
func (p *RoutedRequest) addRoutes(o *routing.Outbound, r *policy.Request) {
	taken := false
	for _, route := range o.Routes {
		e := Route{Name: route.Name, When: "always", Place: route.Place, Sends: route.Sends}
		if route.When != nil {
			e.When, e.Misses = route.When.String(), misses(route.When, r)
		}
		e.Takes = !taken && len(e.Misses) == 0
		taken = taken || e.Takes
		p.Routes = append(p.Routes, e)
	}
}

// misses returns the parts of a condition that do not hold.
func misses(when policy.Condition, r *policy.Request) (out []string) {
	if all, ok := when.(policy.And); ok {
		for _, c := range all {
			out = append(out, misses(c, r)...)
		}
		return out
	}
	if !when.Holds(r) {
		out = append(out, when.String())
	}
	return out
}

func limitOf(bound routing.Bound, l routing.Limit) Limit {
	out := Limit{Bound: bound, Time: "no limit", By: cmp.Or(l.Origin, "default"), Place: l.Place}
	if l.Time != 0 {
		out.Time = l.Time.String()
	}
	return out
}

// addBackends explains the backends, and what their inbounds decide.
func (p *RoutedRequest) addBackends(sender lab.Sender, d routing.Decision, subjects []lab.Subject, q cases.Request) error {
	total := uint64(0)
	for _, b := range d.Backends {
		total += uint64(b.Weight)
	}
	inbounds := make([]policy.Inbound, len(subjects))
	for i, s := range subjects {
		inbounds[i] = s.Inbound.Inbound
	}
	for _, b := range d.Backends {
		e := Backend{Cluster: b.Cluster, Weight: b.Weight, Share: fmt.Sprintf("%.4g %%", 100*float64(b.Weight)/float64(max(total, 1))), Inbounds: Explanations{}}
		if c := sender.Cluster(b.Cluster); c != nil {
			e.Protocol = c.Protocol.String()
			for bound := range routing.Bounds {
				if bound.Level() == routing.OfCluster && (c.Protocol.Layer() == policy.L7 || bound == routing.Connection) {
					e.Limits = append(e.Limits, limitOf(bound, c.Limits[bound]))
				}
			}
		}
		for _, in := range sender.Routing.InboundsBehind(b.Cluster, inbounds) {
			for _, s := range subjects {
				if s.Inbound.String() != in.String() || s.Inbound.Workload.Mesh != in.Workload.Mesh || s.Inbound.Workload.Namespace != in.Workload.Namespace {
					continue
				}
				// The sidecar shows the identity of its workload.
				decided, err := Explain([]lab.Subject{s}, Caller{URIs: []string{sender.Identity.String()}}, q)
				if err != nil {
					return err
				}
				for k := range decided {
					decided[k].Inbound = lab.NameAmong(inbounds, in.Workload) + "/" + in.Section()
					decided[k].Warnings = slices.DeleteFunc(decided[k].Warnings, p.isTold)
				}
				e.Inbounds = append(e.Inbounds, decided...)
			}
		}
		p.Backends = append(p.Backends, e)
	}
	return nil
}

// noteStreamDuration says what a header of the caller does to the maxStreamDuration of the backends. Which
// Envoy takes the request is not known here, so that both answers are told.
func (p *RoutedRequest) noteStreamDuration(sender lab.Sender, d routing.Decision, headers []policy.Header) {
	limit, ok, err := routeverdict.StreamDuration(headers)
	const old = "an Envoy before release 1.40"
	switch {
	case len(d.Backends) == 0:
	case err != nil:
		p.Notes = append(p.Notes, "maxStreamDuration: "+err.Error())
	case ok:
		p.Notes = append(p.Notes, fmt.Sprintf("maxStreamDuration: %s takes %s from the header %s of this request; a later one drops the header of an external request", old, limitOf(routing.MaxStream, limit).Time, behavior.StreamDurationHeader))
	default:
		for _, b := range d.Backends {
			if c := sender.Cluster(b.Cluster); c != nil && c.Limits[routing.MaxStream].Time != 0 {
				p.Notes = append(p.Notes, fmt.Sprintf("maxStreamDuration: with %s a caller makes it shorter or longer, or lifts it, by the header %s; a later one drops the header of an external request", old, behavior.StreamDurationHeader))
				return
			}
		}
	}
}

// isTold reports whether an inbound before has the warning.
func (p *RoutedRequest) isTold(warning string) bool {
	if p.told[warning] {
		return true
	}
	p.told[warning] = true
	return false
}

// Warns reports whether something has no effect on any workload, or lint warns of an inbound.
func (p *RoutedRequest) Warns() bool {
	return len(p.Warnings) > 0 || slices.ContainsFunc(p.Backends, func(b Backend) bool {
		return slices.ContainsFunc(b.Inbounds, func(e Explanation) bool { return len(e.Warnings) > 0 })
	})
}

// WriteText prints the way of the request, and then what each inbound decides.
func (p *RoutedRequest) WriteText(w io.Writer, paint terminal.Paint) {
	fmt.Fprintf(w, "sender    %s (%s)\noutbound  %s (%s on port %d)\n          %s at %s\n", p.Sender, p.Identity, p.Service, p.Protocol, p.Port, p.Outbound, terminal.Printable(p.Place))
	if p.Request != "" {
		fmt.Fprintf(w, "request   %s\n", p.Request)
	}
	for _, line := range p.Headers {
		fmt.Fprintf(w, "header    %s\n", terminal.Printable(line))
	}
	if p.Answer != "" {
		fmt.Fprintf(w, "answer    %s\n", p.Answer)
	}
	fmt.Fprintln(w, "routes")
	taken := false
	for _, r := range p.Routes {
		r.write(w, taken)
		taken = taken || r.Takes
	}
	writeLimits(w, "", p.Limits)
	for _, b := range p.Backends {
		b.write(w)
	}
	writeList(w, "notes", p.Notes)
	writeList(w, "ignored", p.Ignored)
	writeList(w, "warnings", p.Warnings)
	fmt.Fprintln(w)
	for _, b := range p.Backends {
		b.Inbounds.WriteText(w, paint)
	}
}

// write prints a route. One behind the route that takes the request is not tried.
func (r Route) write(w io.Writer, tried bool) {
	state := "misses  "
	switch {
	case r.Takes:
		state = "TAKES   "
	case tried:
		state = "        "
	}
	fmt.Fprintf(w, "  %s %s when %s\n", state, r.Name, terminal.Printable(r.When))
	if r.Place != "" {
		fmt.Fprintf(w, "           at %s\n", terminal.Printable(r.Place))
	}
	if r.Takes && r.Sends != "" {
		fmt.Fprintf(w, "           backends at %s\n", terminal.Printable(r.Sends))
	}
	for _, part := range r.Misses {
		if !tried {
			fmt.Fprintf(w, "           the request does not meet: %s\n", terminal.Printable(part))
		}
	}
}

func writeLimits(w io.Writer, indent string, all []Limit) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(w, "%slimits\n", indent)
	for _, l := range all {
		fmt.Fprintf(w, "%s  %-22s %-8s by %s\n", indent, l.Bound, l.Time, l.By)
		if l.Place != "" {
			fmt.Fprintf(w, "%s  %-22s %-8s at %s\n", indent, "", "", terminal.Printable(l.Place))
		}
	}
}

func (b Backend) write(w io.Writer) {
	if b.Cluster == "" {
		fmt.Fprintf(w, "backend   does not exist, weight %d, %s\n", b.Weight, b.Share)
		return
	}
	fmt.Fprintf(w, "backend   %s (%s), weight %d, %s\n", b.Cluster, b.Protocol, b.Weight, b.Share)
	writeLimits(w, "  ", b.Limits)
	if len(b.Inbounds) == 0 {
		fmt.Fprintln(w, "  inbounds: none is known")
	}
	for _, in := range b.Inbounds {
		fmt.Fprintf(w, "  inbound %s: %s\n", in.Inbound, in.Decision)
	}
}
