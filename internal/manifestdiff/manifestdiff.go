// Package manifestdiff compares what stands beside the policies on two sides: workloads, services, meshes,
// control planes, and what tools do with the policies. None of it is read as a policy.
//
// It guarantees that the world is closed: each difference in such a document is named, with its place and
// field, unless a table of this package says that it cannot matter. The tables are data: the kinds in
// package clusterobject, the fields in field.go, the labels and annotations in setting.go and tool.go.
package manifestdiff

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/delivery"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/mention"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Side is what one side has.
type Side struct {
	// Policies are read by a dialect, but for some of their metadata. Others are not read.
	Policies, Others []manifest.Document
	// Dataplanes are read in part.
	Dataplanes []manifest.Document
	// PassedOver are files that are not read because of their names.
	PassedOver []string
	// WithoutFiles are folders without a file, as paths in the folder.
	WithoutFiles []string
	// Files are the contents of the files of tools, by their paths in the folder.
	Files map[string]string
	// Sources are texts that stand for the contents of files of which a tool may make manifests, by their paths in the folder.
	Sources map[string]string
	// Texts are what these files say, by the same paths: "" for what is no text, and the beginning of a long one.
	Texts map[string]string
	// Options have the settings of meshes that an author states, by their keys in a case file, such as istio.rootNamespace.
	Options manifest.Document
	// Absent are the places where a kustomization leads out of the folder, each with what it names there.
	Absent []string
	// Root is the folder of the side, "" where it is none. Placed are the documents that stand in its files, and
	// in no case.
	Root   string
	Placed []manifest.Document
	// Links are the files of Placed that are symbolic links.
	Links []string
	// Uncompared are documents that are read, and that nothing else compares here.
	Uncompared []manifest.Document
	// Cases are the documents of case files, and Services the services that routes lead to.
	Cases, Services []manifest.Document
	// Released are the policies with parts that no release of their mesh has, and no policy of the first side.
	Released []Released
	// Unread has the files that are not read, by their paths in the folder, with a text that stands for
	// their content; "" where nothing does.
	Unread map[string]string
}

// folder is the side as a folder of which tools take manifests.
func (s Side) folder() delivery.Folder {
	return delivery.Folder{Root: s.Root, Placed: s.Placed, Policies: s.Policies, Others: s.Others}
}

// Change is one difference between two sides.
type Change struct {
	// Place is "file:line: field", of the second side where that has the field.
	Place string `json:"place"`
	// Object is the kind, the namespace and the name.
	Object string `json:"object"`
	// Effect says what has become of it, as in "has changed".
	Effect string `json:"effect"`
}

// String returns one line.
func (c Change) String() string { return c.Place + " (" + c.Object + ") " + c.Effect }

// changeOf is a change of a whole object.
func changeOf(o clusterobject.Object, effect string) Change {
	return Change{o.Doc.Place(""), o.String(), effect}
}

// The effects.
const (
	isNew     = "is new"
	isGone    = "is gone"
	isChanged = "has changed"
	isTwice   = "is there twice, and not alike"
	isAlone   = "is on one side alone"
)

// Changes returns what has changed from one side to the other. A workload that is gone lets nobody in, and
// is no change. A workload that is new is one where it opens something that was closed.
func Changes(old, recent Side) []Change { return newComparison(old, recent, false).changes() }

// Differences is [Changes] for two sides of which neither came first: what one side alone has counts
// alike, whichever side that is.
func Differences(a, b Side) []Change { return newComparison(a, b, true).changes() }

// comparison has both sides, with what their documents say of each other.
type comparison struct {
	old, recent Side
	// symmetric is true where neither side came first.
	symmetric bool
	// named are the words of everything that may select or name something else, peers those that policies
	// have of callers, and identities those by which a mesh names callers.
	named, peers, identities mention.Words
	callers                  callers
	// volumes are the names of volumes of sidecars, tokens the Secrets with the token of an account or with the authority of a mesh, and claims those of a folder
	// of a node, by their namespaces and names, and programs what may change labels and annotations, or read them.
	// disks are the volumes that may be a folder of a node, and their classes.
	volumes, disks mention.Words
	// targets are the names of Dataplanes and services that policies of Kuma have.
	targets  []string
	tokens   map[string]bool
	claims   map[string]bool
	programs programs
	// isIstio is true where a document is of Istio, byAddress where a policy has an address: a caller may be chosen by it, and
	// byOrigin where callers are chosen by it in another way too.
	isIstio, byAddress, byOrigin bool
	// tokenless is true where no mesh of the policies asks for the token of an account.
	tokenless bool
	// attached is true where a document says something about single routes of gateways.
	attached bool
	// customized is true where Kustomize changes policies before they are applied.
	customized bool
	// tooled is true where a tool such as Argo CD may read any file of the folder.
	tooled bool
	// oldObjects and recentObjects are the objects of both sides beside the policies, olds and recents their workloads.
	oldObjects, recentObjects       clusterobject.List
	oldPolicies, recentPolicies     clusterobject.List
	oldDataplanes, recentDataplanes clusterobject.List
	olds, recents                   workloads
	gone                            departed
	// customizations are the kustomizations that differ, and pass.
	customizations []Passed
	// allPlaces are the namespaces in which an object without one may be, nil where nobody has asked.
	allPlaces []string
	// told is what the changes name, moved what else is in another folder, and variables are the names of those that matter.
	told      told
	moved     []Passed
	variables map[string]bool
}

func newComparison(old, recent Side, symmetric bool) *comparison {
	c := &comparison{old: old, recent: recent, symmetric: symmetric, named: mention.Words{}, peers: mention.Words{}, identities: mention.Words{}, volumes: mention.Words{}, disks: mention.Words{}, tokens: map[string]bool{}, claims: map[string]bool{}, programs: programs{words: map[string]bool{}, asked: map[string]bool{}}, told: told{}, variables: map[string]bool{}}
	c.oldObjects = old.folder().InPlanes(clusterobject.ReadAll(old.Others))
	c.recentObjects = recent.folder().InPlanes(clusterobject.ReadAll(recent.Others))
	c.oldPolicies, c.recentPolicies = clusterobject.ReadAll(old.Policies), clusterobject.ReadAll(recent.Policies)
	c.oldDataplanes, c.recentDataplanes = clusterobject.ReadAll(old.Dataplanes), clusterobject.ReadAll(recent.Dataplanes)
	for _, o := range c.policies() {
		c.named.AddSelectors(o.WithoutCommonMetadata())
		c.peers.AddPeers(o.Fields)
		c.peers.AddOwn(o)
		c.addTargets(o.Fields)
		fieldvalue.EachText(o.Fields, func(text string) { c.byAddress = c.byAddress || isAddress(text) })
		c.byOrigin = c.byOrigin || choosesByOrigin(o)
		c.isIstio = c.isIstio || o.IsOfIstio()
	}
	for _, o := range slices.Concat(c.oldObjects.All, c.recentObjects.All) {
		c.customized = c.customized || o.IsOfKustomize()
		c.tooled = c.tooled || o.IsOfTool()
		c.isIstio = c.isIstio || o.IsOfIstio()
		c.addVolumes(o)
		switch o.Category {
		case clusterobject.Unknown:
			c.attached = c.attached || attachesToRoutes(o)
			c.named.AddSelectors(o.WithoutCommonMetadata())
			c.programs.add(o)
			if o.IsIdentity() {
				for _, name := range o.Secrets() {
					c.tokens[o.Namespace+"/"+name] = true
				}
			}
			if o.Kind == "MeshIdentity" {
				c.identities.AddSelectors(o.Fields)
			}
		case clusterobject.Service:
			c.named.AddValue(fieldvalue.Lookup(o.Fields, "spec", "selector"))
			for _, port := range fieldvalue.Mappings(fieldvalue.Lookup(o.Fields, "spec", "ports")) {
				c.named.AddValue(port["targetPort"])
			}
		case clusterobject.Workload, clusterobject.Namespace:
			c.named.AddMeshAnnotations(o)
			c.named.AddSidecars(o)
		}
	}
	for _, side := range []clusterobject.List{c.oldObjects, c.recentObjects} {
		maps.Copy(c.disks, disksOfNodes(side))
	}
	for _, claim := range slices.Concat(claimsOf(c.oldObjects, c.disks), claimsOf(c.recentObjects, c.disks)) {
		c.claims[claim] = true
	}
	for _, files := range []map[string]string{old.Files, recent.Files} {
		for name := range files {
			c.customized = c.customized || strings.EqualFold(filepath.Base(name), "kustomization")
		}
	}
	c.tokenless = c.isTokenless()
	addDerived(c.named)
	c.olds, c.recents = workloadsOf(c.oldObjects.All), workloadsOf(c.recentObjects.All)
	c.gone, c.callers = c.departed(), callersOf(c.peers)
	for _, o := range slices.Concat(c.oldObjects.All, c.recentObjects.All) {
		c.addVariables(o)
		if name, _ := fieldvalue.Lookup(o.Fields, "spec", "ca", "secretName").(string); o.Group == "cert-manager.io" && (o.Category != clusterobject.Config || c.isUsed(o)) {
			c.tokens[o.Namespace+"/"+name] = true // the key of an authority makes certificates of any name
		}
	}
	return c
}

// policies returns those of both sides, with those for gateways, which nothing else compares.
func (c *comparison) policies() []clusterobject.Object {
	return slices.Concat(c.oldPolicies.All, c.recentPolicies.All, attachedPolicies(c.oldObjects.All), attachedPolicies(c.recentObjects.All))
}

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
	w.walk("", "", was.Fields, is.Fields)
	return w.changes(was, is)
}

// alone says what an object of one side alone opens. A document that nothing is known of counts as a
// whole.
func (c *comparison) alone(o clusterobject.Object, other, own workloads, effect string) []Change {
	if c.symmetric {
		effect = isAlone
	}
	if by, moves := c.changedBy(o); moves && o.Written() == "" && clusterobject.IsOfPlane(o.Namespace) {
		effect += ", and " + by.String() + " may change it on its way"
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
		if by, changes := c.changedBy(o); changes && len(found) == 0 && !c.symmetric {
			found = append(found, changeOf(o, "is new, and "+by.String()+" may change it on its way"))
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
