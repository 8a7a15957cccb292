package diff

import (
	"fmt"

	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/policy"
)

// firstRules counts the classes of requests that a rule of NEW lets in, and that got in before because no rule of OLD decided
// about them.
func (d *Difference) firstRules() (n int) {
	for _, c := range d.Cases {
		for _, found := range c.Comparisons {
			for _, change := range found.Changes {
				was, is := change.Old, change.New
				if was.Decision.Effect == policy.Allow && was.Place == "" && is.Decision.Effect == policy.Allow && is.Place != "" {
					n++
				}
			}
		}
	}
	return n
}

// firstTexts is a note about these classes. The first policy of a workload narrows what its folder says. Where another folder, or
// a default of the mesh, keeps callers out until now, the same policy lets them in, and no folder shows which of both it is.
func (d *Difference) firstTexts() []string {
	if d.first == 0 {
		return nil
	}
	gets := "get"
	if d.first == 1 {
		gets = "gets"
	}
	return []string{fmt.Sprintf("note: %s of requests %s in by a rule now, and by no rule before: where a policy of another folder or a default of the mesh kept such requests out, NEW lets them in",
		terminal.Plural(d.first, "class", "classes"), gets)}
}
