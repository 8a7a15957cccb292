package diff

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/metadata"
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
	return n + d.firstServers()
}

// firstServers counts the Servers of Linkerd that only NEW has, and that let everybody in by themselves: no class of requests
// changes by them, because that is the default which is taken. The default of the mesh may be another one.
func (d *Difference) firstServers() (n int) {
	servers := func(files *lab.Files) map[string]bool {
		out := map[string]bool{}
		for _, doc := range files.Policies {
			access := metadata.TextAt(doc, "spec.accessPolicy")
			if id := metadata.IdentityOf(doc); id.Kind == "Server" && id.Group == "policy.linkerd.io" {
				out[id.String()] = access == "all-unauthenticated" || access == "audit"
			}
		}
		return out
	}
	was := servers(d.old)
	for name, isOpen := range servers(d.recent) {
		if _, had := was[name]; isOpen && !had {
			n++
		}
	}
	return n
}

// firstTexts is a note about these classes. The first policy of a workload narrows what its folder says. Where another folder, or
// a default of the mesh, keeps callers out until now, the same policy lets them in, and no folder shows which of both it is.
func (d *Difference) firstTexts() (out []string) {
	for _, part := range d.firstParts {
		out = append(out, "note: "+part+" is no part of a proof, and nothing in OLD was about the same: it shuts out, but where a policy of another folder or a default of the mesh did so before, it lets more out")
	}
	if d.first == 0 {
		return out
	}
	gets := "get"
	if d.first == 1 {
		gets = "gets"
	}
	return append(out, fmt.Sprintf("note: %s of requests %s in by a rule now, and got in before since no policy applied: if a policy of another folder or a default of the mesh refused them, NEW lets them in",
		terminal.Plural(d.first, "class", "classes"), gets))
}

// addFirstExclusions notes the parts of the new policies that no proof is about and that only shut out. Another part that differs is told by
// [otherExclusions]. So a policy that has nothing else need not be asked.
func (d *Difference) addFirstExclusions(first []string) {
	for _, part := range first {
		if !slices.Contains(d.firstParts, part) {
			d.firstParts = append(d.firstParts, part)
		}
	}
	d.Unasked = slices.DeleteFunc(d.Unasked, func(u lab.Unasked) bool { return u.IsExcluded })
}
