package manifestdiff

import (
	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/clusterrole"
)

// compareRights names a role or a binding that gives more than before of the rights by which callers may get in past the
// policies. Tokens are the Secrets with the token of an account.
func compareRights(before, after clusterobject.List, key string, tokens map[string]bool) []Change {
	const effect = "lets somebody call as somebody else, pass a sidecar or write policies, and the other side does not: "
	if o, gained := clusterrole.Gain(before, after, key, tokens); gained != "" {
		return []Change{changeOf(o, effect+gained)}
	}
	return nil
}

// hasRights reports whether an account has, on either side, rights that count: a program with such an account may change policies.
func (c *comparison) hasRights(namespace, account string) bool {
	return clusterrole.Empowers(c.oldObjects, namespace, account, c.tokens) || clusterrole.Empowers(c.recentObjects, namespace, account, c.tokens)
}
