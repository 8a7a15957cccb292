package diff

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/metadata"
)

// Principals of Istio's default trust domain, as a document writes them on one line: with a star, and whole.
var (
	starredDefault = regexp.MustCompile(`\bcluster\.local/[^"', \]}]*\*`)
	wholeDefault   = regexp.MustCompile(`\bcluster\.local/[^"', \]}*]+["', \]}]`)
)

// unstatedDomain is a note about principals of Istio's default trust domain where nobody states that of the mesh, "" where there is none.
// A whole principal of it stands for the mesh's, and one with a star does not, so that the two are of different callers.
func unstatedDomain(old, recent Side) string {
	starred, whole := "", false
	for _, side := range []Side{old, recent} {
		if !side.Options.TrustDomain.IsZero() || strings.Contains(side.Options.Document.Flow(), "trustDomain") {
			return ""
		}
		for _, doc := range side.Policies {
			if metadata.IdentityOf(doc).Group == "security.istio.io" {
				starred = max(starred, starredDefault.FindString(doc.Flow()))
				whole = whole || wholeDefault.MatchString(doc.Flow())
			}
		}
	}
	if starred == "" || !whole {
		return ""
	}
	return fmt.Sprintf("note: nobody states the trust domain of the mesh: a whole principal of cluster.local stands for %s here, and %s does not: write --trust-domain cluster.local if it is that of the mesh", casefile.DefaultTrustDomain, starred)
}

// domainTexts is the note about an unstated trust domain, where a class of requests widens.
func (d *Difference) domainTexts() []string {
	if d.domain == "" || d.counts()[Widened] == 0 {
		return nil
	}
	return []string{d.domain}
}
