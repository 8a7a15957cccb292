package manifestdiff

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/mention"
)

// negations are words by which policies let in all callers but some.
var negations = []string{mention.Anybody, "NotIn", "DoesNotExist", "notPrincipals", "notNamespaces", "notServiceAccounts", "notRequestPrincipals"}

// callers are those whom the policies name.
type callers struct {
	// anybody is true where a policy speaks of many by a pattern, a trust domain or a negation.
	anybody bool
	// named has what policies say of callers, and prefixes what stands behind the "/ns/" of an identity, up to a "*".
	named    string
	prefixes map[string]bool
	// ofNamespaces are the keys of the labels of namespaces by which policies of Cilium choose callers.
	ofNamespaces []string
}

// ofNamespace is an identity of Linkerd for each account of a namespace.
var ofNamespace = regexp.MustCompile(`^\*\.([^.*]+)\.serviceaccount\.identity\.`)

func callersOf(peers mention.Words) callers {
	out := callers{anybody: slices.ContainsFunc(negations, peers.Has), prefixes: map[string]bool{}}
	var named []string
	for _, word := range slices.Sorted(maps.Keys(peers)) {
		if word == "" || word == "*" || strings.HasPrefix(word, "/") {
			continue // a part of another word
		}
		named = append(named, word)
		if _, key, isLabel := strings.Cut(word, mention.OfNamespaces); isLabel && key != "" && key != "kubernetes.io/metadata.name" {
			out.ofNamespaces = append(out.ofNamespaces, key)
		}
		_, behind, inNamespace := strings.Cut(word, "/ns/")
		_, path, isID := strings.Cut(word, "spiffe://")
		switch {
		case inNamespace:
			behind, _, _ = strings.Cut(behind, "*")
			out.prefixes[behind] = true
		case strings.Contains(word, "*"):
			if of := ofNamespace.FindStringSubmatch(word); of != nil {
				out.prefixes[of[1]+"/"] = true
			} else {
				out.anybody = true
			}
		case isID && (!strings.Contains(path, "/") || strings.HasSuffix(path, "/")):
			out.anybody = true
		case isID && peers.Has("Prefix"):
			_, name, _ := strings.Cut(path, "/")
			out.prefixes[name] = true
		}
	}
	out.named = strings.Join(named, "\n")
	return out
}

// choosesNamespace reports whether policies may choose callers by a label of a namespace. A namespace that no document describes may have each label, and one
// that a document describes may get a label that an unknown object names, such as a kustomization.
func (c *comparison) choosesNamespace(name string) bool {
	return slices.ContainsFunc(c.callers.ofNamespaces, func(key string) bool {
		isDescribed, hasLabel := false, false
		for _, o := range c.recentObjects.All {
			if o.Kind == "Namespace" && o.Group == "" && o.Name == name {
				value := o.Label(key)
				isDescribed, hasLabel = true, hasLabel || value != nil && c.callsBy(key, value)
			}
		}
		return !isDescribed || hasLabel || c.givesLabel(key)
	})
}

// givesLabel reports whether an unknown object of the second side names the key of a label, also at the end of a path of a patch in JSON: it may give
// the label to another object.
func (c *comparison) givesLabel(key string) bool {
	given, asked := c.givenLabels[key]
	if asked {
		return given
	}
	words := mention.Words{}
	for _, o := range c.recentObjects.All {
		if o.Category == clusterobject.Unknown {
			words.AddSelectors(o.Fields)
		}
	}
	end := "labels/" + strings.ReplaceAll(key, "/", "~1")
	given = words.Has(key) || slices.ContainsFunc(slices.Collect(maps.Keys(words)), func(word string) bool { return strings.HasSuffix(word, end) })
	c.givenLabels[key] = given
	return given
}

// callsBy reports whether policies may choose callers by a label: they have its key, and its value or an
// expression that asks for the key alone, or a mesh names callers by it.
func (c *comparison) callsBy(key string, value any) bool {
	text, _ := value.(string)
	hasValue := text == "" || text == mention.Anybody || c.peers.Has(text) || c.peers.Has("Exists") || c.peers.Has("*") || c.callers.anybody
	return c.peers.Has(key) && hasValue || c.identities.Has(key) && text != "" && c.mayLetIn("", text)
}

// namesService reports whether policies name callers by a Service, as Kuma does: "web_shop_svc_80". A workload without
// a Service is "web_shop_svc".
func (c *comparison) namesService(o clusterobject.Object) bool {
	return strings.Contains(c.callers.named, o.Name+"_"+o.Namespace+"_svc")
}

// namesHost reports whether policies have the host of a Service, such as that of the keys of tokens: "name.namespace", with more of its
// domain or a port behind it, or without.
func (c *comparison) namesHost(o clusterobject.Object) bool {
	host, found := "//"+o.Name+"."+o.Namespace, false
	for _, policy := range c.policies() {
		fieldvalue.EachText(policy.Fields, func(text string) {
			_, rest, has := strings.Cut(strings.ToLower(text), host)
			found = found || has && (rest == "" || strings.ContainsAny(rest[:1], ".:/?"))
		})
	}
	return found
}

// mayLetIn reports whether policies may let an account of a namespace in; "" is no namespace. Its name stands in
// what they say of callers, or they say it of many.
func (c *comparison) mayLetIn(namespace, account string) bool {
	if c.callers.anybody || strings.Contains(c.callers.named, account) || namespace != "" && (c.peers.Has(namespace) || c.choosesNamespace(namespace)) {
		return true
	}
	identity := account // of a Dataplane of Universal
	if namespace != "" {
		identity = namespace + "/sa/" + account
	}
	for end := range len(identity) + 1 {
		if c.callers.prefixes[identity[:end]] {
			return true
		}
	}
	return false
}
