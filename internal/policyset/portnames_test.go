package policyset_test

import (
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/policyset"
	"github.com/meshproof/meshproof/internal/policyset/relation"
)

// No workload of a set has two inbounds of one name: Kubernetes takes none, and a mesh could not tell which of
// them is asked. Kubernetes takes only short names of ports, so that some stay, and others must not become these.
func TestInboundsHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	for _, c := range casetest.Stories(t) {
		if len(c.Inbounds) < 2 {
			continue // a set has the inbounds of its case
		}
		for number := range uint64(setsOf(3, 1)) {
			for _, make := range []func() (of string, ok bool){
				func() (string, bool) { out, ok := policyset.FromCase(c, 1, number); return sharedName(out), ok },
				func() (string, bool) { out, ok := relation.Draw(c, 1, number); return sharedName(out), ok },
			} {
				if name, ok := make(); ok && name != "" {
					t.Errorf("set %d of %q: two inbounds are named %q", number, c.Name, name)
				}
			}
		}
	}
	for number := range uint64(setsOf(400, 60)) {
		for _, form := range []policyset.Form{policyset.Cilium, policyset.Linkerd} {
			if name := sharedName(policyset.DrawFresh(1, number, form)); name != "" {
				t.Errorf("%d: set %d: two inbounds are named %q", form, number, name)
			}
		}
	}
}

// sharedName returns a name that two inbounds of a case have, and "" for none.
func sharedName(c cases.Case) string {
	known := map[string]bool{}
	for _, in := range c.Inbounds {
		if known[in.String()] {
			return in.String()
		}
		known[in.String()] = true
	}
	return ""
}
