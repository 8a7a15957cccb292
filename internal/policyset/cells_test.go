package policyset_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/policyset"
	"github.com/meshproof/meshproof/internal/programtest"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
)

// askedCell is a kind of match of an attribute, with the dialect whose policies ask for it.
type askedCell struct {
	dialect, attribute string
	kind               policy.MatchKind
	anyCase            bool
}

// addCells adds what the programs of a case ask for.
func addCells(t *testing.T, c cases.Case, cells map[askedCell]bool) {
	t.Helper()
	set, err := dialect.Parse(c.Policies, c.Options)
	if err != nil || len(c.Policies) == 0 {
		return
	}
	// A MeshTrafficPermission has an API version in one of its two formats.
	head := c.Policies[0].Type()
	group, _, _ := strings.Cut(head.APIVersion, "/")
	if head.Type+head.Kind == "MeshTrafficPermission" {
		group = "kuma.io"
	}
	for _, in := range c.Inbounds {
		if set.Check(in.Inbound) != nil {
			continue
		}
		for when := range set.Program(in.Inbound).Conditions() {
			if is, ok := when.(policy.Is); ok {
				cells[askedCell{group, programtest.Family(is.Attribute), is.Match.Kind, is.Match.AnyCase}] = true
			}
		}
	}
}

// TestEveryCellOfTheCasesIsDrawn shows that drawn sets ask for all that the policies of the cases
// ask for, in each dialect that has a form; with -short in two dialects.
func TestEveryCellOfTheCasesIsDrawn(t *testing.T) {
	t.Parallel()
	written, drawn := map[askedCell]bool{}, map[askedCell]bool{}
	for _, c := range casetest.Stories(t) {
		addCells(t, c, written)
	}
	forms := []policyset.Form{policyset.KumaOption1, policyset.KumaOption2, policyset.KumaOption3, policyset.KumaFrom, policyset.GatewayAPI, policyset.Istio, policyset.Cilium, policyset.Linkerd}
	if testing.Short() {
		forms = []policyset.Form{policyset.GatewayAPI}
	}
	dialects := map[string]bool{}
	missing := func() (out []askedCell) {
		for cell := range written {
			// Some dialects have no drawn sets.
			if dialects[cell.dialect] && !drawn[cell] {
				out = append(out, cell)
			}
		}
		return out
	}
	for number := uint64(0); number < 20 || number < 1000 && len(missing()) > 0; number++ {
		for _, form := range forms {
			addCells(t, policyset.Draw(5, number, form), drawn)
		}
		for cell := range drawn {
			dialects[cell.dialect] = true
		}
	}
	for _, cell := range missing() {
		t.Errorf("no drawn set asks for a match of the kind %s (any case: %t) of %s, as a case of %s does", cell.kind, cell.anyCase, cell.attribute, cell.dialect)
	}
}
