package casewriter

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/script"
	"github.com/meshproof/meshproof/policy/manifest"
)

// routing divides the services, routes and timeouts of a case as a file has them: the services at
// the front under outbounds, and the rest under policies.
func (p *printer) routing() (outbounds, policies []manifest.Document) {
	all := p.c.Routing
	n := slices.IndexFunc(all, func(doc manifest.Document) bool { return !isService(doc) })
	if n <= 0 || p.c.Policies == nil {
		// All may stand under outbounds. A case without policies must not get an empty list of them, and
		// a case without outbounds has no sidecars.
		return all, nil
	}
	return all[:n], all[n:]
}

func isService(doc manifest.Document) bool {
	head := doc.Type()
	return strings.HasSuffix(head.Type+head.Kind, "Service")
}

// routedRequest writes requests through sidecars that differ in their path only, as one item.
func routedRequest(some []casefile.RoutedRequest) string {
	r := some[0]
	var f fields
	f.add("from", quote(r.From))
	f.add("to", quote(r.To))
	f.add("method", text(r.Method))
	f.add("path", paths(some, func(r casefile.RoutedRequest) string { return r.Path }))
	f.add("authority", text(r.Authority))
	f.add("headers", headerLines(r.Headers))
	f.add("grpc", text(r.GRPC))
	f.add("sends", sends(r.Sends))
	f.add("answer", answer(r.Answer))
	f.add("want", string(r.Want))
	f.add("route", stated(r.Route))
	if len(r.Backends) == 1 {
		f.add("backend", quote(r.Backends[0]))
	} else {
		f.add("backend", texts(r.Backends))
	}
	f.add("by", stated(r.By))
	if r.Cause != nil {
		f.add("cause", r.Cause.String())
	}
	f.add("within", duration(r.Within))
	return f.flow()
}

func sends(s casefile.Sending) string {
	var f fields
	f.add("headPause", duration(s.Head))
	f.add("bodyPause", duration(s.Body))
	if s.Open {
		f.add("open", "true")
	}
	f.add("keep", duration(s.Keep))
	return f.orNone()
}

func answer(a script.Answer) string {
	if a == (script.Answer{}) {
		return ""
	}
	if named, err := script.Named(a.String()); err == nil && named == a {
		return a.String()
	}
	var f fields
	f.add("after", duration(a.After))
	if a.Parts > 0 {
		f.add("parts", strconv.Itoa(a.Parts))
	}
	f.add("every", duration(a.Every))
	if a.End != script.Complete {
		f.add("end", a.End.String())
	}
	return f.flow()
}

// duration is a time as Go writes it, and no value for none. No reader of YAML takes it for
// anything but text.
func duration(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}
