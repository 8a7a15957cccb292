package rendering

import (
	"fmt"

	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Remedy says what is not known of a text that a template tool may replace, and what to do.
const Remedy = "what is applied is unknown: write it out with the tool"

// Unrendered warns of each policy that a template tool may change or leave out before it is applied, and of each with a character that nobody
// sees: such a text comes from a page or a chat, and is compared as it stands.
func Unrendered(policies []manifest.Document) (out []policy.Warning) {
	for _, doc := range policies {
		if found, has := PlaceholderOf(doc); has {
			out = append(out, policy.Warning{
				Kind: warning.NotRendered, Place: doc.Place(found.Field), Policy: metadata.IdentityOf(doc).String(),
				Message: fmt.Sprintf("a template tool may replace %q, and %s", found.Text, Remedy),
			})
		}
	}
	for _, doc := range policies {
		if found, has := firstText(doc, invisibleIn); has {
			out = append(out, policy.Warning{
				Kind: warning.InvisibleCharacter, Place: doc.Place(found.Field), Policy: metadata.IdentityOf(doc).String(),
				Message: fmt.Sprintf("the text has a character that no editor shows, and is another one than it looks like: %s: write it anew", found.Text),
			})
		}
	}
	for _, found := range InstructionsOf(policies) {
		out = append(out, policy.Warning{
			Kind: warning.NotRendered, Place: found.Place, Policy: found.Document.String(),
			Message: fmt.Sprintf("a template tool reads the comment %q, and %s", found.Text, Remedy),
		})
	}
	return out
}
