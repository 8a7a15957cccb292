package lowering

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/legacy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
)

// fromItems are the legacy items that govern an inbound, in order of concatenation.
type fromItems struct {
	// proxy govern every request, and come before those of a route.
	proxy []legacy.Item
	// routes are those of the policies that target a route, by its name.
	routes map[string][]legacy.Item
}

func fromItemsOf(sel selection.Selection) fromItems {
	items := fromItems{routes: make(map[string][]legacy.Item)}
	for i := range sel.Policies {
		p := &sel.Policies[i]
		for _, item := range p.From {
			if p.Target.Kind == permission.Route {
				items.routes[p.Target.Name] = append(items.routes[p.Target.Name], item.Compiled)
			} else {
				items.proxy = append(items.proxy, item.Compiled)
			}
		}
	}
	return items
}

// of returns all items that govern a route.
func (i fromItems) of(route string) []legacy.Item { return slices.Concat(i.proxy, i.routes[route]) }

// lowerFrom returns the program of an inbound under the legacy form: a gate for
// the proxy, and gates for the routes with policies of their own. A route in
// front of those has to be there too, for the first that matches is taken.
func lowerFrom(sel selection.Selection, in policy.Inbound, opts permission.Options) policy.Program {
	how := legacy.Options{Compiler: opts.LegacyCompiler, Layer: in.Protocol.Layer(), Precise: opts.ShadowForm == permission.Precise}
	items := fromItemsOf(sel)
	gate, shadows := legacy.Gates(items.proxy, how)
	program := policy.Program{Gates: []policy.Gate{gate}, Shadows: shadows}
	targeted := 0
	for i, route := range in.Routes {
		if len(items.routes[route.Name]) > 0 {
			targeted = i + 1
		}
	}
	for _, route := range in.Routes[:targeted] {
		gate, shadows := legacy.Gates(items.of(route.Name), how)
		program.Routes = append(program.Routes, policy.Route{Name: route.Name, When: route.When, Gates: []policy.Gate{gate}, Shadows: shadows})
	}
	return program
}

// Check refuses a selection that [Lower] would make a program of that lets nobody
// in: one whose legacy items are too many for the full compiler. The error wraps
// a [*legacy.SizeError].
func Check(s selection.Selection, in policy.Inbound, opts permission.Options) error {
	items := fromItemsOf(s)
	if err := opts.LegacyCompiler.Check(items.proxy); err != nil {
		return fmt.Errorf("policy/kuma: inbound %s: %w", in, err)
	}
	for _, route := range in.Routes {
		if err := opts.LegacyCompiler.Check(items.of(route.Name)); err != nil {
			return fmt.Errorf("policy/kuma: route %s of inbound %s: %w", route.Name, in, err)
		}
	}
	return nil
}
