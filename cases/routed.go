package cases

import (
	"strings"
	"time"

	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/script"
	"github.com/meshproof/meshproof/policy/manifest"
)

// requestItem is an entry under requests: to an inbound, or through a sidecar to a service.
type requestItem struct {
	requestSchema
	routed *routedSchema
}

// UnmarshalManifest lets [manifest.Document.Decode] read the type.
func (i *requestItem) UnmarshalManifest(d manifest.Document) error {
	var to oneOrMore
	if at, ok := d.Lookup("to"); ok && at.Decode(&to) == nil && len(to) > 0 && casefile.IsService(to[0]) {
		i.routed = new(routedSchema)
		return d.Decode(i.routed)
	}
	return d.Decode(&i.requestSchema)
}

// routedSchema is a request through a sidecar.
type routedSchema struct {
	lineSchema
	Sends   sendingSchema  `yaml:"sends"`
	Answer  answerSchema   `yaml:"answer"`
	Want    *endSchema     `yaml:"want"`
	Route   *string        `yaml:"route"`
	Backend oneOrMore      `yaml:"backend"`
	By      *string        `yaml:"by"`
	Cause   *routing.Cause `yaml:"cause"`
	Within  *duration      `yaml:"within"`
}

// endBound is the time by which the request must have ended; 0 where none is stated.
func (s routedSchema) endBound() time.Duration {
	if s.Within == nil {
		return 0
	}
	return s.Within.Duration
}

type endSchema struct{ casefile.End }

// UnmarshalManifest lets [manifest.Document.Decode] read the type.
func (s *endSchema) UnmarshalManifest(d manifest.Document) error {
	text, err := scalar(d)
	if err == nil {
		s.End, err = casefile.EndOf(text)
	}
	return err
}

// duration reads a time as Go writes it, such as 150ms.
type duration struct{ time.Duration }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *duration) UnmarshalText(text []byte) (err error) {
	d.Duration, err = time.ParseDuration(string(text))
	return err
}

type sendingSchema struct {
	Head duration `yaml:"headPause"`
	Body duration `yaml:"bodyPause"`
	Open bool     `yaml:"open"`
	Keep duration `yaml:"keep"`
}

// answerSchema reads a word or a mapping.
type answerSchema struct{ script.Answer }

// UnmarshalManifest lets [manifest.Document.Decode] read the type.
func (s *answerSchema) UnmarshalManifest(d manifest.Document) error {
	var schema struct {
		After duration `yaml:"after"`
		Parts int      `yaml:"parts"`
		Every duration `yaml:"every"`
		End   string   `yaml:"end"`
	}
	if len(d.Keys()) == 0 {
		word, err := scalar(d)
		if err == nil {
			s.Answer, err = script.Named(word)
		}
		return err
	}
	if err := d.Decode(&schema); err != nil {
		return err
	}
	s.Answer = script.Answer{After: schema.After.Duration, Parts: schema.Parts, Every: schema.Every.Duration}
	if schema.End != "" {
		var err error
		if s.End, err = script.EndNamed(schema.End); err != nil {
			return d.Errorf("end", "%v", err)
		}
	}
	if err := s.Check(); err != nil {
		return d.Errorf("", "%v", err)
	}
	return nil
}

// reachSchema is the answer of an inbound to every connection.
type reachSchema struct{ script.Reach }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *reachSchema) UnmarshalText(text []byte) error {
	a, err := script.Named(string(text))
	if err == nil {
		s.Reach, err = a.OfInbound()
	}
	return err
}

// addRouted crosses the lists of a request through a sidecar.
func (b *builder) addRouted(field string, s routedSchema) error {
	if err := b.checkRouted(field, s); err != nil {
		return err
	}
	if !s.fits(maxRequests - len(b.built.RoutedRequests)) {
		return b.doc.Errorf(field, "the lists cross to more requests than one case may have, which is %d: split the case", maxRequests)
	}
	for _, from := range s.From {
		if _, ok := b.workloads[from]; !ok {
			return b.doc.Errorf(field+".from", "%q is no workload: a request to a service goes through the sidecar of one", from)
		}
		for _, to := range s.To {
			if !casefile.IsService(to) {
				return b.doc.Errorf(field+".to", "%q is no port of a service: write MeshService/name:port, or give inbounds an entry of their own", to)
			}
			for _, method := range orNone(s.Method) {
				for _, path := range orNone(s.Path) {
					b.built.RoutedRequests = append(b.built.RoutedRequests, casefile.RoutedRequest{
						Place: b.doc.Place(field), From: from, To: to, Method: method, Path: path,
						Authority: s.Authority, Headers: s.Headers, GRPC: s.GRPC,
						Sends:  casefile.Sending{Head: s.Sends.Head.Duration, Body: s.Sends.Body.Duration, Open: s.Sends.Open, Keep: s.Sends.Keep.Duration},
						Answer: s.Answer.Answer, Want: s.Want.End, Route: s.Route, Backends: s.Backend, By: s.By, Cause: s.Cause, Within: s.endBound(),
					})
				}
			}
		}
	}
	return nil
}

func (b *builder) checkRouted(field string, s routedSchema) error {
	if s.Want == nil {
		return b.doc.Errorf(field+".want", "the request does not say what it wants")
	}
	if err := b.checkLine(field, s.lineSchema); err != nil {
		return err
	}
	for _, name := range s.Backend {
		if _, err := b.inbound(b.doc, field+".backend", name); err != nil {
			return err
		}
	}
	code, isGRPC := s.Want.GRPC()
	switch {
	case s.Answer.Reach != script.Accepts:
		return b.doc.Errorf(field+".answer", "a connection is refused or lost for all requests to an inbound: say answer: %s of the inbound", s.Answer)
	case s.Sends.Head.Duration < 0 || s.Sends.Body.Duration < 0 || s.Sends.Keep.Duration < 0 || s.endBound() < 0:
		return b.doc.Errorf(field, "a time is less than nothing")
	case s.Within != nil && s.endBound() == 0:
		return b.doc.Errorf(field+".within", "a request takes some time: leave the key out for the bound of the lab")
	case s.Sends.Open && s.GRPC == "":
		return b.doc.Errorf(field+".sends.open", "only a gRPC call can be left open: say grpc: Service/Method")
	case s.Sends.Open && s.Sends.Body.Duration != 0:
		return b.doc.Errorf(field+".sends.bodyPause", "a call that is left open has no end to wait for")
	case isGRPC && s.GRPC == "":
		return b.doc.Errorf(field+".want", "%s is a status of gRPC (%d), and the request is no call: say grpc: Service/Method", s.Want.End, code)
	case s.Backend != nil && len(s.Backend) == 0:
		return b.doc.Errorf(field+".backend", "the list is empty: leave it out, or no backend is right")
	}
	if s.Route != nil && strings.TrimSpace(*s.Route) != *s.Route {
		return b.doc.Errorf(field+".route", "%q has blanks around it", *s.Route)
	}
	return nil
}
