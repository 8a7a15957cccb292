package lowering

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/legacy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
)

// fromItems has the legacy items that govern an inbound, in order of concatenation.
type fromItems struct {
	// proxy has the items that govern every request. They come before those of a route.
	proxy []legacy.Item
	// routes has the items of the policies that target a route, by its name.
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

// forRoute returns all items that govern a route.
func (i fromItems) forRoute(route string) []legacy.Item {
	return slices.Concat(i.proxy, i.routes[route])
}

// lowerFrom returns the program of an inbound under the legacy form: a gate for the
// proxy, and gates for the routes with policies of their own. The first route that
// matches is taken, so that the routes in front of those are part of the program too.
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
		gate, shadows := legacy.Gates(items.forRoute(route.Name), how)
		program.Routes = append(program.Routes, policy.Route{Name: route.Name, When: route.When, Gates: []policy.Gate{gate}, Shadows: shadows})
	}
	return program
}

// Check refuses a selection with too many legacy items for the full compiler. [Lower]
// would make a program of it that lets nobody in. The error wraps a
// [*legacy.SizeError].
func Check(s selection.Selection, in policy.Inbound, opts permission.Options) error {
	items := fromItemsOf(s)
	if err := opts.LegacyCompiler.Check(items.proxy); err != nil {
		return fmt.Errorf("policy/kuma: inbound %s: %w", in, err)
	}
	for _, route := range in.Routes {
		if err := opts.LegacyCompiler.Check(items.forRoute(route.Name)); err != nil {
			return fmt.Errorf("policy/kuma: route %s of inbound %s: %w", route.Name, in, err)
		}
	}
	return nil
}
