package route

import (
	"errors"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/linkerd/internal/object"
	"github.com/meshproof/meshproof/policy/manifest"
)

// resource is an HTTPRoute or a GRPCRoute, as Gateway API and Linkerd declare them.
type resource struct {
	object.Head
	Spec struct {
		ParentRefs []parentRef `yaml:"parentRefs"`
		Hostnames  []string    `yaml:"hostnames"`
		Rules      []struct {
			Name               manifest.Document `yaml:"name"`
			Matches            []match           `yaml:"matches"`
			Filters            []filter          `yaml:"filters"`
			BackendRefs        manifest.Document `yaml:"backendRefs"`
			Timeouts           manifest.Document `yaml:"timeouts"`
			Retry              manifest.Document `yaml:"retry"`
			SessionPersistence manifest.Document `yaml:"sessionPersistence"`
		} `yaml:"rules"`
	} `yaml:"spec"`
}

type parentRef struct {
	object.Reference
	SectionName manifest.Document `yaml:"sectionName"`
	Port        manifest.Document `yaml:"port"`
}

// match has the method of HTTP as a text, and that of gRPC as a mapping.
type match struct {
	Path        *pathMatch        `yaml:"path"`
	Headers     []namedMatch      `yaml:"headers"`
	QueryParams []namedMatch      `yaml:"queryParams"`
	Method      manifest.Document `yaml:"method"`
}

type pathMatch struct {
	Type  string  `yaml:"type"`
	Value *string `yaml:"value"`
}

type namedMatch struct {
	Type  string `yaml:"type"`
	Name  string `yaml:"name"`
	Value string `yaml:"value"`
}

type rpcMatch struct {
	Type    string `yaml:"type"`
	Service string `yaml:"service"`
	Method  string `yaml:"method"`
}

type filter struct {
	Type                   string            `yaml:"type"`
	RequestHeaderModifier  manifest.Document `yaml:"requestHeaderModifier"`
	ResponseHeaderModifier manifest.Document `yaml:"responseHeaderModifier"`
	RequestRedirect        manifest.Document `yaml:"requestRedirect"`
	RequestMirror          manifest.Document `yaml:"requestMirror"`
	URLRewrite             manifest.Document `yaml:"urlRewrite"`
	ExtensionRef           manifest.Document `yaml:"extensionRef"`
}

// versions are those that are served, the newest first.
var versions = map[string][]string{
	object.Group + HTTP:        {"v1beta3", "v1beta2", "v1beta1", "v1alpha1"},
	object.GatewayGroup + HTTP: {"v1", "v1beta1"},
	object.GatewayGroup + GRPC: {"v1"},
}

// methods are those of Gateway API.
var methods = []string{"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"}

// Parse reads a route. Its errors are [*manifest.Error], all of them joined.
func Parse(doc manifest.Document) (Route, error) {
	var in resource
	if err := doc.Decode(&in); err != nil {
		return Route{}, err
	}
	r := &reader{object.Reader{Doc: doc}, in.Kind}
	r.Complete(&in.Head, versions[in.Group()+in.Kind])
	created, err := metadata.Created(doc)
	if err != nil {
		return Route{}, err
	}
	out := Route{Head: in.Head, Hosts: in.Spec.Hostnames, Created: created, doc: doc}
	out.Servers = r.readParents(in)
	for i, host := range out.Hosts {
		r.checkHost(object.Item("spec.hostnames", i), host)
	}
	if len(in.Spec.Rules) == 0 {
		r.Refuse("spec.rules", "the route has no rule: write [{}] to take every request")
	}
	for i, from := range in.Spec.Rules {
		at := object.Item("spec.rules", i)
		r.checkFilters(at+".filters", from.Filters)
		rule := Rule{}
		for k, m := range from.Matches {
			rule.Matches = append(rule.Matches, r.readMatch(object.Item(at+".matches", k), m))
		}
		out.Rules = append(out.Rules, rule)
	}
	return out, r.Err()
}

type reader struct {
	object.Reader
	kind string
}

// readParents returns the names of the Servers. Parents of other kinds are about calls of clients.
func (r *reader) readParents(in resource) (out []string) {
	for i, parent := range in.Spec.ParentRefs {
		at := object.Item("spec.parentRefs", i)
		if _, stated := r.Doc.Lookup(at + ".group"); !stated && in.Group() == object.Group {
			// Linkerd's own HTTPRoute has this default; that of Gateway API has its own group.
			parent.Group = object.Group
		}
		switch {
		case strings.EqualFold(parent.Kind, "Server") && !parent.Is(object.Group, "Server"):
			r.Refuse(at+".group", "a Server is of the group %s, not of %q", object.Group, parent.Group)
		case !parent.Is(object.Group, "Server"):
		case parent.Name == "":
			r.Refuse(at+".name", "the name of the Server is missing")
		case parent.NamespaceIn(in.Metadata.Namespace) != in.Metadata.Namespace:
			r.Refuse(at+".namespace", "a route has no Server of another namespace: Linkerd leaves the whole route out")
		case object.IsSet(parent.Port):
			r.Refuse(at+".port", "a Server has one port: Linkerd leaves out a route that names a port")
		case object.IsSet(parent.SectionName):
			r.Refuse(at+".sectionName", "a Server has no sections: Linkerd leaves out a route that names one")
		default:
			out = append(out, parent.Name)
		}
	}
	return out
}

// checkHost refuses what Gateway API refuses of a hostname.
func (r *reader) checkHost(field, host string) {
	if reasons := validation.IsDNS1123Subdomain(strings.TrimPrefix(host, "*.")); reasons != nil {
		r.Refuse(field, "%q is no name of a host: %s", host, reasons[0])
	}
}

// checkFilters takes filters that change headers: whether a request is let in does not depend on
// them.
func (r *reader) checkFilters(field string, filters []filter) {
	for i, f := range filters {
		if f.Type != "RequestHeaderModifier" && f.Type != "ResponseHeaderModifier" {
			r.Refuse(object.Item(field, i)+".type", "meshproof cannot prove a filter of the type %q: it changes where a request goes, or who answers it", f.Type)
		}
	}
}

func (r *reader) readMatch(field string, from match) Match {
	out := Match{Headers: r.readNamed(field+".headers", from.Headers, true), Query: r.readNamed(field+".queryParams", from.QueryParams, false)}
	if r.kind == GRPC {
		if from.Path != nil || from.QueryParams != nil {
			r.Refuse(field, "a %s has neither path nor queryParams: it matches method and headers", GRPC)
		}
		out.RPC = r.readRPC(field+".method", from.Method)
		return out
	}
	if from.Path != nil {
		out.Path = r.readPath(field+".path", *from.Path)
	}
	if object.IsSet(from.Method) {
		if err := from.Method.Decode(&out.Method); err != nil || !slices.Contains(methods, out.Method) {
			r.Refuse(field+".method", "the method is unknown: use one of %s", strings.Join(methods, ", "))
		}
	}
	return out
}

func (r *reader) readRPC(field string, from manifest.Document) *RPC {
	out := &RPC{}
	if !object.IsSet(from) {
		r.Refuse(field, "the match has no method: a proxy up to August 2026 cannot read it, and refuses each request of the Server. Name a service or a method, or write no match to take all")
		return out
	}
	var text rpcMatch
	if err := from.Decode(&text); err != nil {
		r.Refuse(field, "a %s has a mapping with service and method here", GRPC)
		return out
	}
	if text.Type != "" && text.Type != Exact {
		r.Refuse(field+".type", "Linkerd compares service and method as they stand: %q is not supported", text.Type)
	}
	for _, part := range []string{text.Service, text.Method} {
		if strings.ContainsAny(part, "/?#") {
			r.Refuse(field, "%q is no name of a service or of a method", part)
		}
	}
	if text.Service == "" && text.Method == "" {
		r.Refuse(field, "it names neither a service nor a method: Gateway API wants one of them")
	}
	out.Service, out.Method = text.Service, text.Method
	return out
}

func (r *reader) readPath(field string, from pathMatch) Value {
	out := Value{Type: PathPrefix, Value: "/"}
	if from.Type != "" {
		out.Type = from.Type
	}
	if from.Value != nil {
		out.Value = *from.Value
	}
	switch {
	case out.Type != Exact && out.Type != PathPrefix && out.Type != RegularExpression:
		r.Refuse(field+".type", "%q is unknown: use %s, %s or %s", out.Type, Exact, PathPrefix, RegularExpression)
	case out.Type == RegularExpression:
		r.checkExpression(field+".value", policy.Is{Attribute: attribute.Path, Match: policy.Match{Kind: policy.Regex, Value: out.Value}})
	case !strings.HasPrefix(out.Value, "/"):
		r.Refuse(field+".value", "%q does not begin with a slash", out.Value)
	case strings.ContainsAny(out.Value, "?#"):
		r.Refuse(field+".value", "no path has the character ? or #: compare the query with queryParams")
	case out.Type == PathPrefix && strings.HasSuffix(out.Value, "//"):
		r.Refuse(field+".value", "%q ends in two slashes: write one", out.Value)
	}
	return out
}

func (r *reader) readNamed(field string, from []namedMatch, header bool) (out []Value) {
	seen := map[string]bool{}
	for i, m := range from {
		at := object.Item(field, i)
		v := Value{Name: m.Name, Type: Exact, Value: m.Value}
		if m.Type != "" {
			v.Type = m.Type
		}
		if header {
			v.Name = strings.ToLower(m.Name)
		}
		switch {
		case v.Type != Exact && v.Type != RegularExpression:
			r.Refuse(at+".type", "%q is unknown: use %s or %s", v.Type, Exact, RegularExpression)
		case v.Name == "":
			r.Refuse(at+".name", "the name is missing")
		case seen[v.Name]:
			r.Refuse(at+".name", "%s is there twice: Gateway API takes one entry of a name", m.Name)
		case header:
			r.checkHeader(at, v)
		case v.Type == RegularExpression:
			r.Refuse(at+".type", "meshproof cannot compare a parameter with an expression: Linkerd decodes the value first. Write it with %s", Exact)
		default:
			r.checkParameter(at, v)
		}
		seen[v.Name] = true
		out = append(out, v)
	}
	return out
}

func (r *reader) checkHeader(field string, v Value) {
	a := header(v.Name)
	switch {
	case !httpguts.ValidHeaderFieldName(v.Name):
		r.Refuse(field+".name", "%q is no name of a header", v.Name)
	case !a.Routable:
		r.Refuse(field+".name", "meshproof cannot judge the header %s: Envoy or the codec of a caller writes it", v.Name)
	case v.Type == RegularExpression:
		r.checkExpression(field+".value", policy.Is{Attribute: a, Match: policy.Match{Kind: policy.Regex, Value: v.Value}})
	case v.Value == "" || !httpguts.ValidHeaderFieldValue(v.Value):
		r.Refuse(field+".value", "%q is no value of a header", v.Value)
	case strings.IndexFunc(v.Value, func(c rune) bool { return c > '~' }) >= 0:
		r.Refuse(field+".value", "Linkerd takes an exact value of ASCII alone: it refuses %q", v.Value)
	}
}

func (r *reader) checkParameter(field string, v Value) {
	for _, text := range []string{v.Name, v.Value} {
		if strings.IndexFunc(text, func(c rune) bool { return c < ' ' || c > '~' || c == '%' }) >= 0 {
			r.Refuse(field, "meshproof compares parameters of printable ASCII without a percent sign: %q has another character", text)
		}
	}
}

// checkExpression refuses an expression that Envoy does not take, and one that Linkerd reads
// otherwise.
func (r *reader) checkExpression(field string, is policy.Is) {
	program := policy.Program{RoutesOnly: true, Routes: []policy.Route{{Name: "route", When: is}}}
	if err := program.Check(); err != nil {
		r.Refuse(field, "%v", errors.Unwrap(err))
	} else if !readAlike(is.Match.Value) {
		r.Refuse(field, "Linkerd reads expressions by the rules of Rust: it reads %q otherwise, or refuses it. Escape characters such as & - ~ [ in a class, and a brace that counts nothing", is.Match.Value)
	} else if !spansWhole(is.Match.Value) {
		r.Refuse(field, "Linkerd takes the first match from the left, and wants it to span the whole text: with an alternative or a repetition inside, that may be another one than Envoy's. Write the expression as ^(…)$")
	}
}

// SpecFields returns the fields that its documents may have in their spec.
func SpecFields() []string { return manifest.Fields(resource{}, "spec") }
