// Package draw draws random programs and requests for tests. The values are few and
// alike, so that conditions meet requests and each other.
package draw

import (
	"fmt"
	"net/netip"

	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// The values that are drawn.
var (
	Identities = []string{"spiffe://td/ns/a/sa/x", "spiffe://td/ns/a/sa/y", "spiffe://td/ns/ab/sa/x", "spiffe://td/ns/a", "spiffe://td/"}
	Paths      = []string{"/", "/a", "/a/", "/a/b", "/ab", "/a//b"}
	Methods    = []string{"GET", "HEAD", "POST"}
	// regularIdentities are matches of identities that are more than a value or its beginning.
	regularIdentities = []policy.Match{
		{Kind: policy.Suffix, Value: "/sa/x"}, {Kind: policy.Suffix, Value: "x"}, {Kind: policy.Contains, Value: "/ns/a/"}, {Kind: policy.Contains, Value: "b"},
		{Kind: policy.Regex, Value: ".*/ns/a/.*"}, {Kind: policy.Regex, Value: "spiffe://td/ns/[^/]+/sa/y"}, {Kind: policy.Regex, Value: "(?i).*/SA/.|.{30,}"},
		{Kind: policy.Prefix, Value: "spiffe://TD/ns/A", AnyCase: true}, {Kind: policy.Suffix, Value: "/SA/Y", AnyCase: true},
	}
	Ports     = []uint16{79, 80, 8000, 8080, 8500, 8999, 9000, 65535}
	Addresses = []string{"9.255.255.255", "10.0.0.0", "10.1.2.3", "10.1.255.255", "10.2.0.0", "11.0.0.0", "2001:db8::1", "::ffff:10.1.2.3"}
	// Endpoints are matches of ports and addresses. Some of the ranges overlap in part.
	Endpoints = []policy.Is{
		attribute.DestinationPort.Exact("80"), attribute.DestinationPort.Exact("8080"), match(attribute.DestinationPort, policy.Range, "8000-8999"),
		match(attribute.DestinationPort, policy.Range, "80-8080"), match(attribute.DestinationPort, policy.Range, "8500-65535"), match(attribute.DestinationPort, policy.Range, "1-65535"),
		attribute.SourceAddress.Exact("10.1.2.3"), match(attribute.SourceAddress, policy.CIDR, "10.0.0.0/8"), match(attribute.SourceAddress, policy.CIDR, "10.1.0.0/16"),
		match(attribute.SourceAddress, policy.CIDR, "0.0.0.0/0"), match(attribute.SourceAddress, policy.CIDR, "::/0"), match(attribute.SourceAddress, policy.CIDR, "224.0.0.0/4"),
		attribute.DestinationAddress.Exact("10.1.2.3"), match(attribute.DestinationAddress, policy.CIDR, "10.1.0.0/16"), match(attribute.DestinationAddress, policy.CIDR, "::/0"),
		attribute.RemoteAddress.Exact("2001:db8::1"), match(attribute.RemoteAddress, policy.CIDR, "10.0.0.0/15"), match(attribute.RemoteAddress, policy.CIDR, "::ffff:10.0.0.0/104"),
	}
	Names = []string{"", "a.example", "a.example.evil", "b.a.example", "b"}
)

func match(a *policy.Attribute, kind policy.MatchKind, value string) policy.Is {
	return policy.Is{Attribute: a, Match: policy.Match{Kind: kind, Value: value}}
}

// Condition draws a condition that a gate of ordered rules can judge on the layer, nested at
// most depth levels deep.
func Condition(layer policy.Layer, depth int) *rapid.Generator[policy.Condition] {
	return condition(layer, policy.Ordered, depth)
}

func condition(layer policy.Layer, form policy.Form, depth int) *rapid.Generator[policy.Condition] {
	kinds := []string{"constant", "identity", "sni", "endpoint", "any"}
	if layer == policy.L7 {
		kinds = append(kinds, "path", "method")
	}
	if depth > 0 {
		kinds = append(kinds, "and", "or", "not")
	}
	caller := attribute.Identity
	if form == policy.Named {
		caller = attribute.URISAN
	}
	beginnings := rapid.SampledFrom([]policy.MatchKind{policy.Exact, policy.Prefix})
	return rapid.Custom(func(t *rapid.T) policy.Condition {
		below := func() []policy.Condition {
			return rapid.SliceOfN(condition(layer, form, depth-1), 0, 3).Draw(t, "of")
		}
		switch rapid.SampledFrom(kinds).Draw(t, "kind") {
		case "constant":
			return policy.Constant(rapid.Bool().Draw(t, "constant"))
		case "identity":
			if rapid.IntRange(0, 9).Draw(t, "regular") == 0 {
				return policy.Is{Attribute: caller, Match: rapid.SampledFrom(regularIdentities).Draw(t, "identity")}
			}
			return match(caller, beginnings.Draw(t, "match"), rapid.SampledFrom(Identities).Draw(t, "identity"))
		case "sni":
			return match(attribute.SNI, beginnings.Draw(t, "match"), rapid.SampledFrom(Names).Draw(t, "sni"))
		case "endpoint":
			return rapid.SampledFrom(Endpoints).Draw(t, "endpoint")
		case "any":
			// Most of these make a cover regular, so that they are few.
			if rapid.IntRange(0, 2).Draw(t, "leaf") > 0 {
				return policy.Never
			}
			return Leaf(layer, form).Draw(t, "leaf")
		case "path":
			kind := rapid.SampledFrom([]policy.MatchKind{policy.Exact, policy.Segments, policy.Prefix})
			return match(attribute.Path, kind.Draw(t, "match"), rapid.SampledFrom(Paths).Draw(t, "path"))
		case "method":
			return attribute.Method.Exact(rapid.SampledFrom(Methods).Draw(t, "method"))
		case "and":
			return policy.And(below())
		case "or":
			return policy.Or(below())
		default:
			return policy.Not{Condition: condition(layer, form, depth-1).Draw(t, "not")}
		}
	})
}

// Request draws a request.
func Request() *rapid.Generator[policy.Request] {
	return rapid.Custom(func(t *rapid.T) policy.Request {
		return policy.Request{
			URIs:   rapid.SliceOfN(rapid.SampledFrom(Identities), 0, 2).Draw(t, "uris"),
			SNI:    rapid.SampledFrom(Names).Draw(t, "sni"),
			Port:   rapid.SampledFrom(Ports).Draw(t, "port"),
			Source: netip.MustParseAddr(rapid.SampledFrom(Addresses).Draw(t, "source")), Destination: netip.MustParseAddr(rapid.SampledFrom(Addresses).Draw(t, "destination")),
			Method: rapid.SampledFrom(Methods).Draw(t, "method"),
			Path:   rapid.SampledFrom(Paths).Draw(t, "path") + rapid.SampledFrom(Queries).Draw(t, "query"),
			DNS:    rapid.SliceOfN(rapid.SampledFrom(Names[1:]), 0, 2).Draw(t, "dns"),
			Host:   rapid.SampledFrom(Hosts).Draw(t, "host"), Headers: Headers().Draw(t, "headers"), Others: Claims().Draw(t, "claims"),
			JoinsLines: rapid.Bool().Draw(t, "joins lines"), RoutesJoinLines: rapid.Bool().Draw(t, "routes join lines"), UTF8: rapid.Bool().Draw(t, "utf8"),
		}
	})
}

// Gate draws a gate of the layer. An observer is a gate that can stand as a shadow: it
// does not log.
func Gate(layer policy.Layer, observer bool) *rapid.Generator[policy.Gate] {
	return rapid.Custom(func(t *rapid.T) policy.Gate {
		effect := rapid.SampledFrom([]policy.Effect{policy.Deny, policy.Allow})
		g := policy.Gate{Layer: layer, Default: policy.Verdict{Effect: effect.Draw(t, "default"), Origin: "default"}}
		if rapid.IntRange(0, 3).Draw(t, "form") == 0 {
			g.Form, g.Default.Origin = policy.Named, ""
			if !observer && rapid.Bool().Draw(t, "logs") {
				g.Default.Effect = policy.Log
			}
		}
		for i := range rapid.IntRange(0, 4).Draw(t, "rules") {
			r := policy.Rule{Verdict: policy.Verdict{Origin: fmt.Sprint("rule-", i)}}
			switch {
			case g.Form == policy.Ordered:
				r.Effect = effect.Draw(t, "effect")
			case g.Default.Effect == policy.Deny:
				r.Effect = policy.Allow
			case g.Logs():
				r.Effect = policy.Log
			}
			if rapid.IntRange(0, 9).Draw(t, "nil") > 0 {
				r.When = condition(g.Layer, g.Form, 2).Draw(t, "when")
			}
			g.Rules = append(g.Rules, r)
		}
		return g
	})
}

// Program draws a program that passes Check: gates of L4 in front of those of L7, and
// shadows in the order of their places.
func Program() *rapid.Generator[policy.Program] {
	return rapid.Custom(func(t *rapid.T) policy.Program {
		var p policy.Program
		for _, layer := range []policy.Layer{policy.L4, policy.L7} {
			p.Gates = append(p.Gates, rapid.SliceOfN(Gate(layer, false), 0, 2).Draw(t, "gates")...)
		}
		for _, layer := range []policy.Layer{policy.L4, policy.L7} {
			for _, shadow := range rapid.SliceOfN(Gate(layer, true), 0, 2).Draw(t, "shadows") {
				shadow.Name = fmt.Sprint("shadow-", len(p.Shadows))
				shadow.Preceding = rapid.IntRange(0, len(p.Gates)).Draw(t, "behind")
				p.Shadows = append(p.Shadows, shadow)
				if p.Check() != nil {
					p.Shadows = p.Shadows[:len(p.Shadows)-1]
				}
			}
		}
		return p
	})
}
