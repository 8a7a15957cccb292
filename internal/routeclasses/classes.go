// Package routeclasses cuts the requests to an outbound into classes that its routes decide
// alike.
//
// It guarantees that [routing.Outbound.Decide] gives all requests of a class the same route, that
// each class has a witness, and that a cover of examples says so, see package policy/classes. It
// does not look at the callers of an outbound.
package routeclasses

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
)

// Cut cuts the requests to an outbound into classes that the routes of each of the outbounds
// decide alike. Two outbounds, which are of one protocol, give classes that compare them.
func Cut(outbounds ...routing.Outbound) *classes.Cover { return cut(false, outbounds) }

func cut(anyText bool, outbounds []routing.Outbound) *classes.Cover {
	programs := make([]policy.Program, len(outbounds))
	for i, o := range outbounds {
		programs[i] = o.Program()
	}
	return classes.Cut(classes.Surface{Protocol: outbounds[0].Protocol, Normalization: routing.Normalization, AnyText: anyText}, programs...)
}

// UnsendableClasses returns the classes of requests that take other routes than those of the cover, which is that of
// the outbounds: the lab cannot send these requests, and another caller may. Where the classes of
// the cover take each route, there is none to look for.
func UnsendableClasses(cover *classes.Cover, outbounds ...routing.Outbound) (out []classes.Class) {
	all := 0
	for _, o := range outbounds {
		all += len(o.Routes)
	}
	taken, shown := map[[2]int]bool{}, map[string]bool{}
	note := func(r policy.Request) (key string) {
		for i, o := range outbounds {
			route := slices.IndexFunc(o.Routes, func(route routing.Route) bool { return route.When == nil || route.When.Holds(&r) })
			taken[[2]int{i, route}] = true
			key += fmt.Sprint(route, " ")
		}
		return key
	}
	for _, class := range cover.Classes {
		shown[note(class.Witness)] = true
	}
	if len(taken) == all || outbounds[0].Protocol.Layer() == policy.L4 {
		return nil
	}
	for _, class := range cut(true, outbounds).Classes {
		if key := note(class.Witness); !shown[key] {
			shown[key] = true
			out = append(out, class)
		}
	}
	return out
}

// UnmetRoutes returns the routes whose matches no request of the lab meets, whatever routes stand before them.
// The cover is one of the outbound.
func UnmetRoutes(cover *classes.Cover, o routing.Outbound) (out []routing.Route) {
	if o.Protocol.Layer() == policy.L4 {
		return nil
	}
	met := func(r routing.Route, by *classes.Cover) bool {
		return r.When == nil || slices.ContainsFunc(by.Classes, func(c classes.Class) bool { return r.When.Holds(&c.Witness) })
	}
	for _, r := range o.Routes {
		alone := o
		if alone.Routes = []routing.Route{r}; !met(r, cover) && !met(r, cut(false, []routing.Outbound{alone})) {
			out = append(out, r)
		}
	}
	return out
}
