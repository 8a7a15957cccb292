package kuma

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/evaluation"
	"github.com/meshproof/meshproof/policy/kuma/internal/lint"
	"github.com/meshproof/meshproof/policy/kuma/internal/lowering"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
	"github.com/meshproof/meshproof/policy/kuma/internal/tree"
	"github.com/meshproof/meshproof/policy/language"
)

// policies implements [language.Policies] and [capability.Grower].
type policies struct {
	all     []permission.Policy
	options permission.Options
}

func (p policies) selected(in policy.Inbound) selection.Selection {
	return selection.Select(p.all, in, p.options)
}

func (p policies) Check(in policy.Inbound) error {
	return lowering.Check(p.selected(in), in, p.options)
}

func (p policies) Program(in policy.Inbound) language.Program {
	selected := p.selected(in)
	var out language.Program
	out.Program, out.Warnings = lowering.Lower(selected, in, p.options), lint.BlindSpots(selected.Policies, in)
	for _, ignored := range selected.Ignored {
		out.Ignored = append(out.Ignored, fmt.Sprintf("%s: %s", ignored.Policy, ignored.Reason))
	}
	return out
}

func (p policies) Evaluate(in policy.Inbound, r policy.Request) policy.Decision {
	return evaluation.Evaluate(p.all, in, p.options, r)
}

func (p policies) Lint(inbounds []policy.Inbound) []policy.Warning {
	return lint.Lint(p.all, inbounds, p.options)
}

// Notes says what differs by design in another option than the accepted one, and
// explains shadow denials of requests that are plainly allowed.
func (p policies) Notes(observed []policy.Decision) []string {
	var notes []string
	if option := p.options.Option; option != permission.Option1 {
		note := fmt.Sprintf("%s: %s", option, option.Attribution())
		if option == permission.Option3 && slices.ContainsFunc(observed, shadowAllows) {
			note += "; its shadow allows what is plainly allowed, whatever shadowForm says"
		}
		notes = append(notes, note)
	}
	if p.options.ShadowForm != permission.Accepted {
		return notes
	}
	plain := 0
	for _, d := range observed {
		if d.Effect == policy.Allow && d.Shadowed && d.Shadow == (policy.Verdict{Origin: "default"}) {
			plain++
		}
	}
	if plain > 0 {
		notes = append(notes, fmt.Sprintf("shadow_denied counts %d of the requests that are plainly allowed: the accepted form of the shadow has no allow list and ends in deny by default; read the shadow's policy of each request instead, or set options: {shadowForm: precise}", plain))
	}
	return notes
}

func shadowAllows(d policy.Decision) bool { return d.Shadowed && d.Shadow.Effect == policy.Allow }

// Tree implements [capability.Grower].
func (p policies) Tree(in policy.Inbound) (capability.Tree, error) {
	root, err := lowering.Tree(p.selected(in), in)
	if err != nil {
		return nil, err
	}
	return decisionTree{root}, nil
}

// decisionTree implements [capability.Tree].
type decisionTree struct{ *tree.Node }

func (t decisionTree) Prune() capability.Tree { return decisionTree{t.Node.Prune()} }
