// Package route reads the HTTPRoutes and GRPCRoutes of a Server of Linkerd, and puts their matches
// in the order in which its proxy prefers them.
//
// It guarantees that of two matches the proxy takes the first. It refuses what Linkerd refuses, and what no route of Envoy can ask for:
// each refusal names file, line and field. It knows nothing of who may use a route.
package route

import (
	"strings"
	"time"

	"github.com/meshproof/meshproof/policy/linkerd/internal/object"
	"github.com/meshproof/meshproof/policy/manifest"
)

// The kinds of routes.
const (
	HTTP = "HTTPRoute"
	GRPC = "GRPCRoute"
)

// The types of a match.
const (
	Exact             = "Exact"
	PathPrefix        = "PathPrefix"
	RegularExpression = "RegularExpression"
)

// Route is a route as it is written, with the defaults filled in. It is immutable.
type Route struct {
	Head object.Head
	// Servers are the names of the Servers that the route is for. They are of its namespace.
	Servers []string
	// Hosts are names of hosts; a leading "*." stands for one label or more. Without a host the
	// route takes all.
	Hosts []string
	Rules []Rule
	// Created is the zero time where the document does not state it.
	Created time.Time
	doc     manifest.Document
}

// Rule is a list of matches, any of which takes a request. Without a match it takes all.
type Rule struct {
	Matches []Match
}

// AllMatches returns the matches of the rule: one that takes all where it states none.
func (r Rule) AllMatches() []Match {
	if len(r.Matches) == 0 {
		return []Match{{}}
	}
	return r.Matches
}

// Match takes a request that meets all of its parts.
type Match struct {
	// Path has no type where the match has no path.
	Path    Value
	Headers []Value
	Query   []Value
	// Method is empty where the match takes all.
	Method string
	// RPC is what a GRPCRoute matches.
	RPC *RPC
}

// Value is compared with a path, a header or a parameter of the query.
type Value struct{ Name, Type, Value string }

// RPC is a call of gRPC. An empty field takes all.
type RPC struct{ Service, Method string }

// AllCalls returns the route that a Server of gRPC has where no GRPCRoute is there for it (the default InboundRoute of linkerd2,
// policy-controller/core): it takes each call, and no other request. It has the name of the Server, and a group that no policy names.
func AllCalls(server object.Head) Route {
	return Route{Head: object.Head{APIVersion: "default", Kind: GRPC, Metadata: server.Metadata}, Rules: []Rule{{Matches: []Match{{RPC: &RPC{}}}}}}
}

// Key tells routes apart: two groups have the kind HTTPRoute.
func (r Route) Key() string { return r.Head.Group() + "/" + r.Head.Kind + "/" + r.Head.String() }

// String returns "kind namespace/name".
func (r Route) String() string { return r.Head.Kind + " " + r.Head.String() }

// Place returns "file:line" of a field.
func (r Route) Place(field string) string { return r.doc.Place(field) }

// Owns reports whether the document is a route of Linkerd's own group, or one of Gateway API that
// names a Server as its parent. Other routes are about calls of clients.
func Owns(doc manifest.Document) bool {
	head := doc.Type()
	group, _, _ := strings.Cut(head.APIVersion, "/")
	switch {
	case head.Type != "" || head.Kind != HTTP && head.Kind != GRPC:
		return false
	case group == object.Group:
		return head.Kind == HTTP
	case group != object.GatewayGroup:
		return false
	}
	refs, ok := doc.Lookup("spec.parentRefs")
	var parents []map[string]manifest.Document
	if !ok || refs.Decode(&parents) != nil {
		return false
	}
	for _, parent := range parents {
		var kind string
		if at, ok := parent["kind"]; ok && at.Decode(&kind) == nil && strings.EqualFold(kind, "Server") {
			return true
		}
	}
	return false
}
