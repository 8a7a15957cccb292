package diff

import (
	"slices"

	"github.com/meshproof/meshproof/internal/delivery"
	"github.com/meshproof/meshproof/policy/manifest"
)

// mostInstallations is the most clusters that are compared by themselves.
const mostInstallations = 64

// compareInstallations compares OLD with NEW once more for each cluster that the folders tell apart, without the policies of the others:
// no deny of one cluster hides what another one lets in.
func (d *Difference) compareInstallations(old, recent Side, to string, all []delivery.Installation) {
	known, compared := d.openings(), 0
	for _, one := range all {
		was, is := old, recent
		was.Files, is.Files = old.ReplacingPolicies(one.OfOld), recent.ReplacingPolicies(one.OfRecent)
		if slices.Equal(flows(was.Policies), flows(is.Policies)) {
			continue
		}
		if compared++; compared > mostInstallations {
			d.Opens = append(d.Opens, "the folders are of more clusters than are compared by themselves: compare "+one.Name+" alone")
			return
		}
		if opens := added(known, openingsOf(was, is, to)); len(opens) > 0 {
			d.Opens = append(d.Opens, one.String()+": without their policies access widens, or may widen: "+opens[0])
		}
	}
}

// flows returns the policies as texts, in an order that no file has a part in.
func flows(policies []manifest.Document) []string {
	var out []string
	for _, doc := range policies {
		out = append(out, doc.Flow())
	}
	slices.Sort(out)
	return out
}
