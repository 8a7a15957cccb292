package route

import (
	"slices"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// Rivals are the keys of routes that may take a request which another route is as close to: the older one of the two takes
// it, and no file says which that is.
func Rivals(routes []Route) (out []string) {
	all := Alternatives(routes, "")
	for i, a := range all {
		for _, b := range all[:i] {
			if a.rank == b.rank && a.Route.Key() != b.Route.Key() && !apart(a, b) {
				out = append(out, a.Route.Key(), b.Route.Key())
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// apart reports whether two alternatives of one rank take no request together, as far as their hosts, paths and methods
// say it.
func apart(a, b Alternative) bool {
	for x := range policy.Walk(a.When) {
		for y := range policy.Walk(b.When) {
			one, isOne := x.(policy.Is)
			other, isOther := y.(policy.Is)
			if isOne && isOther && one.Attribute == other.Attribute && excludes(one, other) {
				return true
			}
		}
	}
	return false
}

// excludes reports whether no value of one attribute meets both conditions.
func excludes(one, other policy.Is) bool {
	switch one.Attribute {
	case attribute.Host:
		// Hosts of one rank are equally long.
		return one.Match != other.Match
	case attribute.Path, attribute.Method:
		literal := func(is policy.Is) bool { return is.Match.Kind != policy.Regex }
		meets := func(is, of policy.Is) bool {
			return literal(of) && is.Holds(&policy.Request{Path: of.Match.Value, Method: of.Match.Value})
		}
		whole := func(is policy.Is) bool { return is.Match.Kind == policy.Exact }
		known := literal(one) && literal(other) || whole(one) || whole(other)
		return known && !meets(one, other) && !meets(other, one)
	default:
		return false
	}
}
