package manifestdiff

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// changes returns each difference once, in the order of the documents.
func (c *comparison) changes() (out []Change) {
	found, customized := c.compareKustomizations()
	out, c.customizations = append(out, found...), customized
	clusterobject.EachPair(c.oldObjects, c.recentObjects, func(was, is []clusterobject.Object) {
		if c.isPaired(slices.Concat(is, was)[0]) {
			return
		}
		found := c.compare(was, is)
		c.told.add(slices.Concat(is, was)[0].Key, found)
		out = append(out, found...)
	})
	out = append(out, c.compareDataplanes()...)
	out = append(out, c.comparePolicies()...)
	out = append(out, c.compareFiles()...)
	out = append(out, c.compareTemplates()...)
	out = append(out, c.compareFolders()...)
	slices.SortStableFunc(out, func(a, b Change) int { return cmp.Compare(a.Object, b.Object) })
	return slices.Compact(out)
}

// compare compares one object of both sides; one of them may lack it, or have it more than once.
func (c *comparison) compare(olds, recents []clusterobject.Object) []Change {
	all := slices.Concat(olds, recents)
	if all[0].IsOfRights() {
		found := compareRights(c.oldObjects, c.recentObjects, all[0].Key, c.tokens)
		if len(found) == 0 && c.symmetric {
			found = compareRights(c.recentObjects, c.oldObjects, all[0].Key, c.tokens)
		}
		return found
	}
	if c.isHarmless(olds, c.olds, c.recents) && c.isHarmless(recents, c.recents, c.olds) && (!isOfAgent(all[0]) || c.isExported(olds, recents)) {
		return c.compareOrigins(olds, recents)
	}
	switch {
	case len(olds) > 1 || len(recents) > 1:
		same := slices.EqualFunc(olds, recents, func(a, b clusterobject.Object) bool { return a.Doc.Flow() == b.Doc.Flow() })
		if same {
			return nil
		}
		return []Change{changeOf(all[len(all)-1], isTwice)}
	case len(olds) == 0:
		return c.alone(recents[0], c.olds, c.recents, isNew)
	case len(recents) == 0 && c.symmetric:
		return c.alone(olds[0], c.recents, c.olds, isAlone)
	case len(recents) == 0:
		return c.ended(olds[0])
	case olds[0].Doc.Flow() == recents[0].Doc.Flow():
		return nil
	default:
		return c.both(olds[0], recents[0])
	}
}

// both compares the fields of one object.
func (c *comparison) both(was, is clusterobject.Object) []Change {
	w := walker{comparison: c, category: is.Category, kind: is.Kind, namespace: is.Namespace, mayRepeatPorts: c.mayRepeatPorts(was, is)}
	if was.Category == clusterobject.Unknown || is.IsOfSystem() {
		w.category = clusterobject.Unknown
	}
	if isNameless(is) {
		w.walkValues("", was.Fields, is.Fields)
	} else {
		w.walk("", "", was.Fields, is.Fields)
	}
	return w.changes(was, is)
}

// alone says what an object of one side alone opens. A document that nothing is known of counts as a
// whole.
func (c *comparison) alone(o clusterobject.Object, other, own workloads, effect string) []Change {
	if c.symmetric {
		effect = isAlone
	}
	if o.Written() == "" && clusterobject.IsOfPlane(o.Namespace) {
		if by := c.changedBy(o); by != "" {
			effect += ", and " + by + " may change it on its way"
		}
	}
	if o.IsOfSystem() && o.Category != clusterobject.Namespace {
		return []Change{changeOf(o, effect)}
	}
	switch o.Category {
	case clusterobject.Unknown:
		return []Change{changeOf(o, effect)}
	case clusterobject.Service:
		if other.isMissing(o, own) && !c.namesService(o) && !c.namesHost(o) && fieldvalue.Lookup(o.Fields, "spec", "externalIPs") == nil {
			return nil
		}
		return []Change{changeOf(o, effect)}
	case clusterobject.Workload, clusterobject.Namespace, clusterobject.Account:
		// What its owner made as it is was harmless.
		if of, owned := own.ownerOf(o); owned {
			return otherwise(o, c.deviations(of, own.byKey[o.Key]), "says otherwise than the workload that made it")
		}
		if changes := append(c.replaces(o), c.strays(o)...); len(changes) > 0 {
			return changes
		}
		w := walker{comparison: c, category: o.Category, kind: o.Kind, namespace: o.Namespace, places: c.placesOf(o), alone: true}
		w.walk("", "", nil, o.Fields)
		found := w.changes(o, o)
		if o.Kind == "WorkloadEntry" && len(found) == 0 {
			return []Change{changeOf(o, effect+", and its address may be that of any pod")}
		}
		if p, hasPods := own.byKey[o.Key]; hasPods && len(found) == 0 && c.mayLetInAny(c.placesOf(o), fmt.Sprint(normal("serviceAccountName", p.account))) {
			found = append(found, changeOf(o, "calls as somebody whom policies may let in, and the other side does not have the object"))
		} else if hasPods && len(found) == 0 && c.hasRightsInAny(c.placesOf(o), fmt.Sprint(normal("serviceAccountName", p.account))) {
			found = append(found, changeOf(o, "has an account that may change policies or call as somebody else, and the other side does not have the object"))
		} else if hasPods && len(found) == 0 && (c.callsByDerived(p) || c.namesService(o)) {
			found = append(found, changeOf(o, "calls as somebody whom policies may let in, by a label that a cluster makes, and the other side does not have the object"))
		}
		if by := c.changedBy(o); by != "" && len(found) == 0 && !c.symmetric {
			found = append(found, changeOf(o, "is new, and "+by+" may change it on its way"))
		}
		if len(found) == 0 && !c.symmetric && c.fillsWhatCounts(o, own) {
			found = append(found, changeOf(o, "is new, and has a placeholder where it counts, in whose place a tool puts something"))
		}
		return found
	default:
		return []Change{changeOf(o, effect)}
	}
}

// ended says of an object that only the old side has whether its end may open something.
func (c *comparison) ended(o clusterobject.Object) []Change {
	if o.IsOfSystem() && o.Category != clusterobject.Namespace {
		return []Change{changeOf(o, isGone)}
	}
	switch o.Category {
	case clusterobject.Namespace:
		// Where its workloads stay, a tool makes it again, without what it says to a mesh.
		w := walker{comparison: c, category: o.Category, kind: o.Kind}
		w.walk("", "", o.Fields, map[string]any{"metadata": map[string]any{}})
		for _, p := range c.recents.all {
			if p.namespace == o.Name && len(w.found) > 0 {
				return []Change{changeOf(o, isGone)}
			}
		}
		return nil
	case clusterobject.Workload, clusterobject.Account:
		return nil
	case clusterobject.Service:
		if c.recents.isMissing(o, c.olds) {
			return nil
		}
	}
	return []Change{changeOf(o, isGone)}
}
